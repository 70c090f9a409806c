"""Running a batch of tool calls: exactly one result for every call, whatever happens.

Reading calls in a row run side by side, writing ones one after the other, in the model's order.
An unknown tool, an invalid input, a denied call, a tool that raises or takes too long: each is a
result that says so. When the turn is cancelled, calls that have no result yet get one that says
they were interrupted.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio

from wayfare.agent.consent import tool_use
from wayfare.agent.hooks import HookOutcome
from wayfare.agent.kit import Kit
from wayfare.agent.tools import InvalidInput, Tool, ToolOutput, failure, for_call
from wayfare.context.stubs import SILENT
from wayfare.context.tool_use import tool_use as about
from wayfare.messages import Message, Origin, Text, ToolCall, ToolResult, results

INTERRUPTED: Final = (
    "[interrupted] The turn was stopped before this call had a result: it may or may not have run. "
    "Check before running it again."
)
CUT_CALL: Final = (
    "not run: the reply was cut by the output limit before this call was complete. Call it again "
    "with a shorter input, or in several parts."
)
_BRIEF_CHARS: Final = 120


@dataclass(slots=True, kw_only=True)
class Batch:
    """The calls of one reply and what came of them.

    `notes` are words for the model beside the results; `ended` is set when a hook ends the turn.
    """

    calls: tuple[ToolCall, ...]
    cut: bool = False
    """The reply was cut by the output limit, so its last call may be half a call."""
    outputs: list[ToolOutput | None] = field(default_factory=list[ToolOutput | None])
    notes: list[str] = field(default_factory=list[str])
    ended: str = ""

    def __post_init__(self) -> None:
        self.outputs = [None] * len(self.calls)
        if self.cut and self.calls:
            self.outputs[-1] = failure(CUT_CALL)

    def results(self) -> tuple[ToolResult, ...]:
        """One result for every call, in call order."""
        return tuple(
            to_result(call, output or failure(INTERRUPTED))
            for call, output in zip(self.calls, self.outputs, strict=True)
        )

    def messages(self) -> tuple[Message, ...]:
        """The results as one message, and the notes as another."""
        answered = results(*self.results())
        if not self.notes:
            return (answered,)
        noted = Message(
            role="user", blocks=(Text(text="\n\n".join(self.notes)),), origin=Origin.SYSTEM
        )
        return (answered, noted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A call that may run: its number in the batch, its tool, its checked input, and where the
    paths it names led when it was allowed."""

    at: int
    call: ToolCall
    tool: Tool
    given: Mapping[str, Any]
    leads: Mapping[str, str]


async def run_batch(kit: Kit, batch: Batch) -> None:
    """Fill in the outputs of a batch. Cancelled, it leaves those open that have none."""
    for group in _groups(kit, batch):
        ready: list[_Ready] = []
        for at in group:
            admitted = await _admit(kit, batch, at)
            if isinstance(admitted, ToolOutput):
                batch.outputs[at] = admitted
                _told(kit, batch.calls[at], admitted, 0.0)
            else:
                ready.append(admitted)
        await _run_side_by_side(kit, batch, ready)
        if batch.ended:
            _skip_rest(batch)
            return


def _groups(kit: Kit, batch: Batch) -> Iterator[Sequence[int]]:
    """Numbers of calls: reading ones in a row together, any other alone."""
    together: list[int] = []
    for at, call in enumerate(batch.calls):
        if batch.outputs[at] is not None:
            continue
        tool = kit.tools.get(call.name)
        if tool is not None and tool.read_only:
            together.append(at)
            continue
        if together:
            yield together
            together = []
        yield [at]
    if together:
        yield together


def _skip_rest(batch: Batch) -> None:
    for at, output in enumerate(batch.outputs):
        if output is None:
            batch.outputs[at] = failure(f"not run: {batch.ended}")


async def _admit(kit: Kit, batch: Batch, at: int) -> _Ready | ToolOutput:
    """Check a call, ask permissions, hooks and, if need be, a person."""
    call = batch.calls[at]
    tool = kit.tools.get(call.name)
    if tool is None:
        return failure(_unknown(call.name, kit.tools))
    if call.arguments and not call.input and call.arguments.strip() not in ("{}", "null"):
        return failure(f"invalid input for {call.name}: the arguments are not one JSON object")
    try:
        given = tool.parse(call.input)
        use = tool_use(tool, given)
        leads = kit.consent.leads(use)
        verdict = kit.consent.weigh(use)
        if verdict.decision == "deny":
            return _denied(call, verdict.reason)
        said = await kit.hooks.run("PreToolUse", _payload(kit, call, given))
        if said.updated_input is not None:
            given = tool.parse(said.updated_input)
            use = tool_use(tool, given)
            leads = kit.consent.leads(use)
            verdict = kit.consent.weigh(use)
    except InvalidInput as error:
        return failure(str(error))
    _heed(kit, batch, said)
    settled = await kit.consent.decide(use, verdict, said, call_id=call.id)
    if settled.decision != "allow":
        return _denied(call, settled.reason)
    return _Ready(at=at, call=call, tool=tool, given=given, leads=leads)


def _denied(call: ToolCall, reason: str) -> ToolOutput:
    return failure(f"denied: {call.name} was not run: {reason}", brief=f"denied: {reason}")


def _unknown(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"there is no tool {name!r}.{hint} Tools: {', '.join(names) or 'none'}"


async def _run_side_by_side(kit: Kit, batch: Batch, ready: Sequence[_Ready]) -> None:
    # A group even for one: a tool whose own awaits end as cancelled must not end the turn.
    limiter = anyio.CapacityLimiter(max(kit.limits.parallel_tools, 1))
    async with anyio.create_task_group() as group:
        for one in ready:
            group.start_soon(_run_one, kit, batch, one, limiter)


async def _run_one(kit: Kit, batch: Batch, one: _Ready, limiter: anyio.CapacityLimiter) -> None:
    async with limiter:
        began = kit.clock.monotonic()
        call = one.call
        line = about(call, {one.tool.name: one.tool.traits}).main
        kit.tell("tool.begun", f"{call.name} {line}".strip(), call_id=call.id, tool=call.name)
        output = await _output(kit, one)
        batch.outputs[one.at] = output
        _told(kit, call, output, kit.clock.monotonic() - began)
        payload = _payload(kit, call, one.given)
        payload |= {"tool_response": {"text": output.text, "is_error": output.is_error}}
        said = await kit.hooks.run("PostToolUse", payload)
        if said.blocked and said.reason:
            batch.notes.append(f"[hook after {call.name}] {said.reason}")
        _heed(kit, batch, said)


async def _output(kit: Kit, one: _Ready) -> ToolOutput:
    """What the tool gives back; what it raises and a time-out are outputs, too."""

    def progress(text: str) -> None:
        kit.tell("tool.progress", text, call_id=one.call.id, tool=one.call.name)

    context = for_call(
        kit.context,
        one.call.id,
        progress,
        judged=one.leads,
        may_read=partial(kit.consent.may_read, one.tool.name),
    )
    seconds = one.tool.timeout_seconds
    try:
        with anyio.move_on_after(seconds):
            return await one.tool.run(one.given, context)
    except (Exception, SystemExit) as error:
        said = str(error) or "no message"
        return failure(f"{one.call.name} failed: {type(error).__name__}: {said}")
    text = f"{one.call.name} was ended: no result within {seconds:g} seconds"
    return failure(text, brief=f"timed out after {seconds:g} s")


def _heed(kit: Kit, batch: Batch, said: HookOutcome) -> None:
    """What hooks say beside their verdict: context for the model, lines for people, an end."""
    batch.notes.extend(f"[hook] {text}" for text in said.additional_context)
    for line in said.messages:
        kit.tell("hook.message", line)
    if said.end_turn:
        batch.ended = said.reason or "a hook ended the turn"


def _payload(kit: Kit, call: ToolCall, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **kit.payload,
        "tool_name": call.name,
        "tool_input": dict(given),
        "tool_use_id": call.id,
        "permission_mode": kit.consent.policy.mode,
    }


def _told(kit: Kit, call: ToolCall, output: ToolOutput, seconds: float) -> None:
    tool = kit.tools.get(call.name)
    kit.tell(
        "tool.ended",
        output.brief or brief(output.text),
        call_id=call.id,
        tool=call.name,
        main=about(call, {tool.name: tool.traits} if tool is not None else None).main,
        is_error=output.is_error,
        seconds=seconds,
        chars=len(output.text),
    )


def brief(text: str) -> str:
    """The first line of a text that says something, short."""
    line = next((line.strip() for line in text[:2_000].splitlines() if line.strip()), "")
    return line if len(line) <= _BRIEF_CHARS else line[: _BRIEF_CHARS - 1] + "…"


def to_result(call: ToolCall, output: ToolOutput) -> ToolResult:
    """An output as the result of its call."""
    text = output.text
    if not text.strip() and not output.blocks:
        text = SILENT
    said = (Text(text=text),) if text else ()
    return ToolResult(
        call_id=call.id,
        content=(*said, *output.blocks),
        is_error=output.is_error,
        plain=not output.blocks,
    )
