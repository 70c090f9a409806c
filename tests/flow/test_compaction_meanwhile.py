"""A compaction wished for while something else goes on: a reply streaming in, a turn that is
interrupted or fails, another compaction, a turn that begins before the summary has come."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.flow.opened import asked
from tests.flow.test_compaction import RULE, read_file, reads, small
from tests.unit.context.governed_session import good_summary

from wayfare import tool
from wayfare.context.invariants import violations
from wayfare.errors import ModelRefused, WayfareError
from wayfare.events import Event
from wayfare.model import Reply, Request, Watcher
from wayfare.providers.scripted import ScriptedModel
from wayfare.session.session import Session
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio


class Gated(ScriptedModel):
    """Summarizes when it is let."""

    def __init__(self) -> None:
        super().__init__(always=good_summary(), window_tokens=8_000, max_output_tokens=2_000)
        self.asked, self.go_on = anyio.Event(), anyio.Event()

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        if request.tools:
            return await ScriptedModel(always="done").complete(request, watcher)
        self.asked.set()
        await self.go_on.wait()
        return await super().complete(request, watcher)


async def edits_of(session: Session) -> list[str]:
    entries = [e async for e in session.governor.transcript.entries()]
    return [e.by for e in entries if isinstance(e, EditEntry)]


async def test_a_wish_while_the_last_reply_streams_is_granted_when_it_has_come(
    tmp_path: Path,
) -> None:
    watching = small(tmp_path, [*reads(5), "All is read.", "on"])
    side = Gated()
    side.go_on.set()
    wished: list[object] = []
    opened: list[Session] = []

    def watch(event: Event) -> None:
        watching.events.append(event)
        if event.name == "stream.text" and "All" in event.text:
            opened[0].kit.context.compaction.ask("the parser", trigger="manual")
            wished.append(event)

    async with watching.open(tools=[read_file], side_model=side, watch=watch) as session:
        opened.append(session)
        ended = await session.run(RULE)
        assert wished
        assert ended.text == "All is read."
        shown = "\n".join(m.text for m in session.messages)
        assert "[Compacted]" in shown
        assert session.messages[-1].text == "All is read."
        (event,) = watching.told("compaction.done")
        assert event.fields["trigger"] == "manual"
        before = len(await edits_of(session))
        await session.run("and now?")
        assert len(await edits_of(session)) == before, "it is granted once"
    assert "<focus>\nthe parser\n</focus>" in side.requests[0].messages[0].text


async def test_a_person_and_the_model_that_wish_at_once_have_one_compaction(
    tmp_path: Path,
) -> None:
    watching = small(tmp_path, [*reads(5), "ok"])
    side = Gated()
    side.go_on.set()
    async with watching.open(tools=[read_file], side_model=side) as session:

        @tool
        async def both() -> str:
            """Both wish for it."""
            assert await session.compact("the tests") == ()
            session.kit.context.compaction.ask("my plan")
            return "asked"

        session.add_tools(both)
        watching.model._script[5:] = [  # pyright: ignore[reportPrivateUsage]
            asked("both", "b1"),
            "ok",
        ]
        await session.run(RULE)
    (event,) = watching.told("compaction.done")
    assert event.fields["trigger"] == "manual"
    assert "<focus>\nthe tests\nmy plan\n</focus>" in side.requests[0].messages[0].text


@pytest.mark.parametrize("how", ["interrupted", "failed"])
async def test_a_wish_of_a_turn_that_breaks_off_is_told_and_does_not_wait_for_the_next(
    how: str, tmp_path: Path
) -> None:
    watching = small(tmp_path, [*reads(5), "ok"])
    async with watching.open(tools=[read_file], side_model=Gated()) as session:
        await session.run(RULE)

        @tool
        async def wishes() -> str:
            """Wishes, and the turn breaks off."""
            return "wished"

        session.add_tools(wishes)

        def breaks(request: Request) -> str:
            session.kit.context.compaction.ask("now", trigger="manual")
            if how == "failed":
                raise ModelRefused("no more", body="")
            session.interrupt()
            return "never"

        watching.model.extend([breaks, "well again"])
        if how == "failed":
            with pytest.raises(WayfareError):
                await session.run("and on")
        else:
            assert (await session.run("and on")).how == "interrupted"
        assert "turn was stopped" in watching.told("compaction.stopped")[0].text
        before = session.messages
        watching.model.extend(["well again"])
        await session.run("go on")
        assert session.messages[: len(before)] == before
        assert await edits_of(session) == []


async def test_two_compactions_at_once_are_one(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "ok", "on"])
    side = Gated()
    async with watching.open(tools=[read_file], side_model=side) as session:
        await session.run(RULE)
        before = session.messages
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.compact, "first")
            tasks.start_soon(session.compact, "second")
            await side.asked.wait()
            side.go_on.set()
        assert (await edits_of(session)).count("summary") == 1
        assert not violations(session.governor.view)
        assert sum("[Compacted]" in m.text for m in session.messages) == 1
        await session.undo()
        assert session.messages == before
        await session.run("go on")


async def test_a_turn_that_begins_while_the_summary_is_waited_for_loses_nothing(
    tmp_path: Path,
) -> None:
    watching = small(tmp_path, [*reads(5), "ok", *reads(20, 5), "all done"])
    side = Gated()
    async with watching.open(tools=[read_file], side_model=side) as session:
        await session.run(RULE)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.compact)
            await side.asked.wait()
            tasks.start_soon(session.run, "read the next twenty")
            await anyio.wait_all_tasks_blocked()
            side.go_on.set()
        assert not violations(session.governor.view)
        shown = "\n".join(m.text for m in session.messages)
        assert "read the next twenty" in shown
        assert session.messages[-1].text == "all done"
        before = session.messages
        name = session.name
    again = small(tmp_path, [])
    async with again.open(tools=[read_file], side_model=Gated(), session=name) as session:
        assert session.messages == before


async def test_undo_is_refused_while_a_turn_runs(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "ok"])
    side = Gated()
    side.go_on.set()
    async with watching.open(tools=[read_file], side_model=side) as session:
        await session.run(RULE)
        assert await session.compact()

        @tool
        async def undoes() -> str:
            """Takes the compaction back under the turn that runs."""
            with pytest.raises(RuntimeError, match="a turn is under way"):
                await session.undo()
            return "refused"

        session.add_tools(undoes)
        watching.model.extend([asked("undoes", "b1"), "ok"])
        assert (await session.run("and on")).how == "done"
        assert "[Compacted]" in "\n".join(m.text for m in session.messages)
