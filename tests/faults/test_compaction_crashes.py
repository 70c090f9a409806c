"""The power goes, or the disk is full, at every write of a compaction: the old request or the new."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.unit.context.governed_session import RULE, good_summary

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer
from wayfare.errors import WayfareError, WriteFailed
from wayfare.events import ignore
from wayfare.messages import Message, assistant, call, result, results, user
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import Places, open_session
from wayfare.testing import FaultyDisk, Keep, is_power_cut
from wayfare.transcript import UsageEntry

pytestmark = pytest.mark.anyio
ROOT = Path("/w")
KEEPS: list[tuple[Keep, int]] = [("nothing", 0), ("all", 0), ("some", 1), ("some", 2)]
BUDGET = Budget.window(8_000, max_output_tokens=1_000)


async def opened(disk: FaultyDisk, clock: MovableClock, name: str) -> tuple[str, Governor]:
    """The session over that disk; which log is there is only known on the disk."""
    from wayfare.session.opening import file_transcript, governed

    transcript = file_transcript(Places(workspace=ROOT), name, clock=clock, disk=disk)
    return name, await governed(transcript, BUDGET, clock=clock)


async def worked(seed: int) -> tuple[FaultyDisk, MovableClock]:
    """A session of eight steps, everything flushed and closed."""
    clock = MovableClock()
    disk = FaultyDisk(seed=seed, clock=clock)
    disk.make_folder(ROOT)
    disk.sync_folder(ROOT.parent)
    _, governor = await opened(disk, clock, "s")
    await governor.add([user(RULE)])
    for number in range(8):
        asked = call("read_file", {"path": f"src/f{number}.py"}, id=f"c{number}")
        text = f"content {number}\n" + "word " * 400
        await governor.add([assistant(f"reading {number}", asked)])
        await governor.add([results(result(f"c{number}", text))])
    await governor.transcript.close()
    return disk, clock


def summarizer(clock: MovableClock) -> Summarizer:
    model = ScriptedModel(always=good_summary(), window_tokens=8_000, max_output_tokens=2_000)
    return Summarizer(model=model, clock=clock, watch=ignore)


def writes() -> tuple[int, int, list[Message], list[Message]]:
    """Operations of opening and of the compaction, and the request before and after it."""

    async def count() -> tuple[int, int, list[Message], list[Message]]:
        disk, clock = await worked(0)
        _, governor = await opened(disk, clock, "s")
        before, began = governor.view.messages(), disk.operations
        assert await summarizer(clock)(governor)
        return began, disk.operations - began, before, governor.view.messages()

    return anyio.run(count)


BEGAN, OPERATIONS, BEFORE, AFTER = writes()


@pytest.mark.parametrize("at", range(1, OPERATIONS + 1))
@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_a_crash_leaves_the_old_request_or_the_new(at: int, keep: Keep, seed: int) -> None:
    disk, clock = await worked(seed)
    _, governor = await opened(disk, clock, "s")
    disk.inject("crash", at=at)
    try:
        await summarizer(clock)(governor)
    except BaseException as error:
        if not is_power_cut(error):
            raise
    disk.crash(keep)
    _, again = await opened(disk, clock, "s")
    assert again.view.messages() in (BEFORE, AFTER)
    await again.prepare()
    await again.add([user("go on")])
    assert "go on" in (await again.prepare()).messages[-1].text


@pytest.mark.parametrize("fault", ["full", "io_error"])
@pytest.mark.parametrize("at", range(1, OPERATIONS + 1))
async def test_a_disk_that_refuses_replaces_nothing_and_says_so(fault: str, at: int) -> None:
    disk, clock = await worked(0)
    _, governor = await opened(disk, clock, "s")
    disk.inject(fault, at=at, times=0)  # type: ignore[arg-type]
    told = ""
    try:
        await summarizer(clock)(governor)
    except WriteFailed as error:
        told = str(error)
    if not told:
        assert governor.view.messages() == AFTER
        return
    assert governor.view.messages() == BEFORE
    disk.heal()
    kept = [slot.message for slot in governor.view]
    assert kept == BEFORE


async def test_what_a_summary_cost_stays_noted_when_the_disk_then_fills_up() -> None:
    disk, clock = await worked(0)
    _, governor = await opened(disk, clock, "s")
    disk.inject("full", at=2, times=0)
    with pytest.raises(WayfareError):
        await summarizer(clock)(governor)
    disk.heal()
    used = [e async for e in governor.transcript.entries() if isinstance(e, UsageEntry)]
    assert [e.purpose for e in used] == ["summary"]
    assert governor.view.messages() == BEFORE


async def test_a_session_that_cannot_be_saved_compacts_in_memory() -> None:
    clock = MovableClock()
    disk = FaultyDisk(clock=clock)
    disk.make_folder(ROOT)
    disk.inject("denied", times=0)
    begun = await open_session(Places(workspace=ROOT), budget=BUDGET, clock=clock, disk=disk)
    assert begun.how == "unsaved"
    await begun.governor.add([user(RULE)])
    for number in range(8):
        await begun.governor.add([assistant("word " * 400), user(f"go on {number}")])
    assert await summarizer(clock)(begun.governor)
    await begun.governor.prepare()
