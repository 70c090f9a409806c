"""Turns through the real loop: batches of tools, and one result for every call whatever happens."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.flow.opened import Watching, answers, asked

from wayfare import ToolContext, ToolOutput, tool
from wayfare.agent.limits import Limits
from wayfare.agent.run_tools import CUT_CALL
from wayfare.agent.tools import WritePath, failure
from wayfare.errors import EmptyReply, ModelAuthError
from wayfare.messages import Media
from wayfare.model import Usage
from wayfare.providers.script import Scripted
from wayfare.transcript import MarkEntry, MessageEntry

pytestmark = pytest.mark.anyio


@tool(read_only=True, kind="read")
async def look(path: str) -> str:
    """Look at a path."""
    return f"saw {path}"


async def test_a_turn_ends_with_the_models_last_words_and_a_mark(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [asked("look", path="a"), "it is an a"])
    async with watching.open(tools=[look]) as session:
        ended = await session.run("what is it?")
        transcript = session.governor.transcript
        entries = [entry async for entry in transcript.entries()]
        whole = [
            (await transcript.entered(e)).message.origin if isinstance(e, MessageEntry) else e.name  # pyright: ignore
            for e in entries
        ]
    assert (ended.how, ended.text, ended.steps) == ("done", "it is an a", 2)
    assert whole == ["session", "user", "assistant", "tool", "assistant", "turn"]
    first, second = watching.model.requests
    assert [m.text for m in first.messages] == ["what is it?"]
    assert second.messages[: len(first.messages)] == first.messages
    assert second.stable_messages == len(first.messages)


async def test_every_request_carries_the_system_prompt_and_the_tools(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    watching = Watching(tmp_path, ["hello"])
    async with watching.open(
        tools=[look], role="ROLE", prompt_sections=["MEMORY RULES"]
    ) as session:
        await session.run("hi")
    (request,) = watching.model.requests
    order = [request.system.index(part) for part in ("ROLE", "# Tools", "Use tabs.", "MEMORY")]
    assert order == sorted(order)
    assert [spec.name for spec in request.tools] == ["look"]


async def test_reading_calls_of_a_batch_run_side_by_side(tmp_path: Path) -> None:
    met: list[anyio.Event] = [anyio.Event(), anyio.Event()]

    @tool(read_only=True)
    async def meet(other: int) -> str:
        """Wait until the other call runs, too."""
        met[1 - other].set()
        await met[other].wait()
        return f"met {other}"

    script = [[asked("meet", "a", other=0), asked("meet", "b", other=1)], "both ran"]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=[meet]) as session:
        with anyio.fail_after(10):
            await session.run("go")
        assert answers(session.messages) == [("a", "met 0", False), ("b", "met 1", False)]


async def test_no_more_than_the_limit_run_side_by_side(tmp_path: Path) -> None:
    running, most = 0, 0

    @tool(read_only=True)
    async def count(n: int) -> str:
        """Count who is running."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return str(n)

    calls = [asked("count", f"c{n}", n=n) for n in range(20)]
    watching = Watching(tmp_path, [calls, "done"])
    async with watching.open(tools=[count]) as session:
        await session.run("go")
        assert [text for _, text, _ in answers(session.messages)] == [str(n) for n in range(20)]
    assert most == 8


async def test_writing_calls_run_in_order_and_reading_ones_wait_for_them(tmp_path: Path) -> None:
    log: list[str] = []

    @tool
    async def write(n: int) -> str:
        """Write slowly."""
        log.append(f"write {n} begins")
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        log.append(f"write {n} ends")
        return "written"

    @tool(read_only=True)
    async def read(n: int) -> str:
        """Read."""
        log.append(f"read {n}")
        return "read"

    batch = [
        asked("write", "a", n=1),
        asked("write", "b", n=2),
        asked("read", "c", n=1),
        asked("write", "d", n=3),
    ]
    watching = Watching(tmp_path, [batch, "done"])
    async with watching.open(tools=[write, read]) as session:
        await session.run("go")
        assert [id for id, _, _ in answers(session.messages)] == ["a", "b", "c", "d"]
    assert log == [
        "write 1 begins", "write 1 ends", "write 2 begins", "write 2 ends", "read 1",
        "write 3 begins", "write 3 ends",
    ]  # fmt: skip


@tool
async def raising() -> str:
    """Raise."""
    raise ValueError("no such thing")


@tool
def leaving() -> str:
    """Try to end the program."""
    sys.exit(3)


@tool
async def cancelling() -> str:
    """End as cancelled without anybody having cancelled."""
    raise anyio.get_cancelled_exc_class()()


@tool(timeout_seconds=0.01)
async def hanging() -> str:
    """Hang."""
    await anyio.sleep_forever()
    return "never"


@tool(timeout_seconds=0.01)
def stuck() -> str:
    """Hang in a thread."""
    time.sleep(0.2)
    return "never seen"


@tool
async def silent() -> None:
    """Say nothing."""


@tool
async def bytes_back() -> bytes:
    """Return what is no UTF-8."""
    return b"caf\xe9"


@tool
async def refused() -> ToolOutput:
    """Fail in a way the model can act on."""
    return failure("read the file first")


@tool
async def structured(n: int = 2) -> dict[str, int]:
    """Return an object."""
    return {"twice": 2 * n}


@pytest.mark.parametrize(
    ("call", "said", "is_error"),
    [
        (asked("raising"), "raising failed: ValueError: no such thing", True),
        (asked("leaving"), "leaving failed: SystemExit: 3", True),
        (asked("cancelling"), "[interrupted]", True),
        (asked("hanging"), "hanging was ended: no result within 0.01 seconds", True),
        (asked("stuck"), "stuck was ended: no result within 0.01 seconds", True),
        (asked("silent"), "(no output)", False),
        (asked("bytes_back"), "caf\ufffd", False),
        (asked("refused"), "read the file first", True),
        (asked("structured"), '{"twice":4}', False),
        (
            asked("structurd"),
            "there is no tool 'structurd'. Did you mean structured? Tools: ",
            True,
        ),
        (asked("structured", n="x"), "Valid input: n (integer)", True),
        (asked("structured", m=1), "invalid input for structured: Object contains unknown", True),
        (
            asked("structured").__class__(id="c1", name="structured", input={}, arguments='{"n": '),
            "the arguments are not one JSON object",
            True,
        ),
    ],
)
async def test_every_call_gets_exactly_one_result(
    tmp_path: Path, call: Any, said: str, is_error: bool
) -> None:
    tools = [raising, leaving, cancelling, hanging, stuck, silent, bytes_back, refused, structured]
    # The same call between two that work: its neighbours must not suffer.
    batch = [asked("structured", "before"), call, asked("structured", "after")]
    watching = Watching(tmp_path, [batch, "done", "really done"])
    async with watching.open(tools=tools) as session:
        ended = await session.run("go")
        found = answers(session.messages)
    assert ended.how == "done"
    assert [id for id, _, _ in found] == ["before", "c1", "after"]
    assert said in found[1][1]
    assert found[1][2] is is_error
    assert found[0][1] == found[2][1] == '{"twice":4}'


async def test_a_denied_call_says_why_and_is_not_run(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool
    async def write(path: WritePath) -> str:
        """Write."""
        ran.append(path)
        return "written"

    watching = Watching(tmp_path, [asked("write", path="a.txt"), "I may not"])
    async with watching.open(tools=[write], mode="ask") as session:
        await session.run("go")
        ((_, said, is_error),) = answers(session.messages)
    assert ran == []
    assert is_error
    assert said.startswith("denied: write was not run: ")


async def test_all_results_of_a_batch_stand_in_one_entry(tmp_path: Path) -> None:
    batch = [asked("look", str(n), path=str(n)) for n in range(5)]
    watching = Watching(tmp_path, [batch, "done"])
    async with watching.open(tools=[look]) as session:
        await session.run("go")
        entries = [e async for e in session.governor.transcript.entries()]
    found = [e for e in entries if isinstance(e, MessageEntry) and "tool_result" in str(e.wire)]
    assert len(found) == 1
    assert [b["tool_use_id"] for b in found[0].wire["content"]] == ["0", "1", "2", "3", "4"]


async def test_an_image_stays_an_image(tmp_path: Path) -> None:
    @tool(read_only=True)
    async def picture() -> ToolOutput:
        """Show a picture."""
        return ToolOutput(
            text="a dot", blocks=(Media(kind="image", media_type="image/png", content="aGk="),)
        )

    watching = Watching(tmp_path, [asked("picture"), "a dot indeed"])
    async with watching.open(tools=[picture]) as session:
        await session.run("go")
        (result,) = [r for m in session.messages for r in m.results]
    assert [type(block).__name__ for block in result.content] == ["Text", "Media"]


async def test_what_a_tool_is_handed(tmp_path: Path) -> None:
    handed: list[ToolContext] = []

    @tool(read_only=True)
    async def take(context: ToolContext) -> str:
        """Take the context."""
        handed.append(context)
        context.progress("half way")
        return f"the first is shown: {context.sight.shows('c1')}"

    watching = Watching(tmp_path, [asked("take"), asked("take", "c2"), "done"])
    async with watching.open(tools=[take]) as session:
        await session.run("go")
        said = [text for _, text, _ in answers(session.messages)]
        name = session.name
    assert said == ["the first is shown: False", "the first is shown: True"]
    first, second = handed
    assert (first.call_id, second.call_id) == ("c1", "c2")
    assert first.kept is second.kept
    assert first.session_folder == tmp_path / ".transcripts" / name
    assert first.results_folder == tmp_path / ".task_outputs" / "tool-results" / name
    assert [e.text for e in watching.told("tool.progress")] == ["half way", "half way"]
    assert "context" not in take.schema["properties"]


async def test_a_reply_cut_by_the_output_limit_is_continued(tmp_path: Path) -> None:
    script = [Scripted(text="first ha", stop="length"), "lf"]
    watching = Watching(tmp_path, script)
    async with watching.open() as session:
        ended = await session.run("go")
    assert ended.how == "done"
    said = [m.text for m in watching.model.requests[-1].messages]
    assert said[:2] == ["go", "first ha"]
    assert "Go on exactly where it ended" in said[2]


async def test_replies_that_are_always_cut_end_the_turn(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [], model={"always": Scripted(text="x", stop="length")})
    async with watching.open(limits=Limits(length_stops_in_a_row=3)) as session:
        ended = await session.run("go")
    assert (ended.how, len(watching.model.requests)) == ("length", 4)


async def test_the_last_call_of_a_cut_reply_is_not_run(tmp_path: Path) -> None:
    cut = Scripted(
        calls=(asked("look", "whole", path="a"), asked("look", "half", path="b")), stop="length"
    )
    watching = Watching(tmp_path, [cut, "done"])
    async with watching.open(tools=[look]) as session:
        await session.run("go")
        assert answers(session.messages) == [("whole", "saw a", False), ("half", CUT_CALL, True)]


async def test_an_empty_reply_is_asked_again_and_raised_in_the_end(tmp_path: Path) -> None:
    empty = EmptyReply("nothing came")
    # Twice for the model that repeats by itself, then once more after the words of the runtime.
    watching = Watching(tmp_path, [empty, empty, "here I am"])
    async with watching.open() as session:
        assert (await session.run("go")).text == "here I am"
        watching.model.extend([empty] * 6)
        with pytest.raises(EmptyReply):
            await session.run("again")
        watching.model.extend(["alive"])
        assert (await session.run("still there?")).text == "alive"


async def test_an_error_nobody_can_handle_ends_the_turn_and_leaves_the_session_valid(
    tmp_path: Path,
) -> None:
    watching = Watching(tmp_path, [ModelAuthError("no key"), "now it works"])
    async with watching.open() as session:
        with pytest.raises(ModelAuthError):
            await session.run("go")
        assert (await session.run("again")).how == "done"
        marks = [e async for e in session.governor.transcript.entries() if isinstance(e, MarkEntry)]
    assert [m.detail["ended"] for m in marks if m.name == "turn"] == ["error", "done"]


async def test_usage_and_cost_of_a_turn_and_of_the_session(tmp_path: Path) -> None:
    told = Usage(input_tokens=1_000, cache_read_tokens=500, output_tokens=10)
    watching = Watching(
        tmp_path, [Scripted(text="one", usage=told), Scripted(text="two", usage=told)]
    )
    async with watching.open() as session:
        first = await session.run("a")
        await session.run("b")
        assert first.usage == told
        assert session.totals.usage == told + told
        assert session.totals.cost == pytest.approx(2 * first.cost)
        name = session.name
    async with Watching(tmp_path, []).open(session=name) as session:
        assert session.how == "resumed"
        assert session.totals.usage == told + told
        assert session.totals.calls == 2
