"""Checkpoints of the fold: opening with one shows what opening without one shows, always."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.histories import FORMATS, histories

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.errors import CannotFit
from wayfare.formats import codec
from wayfare.messages import assistant, call, result, results, user
from wayfare.session import Places
from wayfare.session.opening import file_transcript, governed
from wayfare.testing import FaultyDisk, is_power_cut

pytestmark = pytest.mark.anyio
ROOT = Path("/w")
PLACES = Places(workspace=ROOT)
FILE = PLACES.folder("s") / "transcript.checkpoint"
BUDGET = Budget.window(8_000, max_output_tokens=1_000)


def new_disk() -> FaultyDisk:
    disk = FaultyDisk(clock=MovableClock())
    disk.make_folder(ROOT)
    disk.sync_folder(ROOT.parent)
    return disk


async def opened(disk: FaultyDisk, format: str = "anthropic") -> Governor:
    clock = MovableClock()
    transcript = file_transcript(PLACES, "s", clock=clock, disk=disk, format=format)
    return await governed(transcript, BUDGET, clock=clock)


async def work(governor: Governor, steps: int, first: int = 0) -> None:
    for number in range(first, first + steps):
        asked = call("read_file", {"path": f"src/f{number}.py"}, id=f"c{number}")
        await governor.add([assistant(f"I read {number} and parse_field_{number}", asked)])
        await governor.add([results(result(f"c{number}", f"text {number}\n" + "word " * 500))])
        await governor.prepare()


async def worked(disk: FaultyDisk, *, after: int = 2) -> None:
    """A session with compactions, a checkpoint in it, and steps after the checkpoint."""
    governor = await opened(disk)
    await governor.add([user("Port src/f0.py; never touch vendor/. The limit is 42 MB.")])
    await work(governor, 14)
    await governor.transcript.keep(after_entries=1, log_bytes_a_byte=0)
    await work(governor, after, first=14)
    await governor.transcript.close()


def seen(governor: Governor) -> Any:
    """Everything a fold is: slots, sums, facts, and what the next edits would be made of."""
    view = governor.view
    return (
        view.slots(),
        view.total,
        [view.tokens_from(at) for at in range(len(view))],
        (view.step, view.active_request, view.aside, view.edits),
        governor.ledger.saved(),
        governor.transcript.last_id,
        governor.transcript.undone,
        governor.transcript.head,
    )


async def both(disk: FaultyDisk, format: str = "anthropic") -> tuple[Any, Any]:
    """The fold with the checkpoint that is there, and from the first entry."""
    governor = await opened(disk, format)
    with_it = seen(governor), governor.preview()
    await governor.transcript.close()
    if disk.stat(FILE) is not None:
        disk.unlink(FILE)
    governor = await opened(disk, format)
    without = seen(governor), governor.preview()
    await governor.transcript.close()
    return with_it, without


def replace(disk: FaultyDisk, path: Path, content: bytes) -> None:
    disk.unlink(path)
    file = disk.open(path)
    file.write(content)
    file.close()


async def used(disk: FaultyDisk) -> bool:
    """Whether opening takes the checkpoint over."""
    transcript = file_transcript(PLACES, "s", clock=MovableClock(), disk=disk)
    await transcript.look()
    return transcript.part("context") is not None


async def test_a_checkpoint_folds_to_what_the_log_does() -> None:
    disk = new_disk()
    await worked(disk)
    assert await used(disk)
    with_it, without = await both(disk)
    assert with_it == without
    assert any(slot.made for slot in with_it[0][0]), "the history was too short to be compacted"


@pytest.mark.parametrize("format", FORMATS)
def test_any_history_folds_alike(format: Any) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(history=histories(format, hostile=False), cut=st.floats(0, 1))
    def alike(history: list[dict[str, Any]], cut: float) -> None:
        import anyio

        anyio.run(check, history, cut)

    async def check(history: list[dict[str, Any]], cut: float) -> None:
        disk = new_disk()
        governor = await opened(disk, format)
        own = codec(format)
        for at, wire in enumerate(history):
            if at == int(len(history) * cut):
                await governor.transcript.keep(after_entries=1, log_bytes_a_byte=0)
            await governor.add([own.decode(wire)])
            try:
                await governor.prepare()
            except CannotFit:
                break
        await governor.transcript.close()
        told: list[Any] = []
        for _ in range(2):
            again = await opened(disk, format)
            sent = own.encode(again.view.messages())
            told.append((seen(again), sent))
            await again.transcript.close()
            if disk.stat(FILE) is not None:
                disk.unlink(FILE)
        assert told[0] == told[1]

    alike()


async def test_a_damaged_one_is_passed_over() -> None:
    disk = new_disk()
    await worked(disk)
    _, without = await both_kept(disk)
    content = disk.read(FILE)
    for at in range(0, len(content), len(content) // 40):
        damaged = bytearray(content)
        damaged[at] ^= 0x01
        replace(disk, FILE, bytes(damaged))
        assert not await used(disk), at
        assert (await opened_and_closed(disk)) == without[0]
    for end in (0, 1, 64, 65, len(content) - 1):
        replace(disk, FILE, content[:end])
        assert not await used(disk), end


async def both_kept(disk: FaultyDisk) -> tuple[Any, Any]:
    content = disk.read(FILE)
    found = await both(disk)
    file = disk.open(FILE)
    file.write(content)
    file.close()
    return found


async def opened_and_closed(disk: FaultyDisk) -> Any:
    governor = await opened(disk)
    found = seen(governor)
    await governor.transcript.close()
    return found


@pytest.mark.parametrize("change", ["shorter", "other bytes", "gone"])
async def test_one_of_another_log_is_passed_over(change: str) -> None:
    disk = new_disk()
    await worked(disk)
    log = PLACES.log("s")
    lines = disk.read(log).splitlines(keepends=True)
    if change == "shorter":
        replace(disk, log, b"".join(lines[:10]))
    elif change == "other bytes":
        replace(disk, log, b"".join(lines).replace(b"I read 3", b"I reed 3", 1))
    else:
        disk.unlink(log)
    assert not await used(disk)
    with_it, without = await both(disk)
    assert with_it == without


async def test_an_undo_of_what_it_holds_makes_it_stale() -> None:
    disk = new_disk()
    await worked(disk, after=0)
    governor = await opened(disk)
    edits = governor.view.edits
    await governor.undo()
    assert governor.view.edits < edits
    await governor.transcript.close()
    assert not await used(disk)
    with_it, without = await both(disk)
    assert with_it == without


async def test_other_tools_or_another_meter_fold_anew() -> None:
    from wayfare.context.tool_use import Traits

    disk = new_disk()
    await worked(disk)
    folds: list[Any] = []
    for _ in range(2):
        transcript = file_transcript(PLACES, "s", clock=MovableClock(), disk=disk)
        declared = {"read_file": Traits(kind="shell", main_argument="path")}
        governor = await governed(transcript, BUDGET, declared=declared, clock=MovableClock())
        folds.append(seen(governor))
        await transcript.close()
        if disk.stat(FILE) is not None:
            disk.unlink(FILE)
    assert folds[0] == folds[1]


async def test_the_power_may_go_while_one_is_written() -> None:
    cuts = 0
    for at in range(1, 100):
        disk = new_disk()
        await worked(disk)
        governor = await opened(disk)
        await work(governor, 1, first=40)
        undisturbed = seen(governor)
        disk.inject("crash", at=at)
        try:
            await governor.transcript.keep(after_entries=1, log_bytes_a_byte=0)
        except BaseException as error:
            if not is_power_cut(error):
                raise
        else:
            break
        cuts += 1
        disk.crash("some")
        assert await opened_and_closed(disk) == undisturbed
    assert cuts > 3


@pytest.mark.parametrize("fault", ["full", "io_error", "denied", "rename_refused"])
async def test_a_disk_that_refuses_one_stops_nothing(fault: Any) -> None:
    disk = new_disk()
    await worked(disk)
    governor = await opened(disk)
    disk.inject(fault, times=0, where="checkpoint")
    await work(governor, 2, first=40)
    await governor.transcript.keep(after_entries=1, log_bytes_a_byte=0)
    await work(governor, 2, first=42)
    whole = seen(governor)
    await governor.transcript.close()
    disk.heal()
    assert await opened_and_closed(disk) == whole


async def test_all_of_them_together_are_an_eighth_of_the_log_at_most() -> None:
    disk = new_disk()
    governor = await opened(disk)
    written: list[bytes] = []
    await governor.add([user("Port src/f0.py; never touch vendor/.")])
    for number in range(400):
        await work(governor, 1, first=number)
        await governor.transcript.keep(after_entries=1)
        content = disk.read(FILE) if disk.stat(FILE) is not None else b""
        if content and content not in written:
            written.append(content)
    await governor.transcript.close()
    assert len(written) > 1
    results = sum(len(f"text {number}\n" + "word " * 500) for number in range(400))
    assert 8 * sum(map(len, written)) <= len(disk.read(PLACES.log("s"))) + results


async def test_a_log_that_folds_fast_has_none() -> None:
    disk = new_disk()
    governor = await opened(disk)
    await governor.add([user("Port src/f0.py.")])
    await work(governor, 120)
    await governor.transcript.close()
    assert disk.stat(FILE) is None


async def test_a_text_that_was_not_touched_stands_in_one_once() -> None:
    disk = new_disk()
    governor = await opened(disk)
    await governor.add([user("Port the one file called peculiar_name.")])
    await governor.add([assistant("A remarkable sentence.")])
    await governor.transcript.keep(after_entries=1, log_bytes_a_byte=0)
    saved = json.loads(disk.read(FILE).partition(b"\n")[2])
    await governor.transcript.close()
    assert json.dumps(saved["parts"]["context"]["slots"]).count("A remarkable sentence.") == 1
