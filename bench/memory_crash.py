"""A consolidation broken at many points on a file layer that forgets what was not flushed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wayfare.clock import MovableClock
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import Record
from wayfare.memory.record_text import render
from wayfare.memory.transaction import Change
from wayfare.testing import FaultyDisk, Keep, is_power_cut
from wayfare.testing.memory_storage import memory_in_files

FOLDER = Path("/w/.memory")
FACTS = 6
KEEPS: tuple[Keep, ...] = ("nothing", "some", "all")


def _text(name: str, body: str) -> bytes:
    record = Record(name=name, description=f"about {name}", type="project", body=body)
    return render(record).encode()


OLD = {f"k{n}.md": _text(f"k{n}", f"FACT-{n}") for n in range(FACTS)}
NEW = {"merged.md": _text("merged", " ".join(f"FACT-{n}" for n in range(FACTS)))}
CHANGES = [
    *(Change(file=file, before=None, after=text) for file, text in NEW.items()),
    *(Change(file=file, before=text, after=None) for file, text in OLD.items()),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashes:
    """What was found after each power cut: the old set, the new one, or something else; and how
    often index or journal did not agree with it. `operations` is how many one run has."""

    points: int
    operations: int
    old: int
    new: int
    mixed: int
    disagreeing: int


async def crashes(points: int) -> Crashes:
    """Cut the power at so many points: every operation in turn, with nothing, some or all of what
    was not flushed kept, each time with other choices of `some`."""
    disk, clock = await _prepared(0)
    before = disk.operations
    await _consolidate(disk, clock)
    total = disk.operations - before
    old = new = mixed = disagreeing = 0
    for point in range(points):
        disk, clock = await _prepared(point)
        disk.inject("crash", at=point % total + 1)
        try:
            await _consolidate(disk, clock)
        except BaseException as error:
            if not is_power_cut(error):
                raise
        disk.crash(KEEPS[point // total % len(KEEPS)])
        found, agrees = await _after(disk, clock)
        old += found == OLD
        new += found == NEW
        mixed += found not in (OLD, NEW)
        disagreeing += not agrees
    return Crashes(
        points=points, operations=total, old=old, new=new, mixed=mixed, disagreeing=disagreeing
    )


def _store(disk: FaultyDisk, clock: MovableClock, holder: str) -> MemoryStore:
    return MemoryStore(memory_in_files(FOLDER, disk=disk, clock=clock), holder=holder, clock=clock)


async def _prepared(seed: int) -> tuple[FaultyDisk, MovableClock]:
    clock = MovableClock()
    disk = FaultyDisk(seed=seed, clock=clock)
    disk.make_folder(FOLDER.parent)
    disk.sync_folder(FOLDER.parent.parent)
    store = _store(disk, clock, "before")
    for file, text in OLD.items():
        await store.storage.records.write(file.removesuffix(".md"), text, expected=None)
    await store.rebuild_index()
    await store.close()
    return disk, clock


async def _consolidate(disk: FaultyDisk, clock: MovableClock) -> None:
    store = _store(disk, clock, "consolidating")
    await store.transact(CHANGES, actor="consolidator", reason="merge")
    await store.close()


async def _after(disk: FaultyDisk, clock: MovableClock) -> tuple[dict[str, bytes], bool]:
    """The records after a start, and whether index and journal agree with them."""
    clock.advance(120)
    store = _store(disk, clock, "after")
    await store.sync()
    docs = store.storage.records
    found = {f"{name}.md": await docs.read(name) or b"" for name in await docs.names()}
    index = (await store.storage.index.read("MEMORY") or b"").decode()
    lines = [msgspec.json.decode(n.content) async for n in store.storage.journal.read()]
    begun = [line["tx"] for line in lines if line["op"] == "begin"]
    ended = [n["tx"] for n in lines if n["op"] in ("applied", "rollback") and "tx" in n]
    agrees = (
        sorted(re.findall(r"\]\(([^)]+)\)", index)) == sorted(found)
        and begun == ended
        and store.state.pending is None
    )
    return found, agrees
