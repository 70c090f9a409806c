"""The power goes, or the disk is full, while notes replace a history, a digest does, or all is
taken back: the old request or the new one, and the session goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
import pytest
from tests.faults.test_compaction_crashes import KEEPS, opened, summarizer, worked

from wayfare.clock import MovableClock
from wayfare.context.passes.notes import Notes
from wayfare.context.pipeline import Governor
from wayfare.errors import ModelUnreachable, WriteFailed
from wayfare.messages import Message, user
from wayfare.providers.scripted import ScriptedModel
from wayfare.testing import FaultyDisk, Keep, is_power_cut
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio
NOTES = "# Current State\nseven files read\n# Errors & Corrections\nE42 until the lock file went"

Work = Callable[[Governor, MovableClock], Awaitable[object]]


async def from_notes(governor: Governor, clock: MovableClock) -> object:
    made = summarizer(clock)
    made.model = None

    async def now() -> Notes:
        tokens = governor.meter.text(NOTES)
        return Notes(text=NOTES, tokens=tokens, covers_entry=14, address="notes.md")

    made.notes = now
    return await made(governor, trigger="auto")


async def by_digest(governor: Governor, clock: MovableClock) -> object:
    made = summarizer(clock)
    error = ModelUnreachable("no route")
    made.model = ScriptedModel(always=error, window_tokens=8_000, max_output_tokens=2_000)
    return await made(governor, trigger="reactive")


async def undone(governor: Governor, clock: MovableClock) -> object:
    return await governor.undo()


async def nothing(governor: Governor, clock: MovableClock) -> object:
    return None


async def summed_up(governor: Governor, clock: MovableClock) -> object:
    return await summarizer(clock)(governor)


@dataclass(frozen=True)
class Case:
    """What is done in peace first, what fails, and what is committed by it."""

    first: Work
    work: Work
    by: str


CASES = {
    "notes": Case(nothing, from_notes, "notes"),
    "digest": Case(nothing, by_digest, "reactive"),
    "undo of a summary": Case(summed_up, undone, ""),
    "undo of notes": Case(from_notes, undone, ""),
}


async def begun(case: Case, seed: int) -> tuple[FaultyDisk, MovableClock, Governor]:
    """The session on its disk, opened again behind what is done in peace."""
    disk, clock = await worked(seed)
    _, governor = await opened(disk, clock, "s")
    await case.first(governor, clock)
    await governor.transcript.close()
    _, governor = await opened(disk, clock, "s")
    return disk, clock, governor


def measured(case: Case) -> tuple[int, list[Message], list[Message]]:
    """How many operations of the disk it takes; the request before and after it."""

    async def count() -> tuple[int, list[Message], list[Message]]:
        disk, clock, governor = await begun(case, 0)
        before, operations = governor.view.messages(), disk.operations
        assert await case.work(governor, clock)
        newest = [e async for e in governor.transcript.entries() if isinstance(e, EditEntry)][-1]
        assert newest.undoes if not case.by else newest.by in (case.by, "restore")
        return disk.operations - operations, before, governor.view.messages()

    return anyio.run(count)


MEASURED = {name: measured(case) for name, case in CASES.items()}
POINTS = [(name, at) for name, (count, _, _) in MEASURED.items() for at in range(1, count + 1)]


async def goes_on(governor: Governor, clock: MovableClock, case: Case) -> None:
    """What failed can be done now, and the next request is legal."""
    _, before, after = MEASURED[next(n for n, c in CASES.items() if c is case)]
    if governor.view.messages() == before:
        await case.work(governor, clock)
        assert governor.view.messages() == after
    await governor.add([user("go on")])
    assert "go on" in (await governor.prepare()).messages[-1].text


def test_there_are_points_in_every_case() -> None:
    for count, before, after in MEASURED.values():
        assert count >= 2
        assert before != after


@pytest.mark.parametrize(("name", "at"), POINTS)
@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_a_crash_leaves_the_old_request_or_the_new(
    name: str, at: int, keep: Keep, seed: int
) -> None:
    case = CASES[name]
    _, before, after = MEASURED[name]
    disk, clock, governor = await begun(case, seed)
    disk.inject("crash", at=at)
    try:
        await case.work(governor, clock)
    except BaseException as error:
        if not is_power_cut(error):
            raise
    disk.crash(keep)
    _, again = await opened(disk, clock, "s")
    assert again.view.messages() in (before, after)
    await goes_on(again, clock, case)


@pytest.mark.parametrize("fault", ["full", "io_error"])
@pytest.mark.parametrize(("name", "at"), POINTS)
async def test_a_disk_that_refuses_replaces_nothing_says_so_and_is_gone_on_with(
    fault: str, name: str, at: int
) -> None:
    case = CASES[name]
    _, before, after = MEASURED[name]
    disk, clock, governor = await begun(case, 0)
    disk.inject(fault, at=at, times=0)  # type: ignore[arg-type]
    told = ""
    try:
        await case.work(governor, clock)
    except WriteFailed as error:
        told = str(error)
    assert governor.view.messages() == (before if told else after)
    if told:
        assert "transcript.jsonl" in told or "contents.tsv" in told
    disk.heal()
    await governor.transcript.close()
    _, again = await opened(disk, clock, "s")
    assert again.view.messages() == (before if told else after)
    await goes_on(again, clock, case)
