"""Experiment 3: a compaction asked for at the end of a stage, then going on."""

from __future__ import annotations

import re
from typing import Final

from wayfare.agent.builtin.compact import compact
from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.agent.builtin.write_file import write_file
from wayfare.messages import Message
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import (
    addresses_in,
    log_lines,
    read_address,
    record_files,
    results_in,
    unpaired,
)
from wayfare.verify.recorder import Exchange, Returned
from wayfare.verify.trial import Trial, broken, last_words

KEY: Final = "stage"
TITLE: Final = "a compaction at the end of a stage, then going on"

PAIRED: Final = "every call has its result"
GOAL: Final = "the summary carries the current goal"
HISTORY: Final = "the original history stands at its address"
NO_MEMORY: Final = "a transcript is not a memory"
WENT_ON: Final = "the work went on after the compaction"
NAMES: Final = (PAIRED, GOAL, HISTORY, NO_MEMORY, WENT_ON)

_RESULT: Final = "result.txt"
LINE: Final = "order 4711 is packed"
_GOAL: Final = f"that holds exactly this line: {LINE}"
_TASK: Final = (
    "Stage one. Read these files with read_file, one after the other, each in a call of its own: "
    "stage/alpha.txt, stage/beta.txt. When both are read, stage one is over: call compact. "
    f"Stage two. Create a file called {_RESULT} with write_file {_GOAL}."
)
_DOCUMENT_SHARE: Final = 0.18


async def act(trial: Trial) -> None:
    """Two stages, with a compaction between them."""
    tokens = int(trial.budget.window_tokens * _DOCUMENT_SHARE)
    for name in ("alpha", "beta"):
        trial.document(f"stage/{name}.txt", tokens=tokens, about=f"part {name}")
    tools = [read_file_tool(1_000_000), write_file, compact]
    await trial.session(_TASK, tools=tools, memory=True, most_steps=12)


def judge(trial: Trial) -> list[Check]:
    """Look at the first request after the compaction, and at what it leads to."""
    steps = trial.exchanges("step")
    reads = trial.outputs("read_file")
    at = _compacted_at(trial, steps)
    return [
        _did(trial, reads),
        _paired(steps),
        *_after(trial, steps, reads, at),
        _no_memory(trial),
        _went_on(trial, steps, at),
    ]


def _did(trial: Trial, reads: list[Returned]) -> Check:
    if (failed := broken(trial)) is not None:
        return failed
    told = f"read_file: {len(reads)}, compact: {len(trial.outputs('compact'))}"
    if len({str(r.input.get("path")) for r in reads}) < 2:
        return checks.model(
            checks.MODEL_DONE, "it did not read both files", told, *last_words(trial)
        )
    if not trial.outputs("compact"):
        return checks.model(
            checks.MODEL_DONE, "it did not ask for a compaction", told, *last_words(trial)
        )
    return checks.passed(checks.MODEL_DONE, "it read both files and called compact", told)


def _paired(steps: list[Exchange]) -> Check:
    wrong = [f"{e.label}: {told}" for e in steps for told in unpaired(e.request)]
    if wrong:
        return checks.runtime(PAIRED, "calls and results do not match", *wrong[:4])
    if not steps:
        return checks.skipped(PAIRED, "nothing was sent")
    calls = sum(len(m.calls) for m in steps[-1].request.messages)
    said = f"in all {len(steps)} requests, each result directly after its call"
    return checks.passed(PAIRED, said, f"{steps[-1].label}: {calls} calls")


def _compacted_at(trial: Trial, steps: list[Exchange]) -> int | None:
    """The first request that lost a result an earlier one held; None when none did."""
    held: set[str] = set()
    for at, exchange in enumerate(steps):
        shown = set(results_in(exchange.request))
        if held - shown:
            return at
        held |= shown
    return None


def _after(
    trial: Trial, steps: list[Exchange], reads: list[Returned], at: int | None
) -> list[Check]:
    if at is None:
        return _not_compacted(trial)
    exchange = steps[at]
    summary = _summary_in(exchange, steps[at - 1])
    if summary is None:
        said = "results left the context and nothing stands in their place"
        return [checks.runtime(name, said, exchange.label) for name in (GOAL, HISTORY)]
    return [_goal(exchange, summary), _history(trial, exchange, summary, reads)]


def _not_compacted(trial: Trial) -> list[Check]:
    if not trial.outputs("compact"):
        said = "no compaction was asked for"
        return [checks.skipped(name, said) for name in (GOAL, HISTORY)]
    asked = trial.exchanges("summary")
    later = trial.exchanges("step")[-1].request
    answered = any(r.call_id in results_in(later) for r in trial.outputs("compact"))
    if asked and ("## " not in asked[-1].said or LINE not in asked[-1].said):
        said = "its summary lacks the sections asked for or the task, and was rightly not used"
        told = f"{asked[-1].label}: {asked[-1].said[:100]!r}{asked[-1].error[:100]}"
        return [
            checks.model(GOAL, said, told),
            checks.skipped(HISTORY, "there was no compaction"),
        ]
    if not answered:
        said = "the session ended before a request could follow the compaction"
        return [checks.skipped(name, said) for name in (GOAL, HISTORY)]
    said = "compact was called, and no request is any smaller for it"
    return [
        checks.runtime(GOAL, said, *(e.label for e in asked)),
        checks.skipped(HISTORY, "there was no compaction"),
    ]


def _summary_in(exchange: Exchange, before: Exchange) -> Message | None:
    """The message that is new and comes from no turn: what stands for the history."""
    old = {message.text for message in before.request.messages}
    return next(
        (
            message
            for message in exchange.request.messages
            if message.role == "user"
            and not message.results
            and message.text not in old
            and ".transcripts/" in message.text
        ),
        None,
    )


def _goal(exchange: Exchange, summary: Message) -> Check:
    flat = " ".join(summary.text.split())
    told = f"{exchange.label}: a summary of {len(summary.text):,} characters"
    if LINE not in flat:
        return checks.runtime(GOAL, f"the summary does not say {LINE!r}", told)
    return checks.passed(GOAL, f"it says word for word what is to be done: {LINE!r}", told)


def _history(trial: Trial, exchange: Exchange, summary: Message, reads: list[Returned]) -> Check:
    runs = [a for a in addresses_in(summary.text, trial.workspace) if re.search(r"#\d+-\d+$", a)]
    history = [c for a in runs for c in read_address(trial.workspace, a).contents]
    shown = [result.text for result in results_in(exchange.request).values()]
    # A result that stayed may stand there as a stub, with an address of its own.
    stubs = addresses_in("\n".join(text for text in shown if len(text) < 1_000), trial.workspace)
    contents = [*history, *(c for a in stubs for c in read_address(trial.workspace, a).contents)]
    wanted = [one.text.encode() for one in reads if one.text not in shown]
    if _TASK.encode() in history and all(one in contents for one in wanted):
        sizes = ", ".join(f"{len(one):,}" for one in wanted)
        told = f"{', '.join(runs + stubs)}: the task and results of {sizes} bytes"
        return checks.passed(HISTORY, "byte for byte as it was", told)
    said = "no address in the summary leads to the original history"
    return checks.runtime(HISTORY, said, *(runs or [f"{exchange.label}: no address"]))


def _no_memory(trial: Trial) -> Check:
    name = trial.sessions[0] if trial.sessions else ""
    log = trial.workspace / ".transcripts" / name / "transcript.jsonl"
    entries = sum(1 for _ in log_lines(log))
    records = record_files(trial.workspace)
    told = f"transcript of {entries} entries, {len(records)} records in .memory"
    if not entries:
        return checks.skipped(NO_MEMORY, "there is no transcript", told)
    if not records:
        return checks.passed(NO_MEMORY, "the session is on disk and nothing of it in memory", told)
    names = [path.name for path in records]
    replies = [e.said for e in trial.exchanges("extraction")]
    text = "\n".join(path.read_text("utf-8", "replace") for path in records)
    offered = any(path.stem.casefold() in reply.casefold() for path in records for reply in replies)
    calls = [c.name for e in trial.exchanges("step") if e.reply for c in e.reply.calls]
    if (offered or "memory_write" in calls) and "stage/alpha.txt" not in text:
        said = "the model offered a lasting record of a task that holds none"
        return checks.model(NO_MEMORY, said, told, *names)
    return checks.runtime(NO_MEMORY, "the work of one session became a memory", told, *names)


def _went_on(trial: Trial, steps: list[Exchange], at: int | None) -> Check:
    path = trial.workspace / _RESULT
    if at is None:
        return checks.skipped(WENT_ON, "there was no compaction")
    written = [r for r in trial.returned if r.tool == "write_file" and not r.is_error]
    if not path.is_file():
        if written:
            said = f"write_file said it wrote, and there is no {_RESULT}"
            return checks.runtime(WENT_ON, said, written[0].text[:120])
        said = f"it did not create {_RESULT}"
        if LINE not in "\n".join(m.text for m in steps[at].request.messages):
            said += f": {steps[at].label} did not hold the task any more"
            return checks.runtime(WENT_ON, said)
        return checks.model(WENT_ON, said)
    text = path.read_text("utf-8", "replace")
    if text.strip() == LINE:
        return checks.passed(WENT_ON, "it holds what the task asked for", f"{_RESULT}: {text!r}")
    asked = next((str(r.input.get("content", "")) for r in written), "")
    if asked.strip() != text.strip():
        return checks.runtime(WENT_ON, "the file is not what the model wrote", f"{text[:120]!r}")
    return checks.model(WENT_ON, "the file holds something else", f"{_RESULT}: {text[:120]!r}")
