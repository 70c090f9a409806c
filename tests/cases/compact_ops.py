"""Cases of operations `compact`, `compact_exit_resume` and `session_note`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cases import requests as rq
from tests.cases.expand import expand
from tests.cases.observe import observed
from tests.cases.outcome import Outcome
from tests.cases.run_ops import line
from tests.cases.sessions import budget_of, format_of, see

from wayfare.clock import MovableClock
from wayfare.context.breaker import FAILED
from wayfare.context.compacted import compacted, prose_of
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer
from wayfare.events import Event
from wayfare.formats import codec
from wayfare.messages import Message, user
from wayfare.model import Request
from wayfare.notes.keeper import Keeper
from wayfare.providers.script import Line, Scripted
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import Places, open_session
from wayfare.session.compacting import notes_address, notes_docs
from wayfare.transcript import Collapse, Edit, MarkEntry


async def compact(case: dict[str, Any], root: Path) -> Outcome:
    """Force the summary so often, then look at the next request."""
    setup, given = case["setup"], case["input"]
    outcome = Outcome(root=root, input_messages=given["messages"])
    model = _model(setup)
    own = codec(format_of(setup))
    governor = await _opened(setup, outcome, "")
    if setup.get("previous_summary"):
        await _summarized_before(governor, setup["previous_summary"])
    await governor.add([own.decode(message) for message in outcome.input_messages])
    summarizer = Summarizer(model=model, clock=MovableClock(), watch=_watch(outcome))
    for time in range(setup.get("times", 1)):
        if time:
            between = setup.get("between", [])
            # A shorthand that stands alone is a list of what it makes.
            between = expand([between]) if isinstance(between, dict) else between
            await governor.add([own.decode(message) for message in between])
        await summarizer(governor, trigger="manual")
    prepared = await governor.prepare()
    await _look(governor, list(prepared.messages), model, outcome, setup)
    await governor.transcript.close()
    return outcome


async def compact_exit_resume(case: dict[str, Any], root: Path) -> Outcome:
    """Compact, leave without a word, open the session again and look at its request."""
    setup, given = case["setup"], case["input"]
    outcome = Outcome(root=root, input_messages=given["messages"])
    model = _model(setup)
    own = codec(format_of(setup))
    governor = await _opened(setup, outcome, "")
    await governor.add([own.decode(message) for message in outcome.input_messages])
    await Summarizer(model=model, clock=MovableClock(), watch=_watch(outcome))(governor)
    await governor.prepare()
    name = governor.transcript.path.split("/")[-2]
    await governor.transcript.close()
    again = await _opened(setup, outcome, name)
    added = given.get("append")
    if added is not None:
        await again.add([own.decode(added)])
    prepared = await again.prepare()
    await _look(again, list(prepared.messages), model, outcome, setup)
    await again.transcript.close()
    return outcome


async def session_note(case: dict[str, Any], root: Path) -> Outcome:
    """Update the session's notes once per scripted reply."""
    setup, given = case["setup"], case["input"]
    outcome = Outcome(root=root, input_messages=given["messages"])
    model = _model(setup)
    own = codec(format_of(setup))
    governor = await _opened(setup, outcome, "")
    await governor.add([own.decode(message) for message in outcome.input_messages])
    places = Places(workspace=root)
    name = governor.transcript.path.split("/")[-2]
    keeper = Keeper(
        governor=governor,
        docs=notes_docs(places, name, clock=MovableClock()),
        address=notes_address(places, name),
        model=model,
        watch=_watch(outcome),
    )
    for _ in setup["model"]:
        await keeper.update()
    await keeper.aclose()
    await _look(governor, governor.view.messages(), model, outcome, setup)
    await governor.transcript.close()
    return outcome


def _watch(outcome: Outcome) -> Callable[[Event], None]:
    return lambda event: outcome.events.append(f"{event.name}: {event.text}")


async def _opened(setup: dict[str, Any], outcome: Outcome, session: str) -> Governor:
    begun = await open_session(
        Places(workspace=outcome.root),
        session,
        budget=budget_of(setup),
        clock=MovableClock(),
        format=format_of(setup),
        watch=_watch(outcome),
    )
    return begun.governor


async def _summarized_before(governor: Governor, prose: str) -> None:
    """A session whose earlier part is a summary already."""
    (entered,) = await governor.add([user("The work so far.")])
    message = compacted(
        prose=prose,
        request="The work so far.",
        last_entry=entered.id,
        addresses=governor.addresses,
    )
    edit = Edit(by="summary", reason="earlier", ops=(Collapse(entered.id, entered.id, message),))
    await governor.edit(lambda view: [edit])


async def _look(
    governor: Governor,
    messages: list[Message],
    model: ScriptedModel,
    outcome: Outcome,
    setup: dict[str, Any],
) -> None:
    await see(governor, messages, outcome, setup)
    outcome.calls["summary"] = len(model.requests)
    own = codec(outcome.format)
    outcome.summary_requests = [
        [{"role": "system", "content": r.system}, *own.encode(r.messages)] for r in model.requests
    ]
    outcome.summary = "\n".join(prose_of(slot.message) for slot in governor.view if slot.made)
    marks = [e async for e in governor.transcript.entries() if isinstance(e, MarkEntry)]
    outcome.extra["failures"] = [m.detail for m in marks if m.name == FAILED]
    outcome.extra["collapsed"] = [
        op.message
        async for entry in governor.transcript.entries()
        for op in getattr(entry, "ops", ())
        if isinstance(op, Collapse) and op.message is not None
    ]
    outcome.extra["asked"] = [r.system for r in model.requests]


def _model(setup: dict[str, Any]) -> ScriptedModel:
    """The scripted summary model of a case, its conditional replies included."""
    budget = budget_of(setup)
    rejects = [given for given in setup.get("model", []) if "reject_if" in given]
    lines = [given for given in setup.get("model", []) if "reject_if" not in given]

    def answer(at: int) -> Callable[[Request], Line]:
        given = lines[min(at, len(lines) - 1)]

        def answered(request: Request) -> Line:
            for rejection in rejects:
                if _rejected(rejection["reject_if"], request):
                    return line(rejection, at, budget)
            if given.get("echo_request"):
                return Scripted(text="\n".join(m.text for m in request.messages))
            return line(given, at, budget)

        return answered

    count = len(lines)
    always = answer(count - 1) if rejects or any(g.get("repeat") for g in lines) else None
    return ScriptedModel(
        [answer(at) for at in range(count)],
        always=always,
        window_tokens=budget.window_tokens,
        max_output_tokens=setup.get("limits", {}).get("output", 16_384),
    )


def _rejected(rule: str, request: Request) -> bool:
    if rule == "pairs_broken":
        asked = [call.id for m in request.messages for call in m.calls]
        given = [result.call_id for m in request.messages for result in m.results]
        return asked != given
    name, number = rule.split()
    assert name == "request_chars_over", rule
    return sum(len(m.text) for m in request.messages) + len(request.system) > int(number)


@observed("sum-03-empty-summary", "the history is as before, or every message that le")
def all_of_it_can_be_read(outcome: Outcome) -> str:
    from tests.cases.checks import recoverable

    texts = [text for message in outcome.input_messages for text in rq.texts(message["content"])]
    return recoverable({"texts": texts}, outcome)


@observed("sum-03-empty-summary", "the failed summary counts towards the circuit breaker")
def failure_counts(outcome: Outcome) -> str:
    found = [detail["in_a_row"] for detail in outcome.extra["failures"]]
    return "" if found and found[-1] == len(found) else f"failures in a row: {found}"


@observed("sum-03-empty-summary", "no message or file holds a summary without text")
def no_summary_without_text(outcome: Outcome) -> str:
    empty = [m for m in outcome.extra["collapsed"] if not prose_of(m).strip()]
    return f"{len(empty)} summaries say nothing" if empty else ""


@observed(
    "sum-07-instructions-inside-the-summary", "the summary is enclosed in the runtime's own m"
)
def summary_is_marked(outcome: Outcome) -> str:
    shown = rq.text(outcome.request or [])
    if "Restructure section X NOW" not in shown:
        return ""
    before = shown.partition("Restructure section X NOW")[0]
    return "" if "(reference only):" in before else "the summary stands without a mark"


@observed("sum-07-instructions-inside-the-summary", "the summary text is not in the system prompt")
def summary_is_no_system_prompt(outcome: Outcome) -> str:
    held = [m for m in outcome.request or [] if m["role"] in ("system", "developer")]
    return "in a system message" if held or "Pending User Asks" in outcome.system else ""


@observed("sum-07-instructions-inside-the-summary", "the summary comes before the last user messag")
def summary_comes_first(outcome: Outcome) -> str:
    request = outcome.request or []
    marked = [at for at, m in enumerate(request) if "[Compacted]" in rq.text(m)]
    return "" if not marked or max(marked) < len(request) - 1 else "the summary stands last"


@observed(
    "sum-08-compaction-request-is-not-the-users-last-wish",
    "the wording of the summary request is nowhere",
)
def no_wording_of_ours(outcome: Outcome) -> str:
    shown = rq.text(outcome.request or [])
    wording = ("hand-over of a long working session", "Now write the summary", "<earlier_summary>")
    found = [words for words in wording if words in shown]
    asked = all(
        "hand-over of a long working session" in system for system in outcome.extra["asked"]
    )
    return f"the request holds {found}" if found else "" if asked else "nobody was asked"
