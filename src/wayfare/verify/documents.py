"""Experiment 1: several large documents read until the context is over its limit."""

from __future__ import annotations

import math
import re
from typing import Final

from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.context.budget import Budget
from wayfare.messages import ToolResult
from wayfare.tokens import TokenMeter
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import addresses_in, read_address, results_in
from wayfare.verify.recorder import Exchange, Returned
from wayfare.verify.trial import Trial, broken, last_words, stopped

KEY: Final = "documents"
TITLE: Final = "several large documents read until over the limit"

STUBS: Final = "old results are stubs"
BYTES: Final = "each address gives the original bytes"
SEEN: Final = "each result was seen whole before it became a stub"
NO_SUMMARY: Final = "over the limit and cured by stubs: no summary"
SMALL: Final = "five small files cause no stub"
LEFT: Final = "in the preset in use, whatever left can be had back"
NAMES: Final = (STUBS, BYTES, SEEN, NO_SUMMARY, SMALL, LEFT)

_DOCUMENT_SHARE: Final = 0.09
"""Of the window, as much a document takes: less than what is offloaded at once, and so much that
the newest results, which never become stubs, leave room under the limit."""
_ROOMY_TOKENS: Final = 8_000
"""In a smaller window one of the newest results stays, not three: three would be all of it."""
_CHARS_A_TOKEN: Final = 4.0
_SMALL_TOKENS: Final = 150
_OVER: Final = 1.35
"""So many limits' worth of documents are read."""
_RESULT_CHARS: Final = 1_000_000
_STUB_CHARS: Final = 400
_FILE: Final = re.compile(r"documents/\d+\.txt")
_READ: Final = "Read these files with read_file, one after the other, each in a call of its own"
_SMALL: Final = tuple(f"small/{word}.txt" for word in ("one", "two", "three", "four", "five"))


async def act(trial: Trial) -> None:
    """Read large documents in one session, five small files in another, and the documents again
    in the preset that is set."""
    stubs_first = _stubs_first(trial)
    tokens = _document_tokens(stubs_first)
    most = max(_count(stubs_first, tokens), _count(trial.budget, tokens))
    names = [
        trial.document(f"documents/{n:02}.txt", tokens=tokens, about=f"document {n:02}")
        for n in range(1, most + 1)
    ]
    small = [trial.document(name, tokens=_SMALL_TOKENS, about=name) for name in _SMALL]
    await _read(trial, names[: _count(stubs_first, tokens)], stubs_first)
    await _read(trial, small, trial.budget)
    if trial.outputs("read_file", session=1):
        # A model that read nothing will read nothing again.
        await _read(trial, names[: _count(trial.budget, tokens)], trial.budget)


async def _read(trial: Trial, names: list[str], budget: Budget) -> None:
    task = f"{_READ}: {', '.join(names)}. When all are read, say so."
    tools = [read_file_tool(_RESULT_CHARS)]
    most = 2 * len(names) + 4
    await trial.session(task, tools=tools, memory=False, most_steps=most, budget=budget)


def _stubs_first(trial: Trial) -> Budget:
    """The preset that cures with stubs whatever stubs can cure; the other may cut deeper at once."""
    if trial.budget.window_tokens >= _ROOMY_TOKENS:
        return trial.budget_of("classic")
    return trial.budget_of("classic", keep_results=1)


def _document_tokens(budget: Budget) -> int:
    chars = budget.limit_chars or _RESULT_CHARS
    return int(min(budget.window_tokens, chars / _CHARS_A_TOKEN) * _DOCUMENT_SHARE)


def _limit_tokens(budget: Budget) -> int:
    chars = budget.limit_chars or _RESULT_CHARS
    return int(min(budget.limit_tokens, chars / _CHARS_A_TOKEN))


def _count(budget: Budget, tokens: int) -> int:
    return math.ceil(_limit_tokens(budget) * _OVER / tokens)


def judge(trial: Trial) -> list[Check]:
    """Look at the last request of each session, and at what its stubs lead to."""
    large = trial.outputs("read_file", session=1)
    small = trial.outputs("read_file", session=2)
    found: list[Check] = []
    meter = TokenMeter()
    read_tokens = sum(meter.text(one.text) for one in large)
    limit_tokens = _limit_tokens(_stubs_first(trial))
    over = read_tokens > limit_tokens
    wanted = {name for t in trial.turns if t.session == 1 for name in _FILE.findall(t.asked)}
    told = f"{len(large)} reads, about {read_tokens:,} tokens; the limit is "
    told += f"{limit_tokens:,}"
    found.append(_did(trial, over, {r.input.get("path") for r in large} >= wanted, told))
    steps = trial.exchanges("step", session=1)
    if over and steps:
        found += _stubs(trial, steps, large)
    else:
        said = "not enough was read to pass the limit"
        found += [checks.skipped(name, said) for name in (STUBS, BYTES, SEEN, NO_SUMMARY)]
    found += [_small(trial, small), _left(trial)]
    return found


def _did(trial: Trial, over: bool, all_read: bool, told: str) -> Check:
    turn = stopped([turn for turn in trial.turns if turn.session == 1])
    if over and all_read and turn is None:
        return checks.passed(checks.MODEL_DONE, "it read every document", told)
    said = "it did not read every document"
    if (failed := broken(trial)) is not None:
        return failed
    if turn is not None:
        said = f"session {turn.session} ended as {turn.how!r}"
        told = f"{told}; {turn.text[:200]}"
    return checks.model(checks.MODEL_DONE, said, told, *last_words(trial))


def _stubs(trial: Trial, steps: list[Exchange], large: list[Returned]) -> list[Check]:
    originals = {one.call_id: one.text for one in large}
    stubs: dict[str, tuple[Exchange, ToolResult]] = {}
    for exchange in steps:
        for call_id, result in results_in(exchange.request).items():
            if call_id in originals and result.text != originals[call_id]:
                stubs[call_id] = (exchange, result)
    return [
        _are_stubs(stubs),
        _addresses(trial, stubs, originals),
        _seen(steps, originals),
        _no_summary(trial, steps, originals),
    ]


def _are_stubs(stubs: dict[str, tuple[Exchange, ToolResult]]) -> Check:
    if not stubs:
        return checks.runtime(STUBS, "no request shows a result as a stub")
    long = [f"{e.label}: {len(r.text):,} characters" for e, r in stubs.values()]
    wrong = [told for told, (_, r) in zip(long, stubs.values(), strict=True) if _is_long(r)]
    if wrong:
        return checks.runtime(STUBS, "some results were changed and are no stubs", *wrong)
    exchange, result = next(iter(stubs.values()))
    said = f"{len(stubs)} results stand as one line each"
    return checks.passed(STUBS, said, f"{exchange.label}: {result.text}")


def _is_long(result: ToolResult) -> bool:
    return len(result.text) > _STUB_CHARS


def _addresses(
    trial: Trial, stubs: dict[str, tuple[Exchange, ToolResult]], originals: dict[str, str]
) -> Check:
    if not stubs:
        return checks.skipped(BYTES, "there is no stub")
    right: list[str] = []
    for call_id, (exchange, result) in stubs.items():
        wanted = originals[call_id].encode()
        addresses = addresses_in(result.text, trial.workspace)
        led = next(
            (a for a in addresses if wanted in read_address(trial.workspace, a).contents), ""
        )
        if not led:
            told = f"{exchange.label}: {', '.join(addresses) or 'no address'}: "
            told += f"not the {len(wanted):,} bytes that read_file returned"
            return checks.runtime(BYTES, "a stub does not lead back to its result", told)
        right.append(f"{led}: {len(wanted):,} bytes, as read_file returned them")
    return checks.passed(BYTES, f"{len(right)} addresses, every byte the same", *right[:3])


def _seen(steps: list[Exchange], originals: dict[str, str]) -> Check:
    whole = {
        call_id
        for exchange in steps
        for call_id, result in results_in(exchange.request).items()
        if originals.get(call_id) == result.text
    }
    unseen = [call_id for call_id in originals if call_id not in whole]
    # The last result of a turn that was cut off may never have been sent.
    unseen = [c for c in unseen if any(c in results_in(e.request) for e in steps)]
    if unseen:
        return checks.runtime(SEEN, "the model never saw these results whole", *unseen)
    return checks.passed(SEEN, f"{len(whole)} results stood whole in the request after them")


def _no_summary(trial: Trial, steps: list[Exchange], originals: dict[str, str]) -> Check:
    asked = trial.exchanges("summary", session=1)
    if asked:
        return checks.runtime(NO_SUMMARY, "a summary was asked for", *(e.label for e in asked))
    last = steps[-1].request
    shown = results_in(last)
    gone = [call_id for call_id in originals if call_id not in shown]
    # Of the last step the result may not have been sent any more.
    gone = [c for c in gone if any(c in results_in(e.request) for e in steps)]
    if gone:
        said = f"{len(gone)} calls left the context, which stubs alone should have cured"
        return checks.runtime(NO_SUMMARY, said, steps[-1].label)
    said = f"{len(steps)} requests, none of them a summary, every call still in the last one"
    return checks.passed(NO_SUMMARY, said, steps[-1].label)


def _small(trial: Trial, small: list[Returned]) -> Check:
    steps = trial.exchanges("step", session=2)
    files = {str(one.input.get("path")) for one in small}
    if len(files) < len(_SMALL) or not steps:
        return checks.skipped(SMALL, f"the model read {len(files)} of five small files")
    shown = results_in(steps[-1].request)
    changed = [r.call_id for r in small if r.call_id in shown and shown[r.call_id].text != r.text]
    gone = [r.call_id for r in small if r.call_id not in shown and r is not small[-1]]
    if changed or gone:
        said = f"{len(changed)} of them were shortened, {len(gone)} left the context"
        return checks.runtime(SMALL, said, steps[-1].label, *changed[:3])
    return checks.passed(SMALL, "all five stand whole in the last request", steps[-1].label)


def _left(trial: Trial) -> Check:
    """Every result of the third session that its last request shows no more, looked up by the
    addresses that request names."""
    read = trial.outputs("read_file", session=3)
    steps = trial.exchanges("step", session=3)
    if not steps or not read:
        return checks.skipped(LEFT, "nothing was read")
    last = steps[-1]
    text = "\n".join(
        [m.text for m in last.request.messages]
        + [r.text for r in results_in(last.request).values()]
    )
    sent = {c for e in steps for c in results_in(e.request)}
    gone = [r for r in read if r.text not in text and r.call_id in sent]
    if not gone:
        return checks.skipped(LEFT, "everything still stands in the context", last.label)
    addresses = addresses_in(text, trial.workspace)
    contents = [c for a in addresses for c in read_address(trial.workspace, a).contents]
    lost = [r for r in gone if r.text.encode() not in contents]
    if lost:
        said = f"of {len(gone)} results that left, {len(lost)} cannot be had back"
        return checks.runtime(LEFT, said, f"{last.label}: {', '.join(addresses[:4])}")
    said = f"{len(gone)} results left, all found at an address, every byte the same"
    return checks.passed(LEFT, said, f"{last.label}: {', '.join(addresses[:4])}")
