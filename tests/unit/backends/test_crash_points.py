"""The power goes at every single operation: nothing acknowledged is lost, nothing is half there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from wayfare.backends import FileBlobs, FileDocs, FileLeases, FileLog, is_json_line
from wayfare.clock import MovableClock
from wayfare.errors import StoreError
from wayfare.store import Opened, Ref
from wayfare.store.ref import digest
from wayfare.testing import Fault, FaultyDisk, Keep, PowerCut, is_power_cut

WORKSPACE = Path("/w")
LOG = WORKSPACE / ".transcripts" / "s" / "transcript.jsonl"
RESULTS = WORKSPACE / ".task_outputs" / "s"
MEMORY = WORKSPACE / ".memory"
BATCHES = [
    [b'{"n":%d.%d,"x":"%s"}' % (batch, part, b"y" * 20) for part in range(batch)]
    for batch in range(1, 5)
]
ALL = [line for batch in BATCHES for line in batch]

KEEPS: list[tuple[Keep, int]] = [("nothing", 0), ("all", 0), *(("some", seed) for seed in range(6))]

Run = Callable[[FaultyDisk], Awaitable[object]]


def new_disk(seed: int = 0) -> FaultyDisk:
    """A disk on which the workspace is there and safe."""
    disk = FaultyDisk(seed=seed)
    disk.make_folder(WORKSPACE)
    disk.sync_folder(WORKSPACE.parent)
    return disk


async def until_power_cut(run: Awaitable[object]) -> bool:
    """Whether the power went before `run` came to its end."""
    try:
        await run
    except BaseException as error:
        if is_power_cut(error):
            return True
        raise
    return False


async def operations_of(run: Run) -> int:
    disk = new_disk()
    before = disk.operations
    await run(disk)
    return disk.operations - before


def open_log(disk: FaultyDisk, **settings: Any) -> FileLog:
    return FileLog(
        LOG, disk=disk, inside=WORKSPACE, is_whole=is_json_line, clock=MovableClock(), **settings
    )


async def contents(log: FileLog) -> list[bytes]:
    return [line.content async for line in log.read()]


async def write_log(disk: FaultyDisk, acknowledged: list[bytes] | None = None) -> None:
    log = open_log(disk, gitignore_in=LOG.parent.parent)
    await log.open()
    for batch in BATCHES:
        await log.append(batch)
        if acknowledged is not None:
            acknowledged.extend(batch)
    await log.close()


@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_a_log_keeps_every_acknowledged_line(keep: Keep, seed: int) -> None:
    total = await operations_of(write_log)
    assert total > 12
    for at in range(1, total + 1):
        disk = new_disk(seed * 1_000 + at)
        disk.inject("crash", at=at)
        acknowledged: list[bytes] = []
        assert await until_power_cut(write_log(disk, acknowledged)), at
        disk.crash(keep)
        log = open_log(disk)
        opened = await log.open()
        lines = await contents(log)
        assert lines == ALL[: len(lines)], disk.trace[-1]
        assert len(lines) == opened.lines >= len(acknowledged), disk.trace[-1]
        await check_torn(disk, opened, ALL[len(lines) :])
        await log.append([b'{"after":1}'])
        await log.close()
        assert await contents(open_log(disk)) == [*lines, b'{"after":1}']


async def check_torn(disk: FaultyDisk, opened: Opened, rest: list[bytes]) -> None:
    """What was cut off stands beside the log, byte for byte, and is what was being written."""
    if not opened.torn_bytes:
        assert not opened.torn_path
        return
    torn = disk.read(Path(opened.torn_path))
    assert len(torn) == opened.torn_bytes
    assert b"\n".join(rest).startswith(torn)


async def test_a_crash_while_a_torn_tail_is_set_aside_loses_nothing() -> None:
    async def torn(disk: FaultyDisk) -> FileLog:
        await write_log(disk)
        file = disk.open(LOG)
        file.write(b'{"torn":')
        file.sync()
        return open_log(disk)

    disk = new_disk()
    log = await torn(disk)
    before = disk.operations
    await log.open()
    for at in range(1, disk.operations - before + 1):
        for keep, seed in KEEPS:
            disk = new_disk(seed)
            log = await torn(disk)
            disk.inject("crash", at=at)
            assert await until_power_cut(log.open())
            disk.crash(keep)
            log = open_log(disk)
            await log.open()
            assert await contents(log) == ALL
            await log.close()
            aside = [name for name in disk.entries(LOG.parent) if ".torn-" in name]
            assert aside
            assert {disk.read(LOG.parent / name) for name in aside} == {b'{"torn":'}


async def test_without_flushing_a_killed_process_still_loses_nothing() -> None:
    """`"all"` is what a kill leaves: the system has everything that was written."""

    async def write(disk: FaultyDisk, acknowledged: list[bytes] | None = None) -> None:
        log = open_log(disk, sync="never")
        await log.open()
        for batch in BATCHES:
            await log.append(batch)
            if acknowledged is not None:
                acknowledged.extend(batch)

    for at in range(1, await operations_of(write) + 1):
        disk, acknowledged = new_disk(at), list[bytes]()
        disk.inject("crash", at=at)
        assert await until_power_cut(write(disk, acknowledged))
        disk.crash("all")
        lines = await contents(open_log(disk))
        assert lines[: len(acknowledged)] == acknowledged


async def put_blobs(disk: FaultyDisk, stored: dict[Ref, bytes] | None = None) -> None:
    blobs = FileBlobs(
        RESULTS,
        workspace=WORKSPACE,
        disk=disk,
        clock=MovableClock(),
        gitignore_in=RESULTS.parent,
    )
    for number in range(4):
        content = b"result %d\n" % (number % 3) * 50
        ref = await blobs.put("call_1.txt", content)
        if stored is not None:
            stored[ref] = content


@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_a_blob_with_an_address_can_be_read(keep: Keep, seed: int) -> None:
    for at in range(1, await operations_of(put_blobs) + 1):
        disk = new_disk(seed * 1_000 + at)
        disk.inject("crash", at=at)
        stored: dict[Ref, bytes] = {}
        assert await until_power_cut(put_blobs(disk, stored)), at
        disk.crash(keep)
        blobs = FileBlobs(RESULTS, workspace=WORKSPACE, disk=disk, clock=MovableClock())
        for ref, content in stored.items():
            assert await blobs.get(ref) == content, disk.trace[-1]
        again = await blobs.put("call_1.txt", b"result 0\n" * 50)
        disk.crash("nothing")
        assert await blobs.get(again) == b"result 0\n" * 50, "used again without being safe"


async def swap_docs(disk: FaultyDisk, told: list[dict[str, bytes]] | None = None) -> None:
    """Texts written, replaced, deleted; `told` gets the state after each."""
    docs = FileDocs(MEMORY, disk=disk, clock=MovableClock())
    state: dict[str, bytes] = {}
    for name, old, new in DOC_STEPS:
        if new is None:
            await docs.delete(name, expected=digest(old or b""))
        else:
            await docs.write(name, new, expected=None if old is None else digest(old))
        state = {key: value for key, value in state.items() if key != name}
        state |= {} if new is None else {name: new}
        if told is not None:
            told.append(state)


DOC_STEPS: list[tuple[str, bytes | None, bytes | None]] = [
    ("tabs", None, b"use tabs\n" * 9),
    ("spaces", None, b"no spaces\n" * 9),
    ("tabs", b"use tabs\n" * 9, b"use tabs, width 4\n" * 9),
    ("spaces", b"no spaces\n" * 9, None),
    ("last", None, b"still here"),
]


@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_texts_are_the_old_or_the_new_ones_whole(keep: Keep, seed: int) -> None:
    every: list[dict[str, bytes]] = [{}]
    await swap_docs(new_disk(), every)
    for at in range(1, await operations_of(swap_docs) + 1):
        disk = new_disk(seed * 1_000 + at)
        disk.inject("crash", at=at)
        told: list[dict[str, bytes]] = [{}]
        assert await until_power_cut(swap_docs(disk, told)), at
        disk.crash(keep)
        docs = FileDocs(MEMORY, disk=disk, clock=MovableClock())
        found = {name: await docs.read(name) for name in await docs.names()}
        assert found in every[len(told) - 1 : len(told) + 1], disk.trace[-1]
        assert set(await docs.stamps()) == set(found)
        await docs.write("after", b"x", expected=None)


async def test_a_lease_is_free_again_after_a_crash_or_held_in_full() -> None:
    async def take(disk: FaultyDisk) -> None:
        await FileLeases(MEMORY, disk=disk, clock=MovableClock()).acquire(
            "dream", holder="a", seconds=60, wait_seconds=0
        )

    for at in range(1, await operations_of(take) + 1):
        for keep, seed in KEEPS:
            disk = new_disk(seed)
            disk.inject("crash", at=at)
            assert await until_power_cut(take(disk))
            disk.crash(keep)
            clock = MovableClock()
            leases = FileLeases(MEMORY, disk=disk, clock=clock)
            assert await leases.holder("dream") in (None, "a")
            clock.advance(60)
            await leases.acquire("dream", holder="b", seconds=60, wait_seconds=0)
            assert await leases.holder("dream") == "b"


REFUSALS: list[Fault] = ["full", "io_error", "denied", "short_write", "rename_refused"]


@pytest.mark.parametrize("times", [1, 0], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", REFUSALS)
async def test_a_refused_append_leaves_the_log_as_it_was(fault: Fault, times: int) -> None:
    """At every operation, until healed; then the log goes on, and survives a power cut."""
    for at in range(1, await operations_of(write_log) + 1):
        disk = new_disk(at)
        log = open_log(disk)
        expected: list[bytes] = []
        refusals: list[str] = []
        disk.inject(fault, at=at, times=times)
        for batch in BATCHES:
            try:
                await log.open()
                await log.append(batch)
            except StoreError as error:
                refusals.append(str(error))
                continue
            expected += batch
            assert await contents(log) == expected
        disk.heal()
        assert all(str(LOG) in refusal for refusal in refusals)
        await log.open()
        await log.append([b'{"after":1}'])
        assert await contents(log) == [*expected, b'{"after":1}']
        disk.crash("nothing")
        assert await contents(open_log(disk)) == [*expected, b'{"after":1}']


@pytest.mark.parametrize("fault", REFUSALS)
async def test_a_refused_blob_harms_no_other(fault: Fault) -> None:
    for at in range(1, await operations_of(put_blobs) + 1):
        disk = new_disk(at)
        blobs = FileBlobs(RESULTS, workspace=WORKSPACE, disk=disk, clock=MovableClock())
        stored: dict[Ref, bytes] = {}
        refusals: list[str] = []
        disk.inject(fault, at=at)
        for number in range(6):
            content = b"result %d" % (number % 3)
            try:
                stored[await blobs.put("call_1.txt", content)] = content
            except StoreError as error:
                refusals.append(str(error))
        assert len(stored) >= 2
        assert all(str(RESULTS) in refusal for refusal in refusals)
        disk.crash("nothing")
        for ref, content in stored.items():
            assert await blobs.get(ref) == content


@pytest.mark.parametrize("fault", REFUSALS)
async def test_a_refused_text_stands_as_it_was(fault: Fault) -> None:
    for at in range(1, await operations_of(swap_docs) + 1):
        disk = new_disk(at)
        docs = FileDocs(MEMORY, disk=disk, clock=MovableClock())
        disk.inject(fault, at=at)
        told: list[dict[str, bytes]] = [{}]
        with suppress(StoreError):
            await swap_docs(disk, told)
        disk.heal()
        found = {name: await docs.read(name) for name in await docs.names()}
        assert found == told[-1], disk.trace[-1]


async def test_a_thousand_points_are_tried() -> None:
    """The tests above, counted, so that a change which makes them try nothing is seen."""
    log, blobs, docs = [await operations_of(run) for run in (write_log, put_blobs, swap_docs)]
    crashes = (log + blobs + docs) * len(KEEPS)
    refusals = (2 * log + blobs + docs) * len(REFUSALS)
    assert crashes + refusals > 1_000, (log, blobs, docs)


async def test_folders_that_somebody_else_made_and_did_not_flush_are_flushed() -> None:
    """A process that was killed between making the folders and flushing them leaves them so."""
    disk = new_disk()
    for folder in (LOG.parent.parent, LOG.parent):
        disk.make_folder(folder)
    log = open_log(disk)
    await log.open()
    await log.append([b"{}"])
    disk.crash("nothing")
    assert await contents(open_log(disk)) == [b"{}"]


async def test_the_dead_do_not_write() -> None:
    disk = new_disk()
    log = open_log(disk)
    await log.open()
    await log.append([b"{}"])
    disk.crash()
    with pytest.raises(PowerCut):
        await log.append([b"{}"])
    assert await contents(open_log(disk)) == [b"{}"]
