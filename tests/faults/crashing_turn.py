"""One turn that writes everything a turn can write, and what must hold after it was cut off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wayfare import Session, ToolContext, tool
from wayfare.backends.disk import Disk
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.invariants import violations
from wayfare.formats import codec
from wayfare.messages import Message, ToolCall
from wayfare.model import Request
from wayfare.providers.script import Line
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import Places
from wayfare.store import Ref
from wayfare.transcript import MessageEntry

NAME = "20231114-221320-00000001"
"""The session's: the movable clock's first moment and first token."""
BIG = "a long result, far over what stays in the log itself\n" * 120
BATCHES: list[list[ToolCall]] = [
    [
        ToolCall(id="r1", name="look", input={"path": "a.py"}),
        ToolCall(id="r2", name="look", input={"path": "b.py"}),
        ToolCall(id="w1", name="change", input={"path": "c.py"}),
    ],
    [
        ToolCall(id="r3", name="look", input={"path": "d.py"}),
        ToolCall(id="k1", name="compact", input={}),
    ],
    [ToolCall(id="r4", name="look", input={"path": "e.py"})],
]

Acknowledge = Callable[[int], None]
"""Is told the number of the newest entry each time its effect can be seen from outside."""


def tools(seen: Acknowledge, ran: list[str]) -> list[Any]:
    """Tools that say what they saw when they ran: the log as it was then must survive."""

    @tool(read_only=True, kind="read")
    async def look(path: str, *, context: ToolContext) -> str:
        """Look at a file."""
        seen(_newest(context))
        ran.append(context.call_id)
        return f"{path}: {BIG}"

    @tool
    async def change(path: str, *, context: ToolContext) -> str:
        """Change a file."""
        seen(_newest(context))
        ran.append(context.call_id)
        return f"changed {path}"

    @tool
    async def compact(context: ToolContext) -> str:
        """Compact after this batch."""
        seen(_newest(context))
        ran.append(context.call_id)
        context.compaction.ask()
        return "it will be"

    return [look, change, compact]


def _newest(context: ToolContext) -> int:
    return context.history.last_id  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


async def run(workspace: Path, disk: Disk, seen: Acknowledge, ran: list[str]) -> str:
    """The whole turn; returns how the session was opened."""

    def line(answer: Line) -> Callable[[Request], Line]:
        def said(request: Request) -> Line:
            seen(session.governor.transcript.last_id)
            return answer

        return said

    model = ScriptedModel([line(batch) for batch in BATCHES] + [line("all done")])
    async with _open(workspace, disk, model, tools(seen, ran), "") as session:
        ended = await session.run("Do all of it.")
        assert ended.text == "all done"
        seen(session.governor.transcript.last_id)
        return session.how


def _open(workspace: Path, disk: Disk, model: Any, used: list[Any], name: str) -> Any:
    return Session.open(
        model=model,
        summaries=False,
        session=name,
        tools=used,
        places=Places(workspace=workspace),
        budget=Budget.window(9_000),
        mode="full",
        role="You are an agent.",
        clock=MovableClock(),
        disk=disk,
    )


async def whole(workspace: Path, disk: Disk) -> list[Any]:
    """The messages of an undisturbed run, as they stand in the log."""
    await run(workspace, disk, lambda newest: None, [])
    async with _open(
        workspace, disk, ScriptedModel([]), tools(lambda n: None, []), NAME
    ) as session:
        return await _logged(session)


async def _logged(session: Session) -> list[Any]:
    transcript = session.governor.transcript
    return [
        (await transcript.entered(entry)).message.wire
        async for entry in transcript.entries()
        if isinstance(entry, MessageEntry)
    ]


async def check(
    workspace: Path, disk: Disk, *, acknowledged: int, undisturbed: list[Any], ran: list[str]
) -> str:
    """Open what a cut-off run left and go on; returns how the session was found."""
    again: list[str] = []
    model = ScriptedModel(["went on"])
    async with _open(workspace, disk, model, tools(lambda n: None, again), NAME) as session:
        if session.how == "fresh":
            assert acknowledged == 0, "something was acknowledged and the log is gone"
            return session.how
        transcript = session.governor.transcript
        assert transcript.last_id >= acknowledged, "an acknowledged entry is lost"
        numbers = [entry.id async for entry in transcript.entries()]
        assert numbers == list(range(1, len(numbers) + 1)), "the log has a hole"
        found = await _logged(session)
        assert found == undisturbed[: len(found)], "an entry is not what was written"
        for call in ran:
            assert any(call in str(wire) for wire in found), "a call ran that is not in the log"
        if not session.messages:
            return session.how
        ended = await session.go_on()
        assert ended.text == "went on"
        assert again == [], "a call was run a second time"
        assert not violations(session.governor.view)
        (request,) = model.requests
        await _readable(session, request.messages)
        return session.how


async def _readable(session: Session, messages: tuple[Message, ...]) -> None:
    """Every call has its result, and every address leads to its text."""
    calls = [call.id for m in messages for call in m.calls]
    results = [result.call_id for m in messages for result in m.results]
    assert calls == results
    text = str(codec("anthropic").encode(messages))
    for word in {w.strip("\\n'\"[]}),.") for w in text.replace("\\n", " ").split()}:
        if word.startswith((".task_outputs/", ".transcripts/")):
            assert await session.governor.transcript.read(Ref.parse(word)), word
