"""The power goes at every single operation of a consolidation: the old set or the new, whole."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from pathlib import Path

import msgspec
import pytest

from wayfare.clock import MovableClock
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import Record
from wayfare.memory.record_text import render
from wayfare.memory.transaction import Change
from wayfare.testing import FaultyDisk, Keep, is_power_cut
from wayfare.testing.memory_storage import memory_in_files

pytestmark = pytest.mark.anyio

FOLDER = Path("/w/.memory")
OLD = {
    f"k{n}.md": render(
        Record(name=f"k{n}", description=f"fact {n}", type="project", body=f"FACT-{n}")
    ).encode()
    for n in range(1, 7)
}
MERGED = render(
    Record(
        name="merged",
        description="facts 1-6",
        type="project",
        body="FACT-1 FACT-2 FACT-3 FACT-4 FACT-5 FACT-6",
    )
).encode()
NEW = {"merged.md": MERGED}
CHANGES = [
    Change(file="merged.md", before=None, after=MERGED),
    *(Change(file=file, before=text, after=None) for file, text in OLD.items()),
]
KEEPS: list[tuple[Keep, int]] = [("nothing", 0), ("all", 0), ("some", 1), ("some", 2)]


def store_on(disk: FaultyDisk, clock: MovableClock, holder: str) -> MemoryStore:
    storage = memory_in_files(FOLDER, disk=disk, clock=clock)
    return MemoryStore(storage, holder=holder, clock=clock)


async def prepared(seed: int) -> tuple[FaultyDisk, MovableClock]:
    """Six records with an index and a journal, everything flushed."""
    clock = MovableClock()
    disk = FaultyDisk(seed=seed, clock=clock)
    disk.make_folder(FOLDER.parent)
    disk.sync_folder(FOLDER.parent.parent)
    store = store_on(disk, clock, "before")
    docs = store.storage.records
    for file, text in OLD.items():
        await docs.write(file.removesuffix(".md"), text, expected=None)
    await store.rebuild_index()
    await store.close()
    return disk, clock


async def consolidate(disk: FaultyDisk, clock: MovableClock) -> None:
    store = store_on(disk, clock, "consolidating")
    await store.transact(CHANGES, actor="consolidator", reason="merge")
    await store.close()


async def cut(run: Awaitable[object]) -> bool:
    try:
        await run
    except BaseException as error:
        if is_power_cut(error):
            return True
        raise
    return False


async def check_whole(disk: FaultyDisk, clock: MovableClock) -> dict[str, bytes]:
    """Start again, look at everything, and write once more."""
    clock.advance(120)
    store = store_on(disk, clock, "after")
    await store.sync()
    docs = store.storage.records
    found = {f"{name}.md": await docs.read(name) for name in await docs.names()}
    assert found in (OLD, NEW), sorted(found)
    index = (await store.storage.index.read("MEMORY") or b"").decode()
    assert sorted(re.findall(r"\]\(([^)]+)\)", index)) == sorted(found)
    lines = [line.content async for line in store.storage.journal.read()]
    told = [msgspec.json.decode(line) for line in lines]
    begun = [line["tx"] for line in told if line["op"] == "begin"]
    ended = [line["tx"] for line in told if line["op"] in ("applied", "rollback") and "tx" in line]
    assert begun == ended
    assert store.state.pending is None
    owner = Evidence(origin="owner")
    news = Candidate(
        name="news",
        description="fresh",
        type="user",
        body="New.",
        scope="persistent",
        evidence=owner,
    )
    assert (await store.offer([news], actor="user")).written.files == ("news.md",)
    return {file: text or b"" for file, text in found.items()}


async def operations() -> int:
    disk, clock = await prepared(0)
    before = disk.operations
    await consolidate(disk, clock)
    return disk.operations - before


@pytest.mark.parametrize(("keep", "seed"), KEEPS)
async def test_a_consolidation_cut_anywhere_leaves_the_old_set_or_the_new(
    keep: Keep, seed: int
) -> None:
    total = await operations()
    assert total > 50
    outcomes: set[frozenset[str]] = set()
    for at in range(1, total + 1):
        disk, clock = await prepared(seed * 10_000 + at)
        disk.inject("crash", at=at)
        assert await cut(consolidate(disk, clock)), at
        disk.crash(keep)
        outcomes.add(frozenset(await check_whole(disk, clock)))
    assert outcomes == {frozenset(OLD), frozenset(NEW)}


async def test_what_was_acknowledged_is_the_new_set() -> None:
    disk, clock = await prepared(0)
    await consolidate(disk, clock)
    disk.crash("nothing")
    assert await check_whole(disk, clock) == NEW


async def test_the_power_may_go_again_while_a_crash_is_being_mended() -> None:
    """At the worst moment of the first one: committed, nothing applied."""
    disk, clock = await prepared(7)
    before = disk.operations
    await consolidate(disk, clock)
    writes = [
        n for n, text in enumerate(disk.trace[before:], 1) if "rename /w/.memory/merged" in text
    ]
    for second in range(1, 200):
        disk, clock = await prepared(7)
        disk.inject("crash", at=writes[0])
        assert await cut(consolidate(disk, clock))
        disk.crash("nothing")
        clock.advance(120)
        disk.inject("crash", at=second)
        mended = store_on(disk, clock, "mending")
        if not await cut(mended.sync()):
            disk.heal()
            break
        disk.crash("some")
        await check_whole(disk, clock)
    else:
        pytest.fail("mending never came to its end")
    assert second > 10
    await check_whole(disk, clock)


@pytest.mark.parametrize("fault", ["full", "io_error", "denied", "rename_refused"])
async def test_a_refusing_disk_leaves_the_old_set_or_the_new(fault: str) -> None:
    from wayfare.errors import StoreError

    total = await operations()
    for at in range(1, total + 1, 2):
        disk, clock = await prepared(at)
        disk.inject(fault, at=at)  # type: ignore[arg-type]
        store = store_on(disk, clock, "consolidating")
        refused = False
        try:
            await store.transact(CHANGES, actor="consolidator", reason="merge")
        except StoreError:
            refused = True
        disk.heal()
        found = await check_whole(disk, clock)
        assert found == NEW or refused, at
