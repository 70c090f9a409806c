"""Folders, files, clocks and locks that are not as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayfare.backends import OsDisk
from wayfare.clock import MovableClock
from wayfare.errors import LeaseHeld, WriteFailed
from wayfare.events import Event
from wayfare.lexical import LexicalIndex
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.history import log
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.recall import Recall
from wayfare.memory.search import MemorySearch
from wayfare.testing import FaultyDisk
from wayfare.testing.memory_storage import memory_in_files
from wayfare.testing.read_only_disk import ReadOnlyDisk

pytestmark = pytest.mark.anyio

GOOD = "---\nname: good\ndescription: backups run at night\ntype: project\n---\nAt two.\n"


def wanted(name: str, body: str = "", *, time: float = 0.0) -> Candidate:
    origin = "user" if time else "owner"
    return Candidate(
        name=name,
        description=f"about {name}",
        type="project",
        body=body or f"Fact of {name}.",
        scope="persistent",
        evidence=Evidence(origin=origin, quotes=(body,), time=time),
    )


async def test_a_folder_that_cannot_be_written_is_still_read_and_recalled(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    (folder / "good.md").write_text(GOOD)
    store = MemoryStore(memory_in_files(folder, disk=ReadOnlyDisk(OsDisk())), holder="one")
    search = MemorySearch(store, LexicalIndex(":memory:"))
    recalled = await Recall(store, search, None)(["when do the backups run?"])
    assert recalled.files == ("good.md",)
    with pytest.raises(WriteFailed):
        await store.offer([wanted("a")], actor="user")
    await store.close()
    assert [p.name for p in folder.iterdir()] == ["good.md"]


async def test_every_odd_file_is_listed_and_none_is_touched(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    odd = {
        "good.md": GOOD.encode(),
        "bin.md": b"\xff\xfe\x00\x01\x80\x81",
        "empty.md": b"",
        "bare.md": b"The office closes at six.\n",
        "big.md": b"---\nname: big\ndescription: d\ntype: user\n---\n" + b"x" * 5_000_000,
        "deep.md": b"---\nname: deep\ntype: user\nd: " + b"[" * 60_000 + b"\n---\nB\n",
        "broken.md": b"---\nname: broken: yes: no\ntype: [user\n---\nB\n",
        "Groß (1).md": b"B\n",
    }
    for name, content in odd.items():
        (folder / name).write_bytes(content)
    (folder / "folder.md").mkdir()
    (folder / "link.md").symlink_to("good.md")
    (folder / "notes.txt").write_text("not a record")
    store = MemoryStore(memory_in_files(folder), holder="one")
    await store.offer([wanted("new")], actor="user")
    assert set(store.entries) == {*odd, "new.md"}
    assert all((folder / name).read_bytes() == content for name, content in odd.items())
    index = (folder / "MEMORY.md").read_text()
    assert all(name in index for name in odd)


async def test_the_journal_may_be_cut_at_any_byte() -> None:
    """Whatever is left of it, the records stand, new ones can be written, and it is said."""
    folder = Path("/w/.memory")

    async def made() -> tuple[FaultyDisk, MovableClock]:
        clock = MovableClock()
        disk = FaultyDisk(clock=clock)
        disk.make_folder(folder.parent)
        store = MemoryStore(
            memory_in_files(folder, disk=disk, clock=clock), holder="a", clock=clock
        )
        for name in ("one", "two", "three"):
            await store.offer([wanted(name)], actor="user")
        await store.close()
        return disk, clock

    disk, _ = await made()
    journal = folder / ".wayfare" / "journal.jsonl"
    size = len(disk.read(journal))
    for cut in range(0, size, 97):
        disk, clock = await made()
        disk.open(journal).truncate(cut)
        told: list[Event] = []
        clock.advance(100)
        storage = memory_in_files(folder, disk=disk, clock=clock)
        store = MemoryStore(storage, holder="b", clock=clock, watch=told.append)
        await store.offer([wanted("four")], actor="user")
        assert sorted(store.entries) == ["four.md", "one.md", "three.md", "two.md"], cut
        assert any(e.name.startswith("memory.journal_") for e in told), cut
        assert {h.file for h in await log(store)} >= {"four.md", "one.md", "two.md", "three.md"}


async def test_a_holder_that_hangs_is_named_and_waited_for_only_so_long(tmp_path: Path) -> None:
    clock = MovableClock()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    storage = memory_in_files(tmp_path / ".memory", clock=clock, sleep=sleep)
    await storage.leases.acquire("memory", holder="hangs", seconds=60, wait_seconds=0)
    limits = MemoryLimits(lease_wait_seconds=10)
    store = MemoryStore(storage, holder="one", clock=clock, limits=limits)
    before = clock.monotonic()
    with pytest.raises(LeaseHeld, match="hangs"):
        await store.offer([wanted("a")], actor="user")
    assert clock.monotonic() - before == pytest.approx(10, abs=1)
    clock.advance(60)
    assert (await store.offer([wanted("a")], actor="user")).written.files == ("a.md",)


async def test_a_clock_set_back_by_a_year_stops_nothing(tmp_path: Path) -> None:
    clock = MovableClock(1_800_000_000.0)
    store = MemoryStore(memory_in_files(tmp_path / ".memory", clock=clock), holder="a", clock=clock)
    await store.offer([wanted("tea", "Green.", time=clock.now())], actor="extractor")
    clock.set(clock.now() - 365 * 86_400)
    said = wanted("tea", "White from now on.", time=clock.now() - 1)
    offered = await store.offer([said], actor="extractor")
    assert offered.verdicts[0].writes
    found = await store.read("tea")
    assert found is not None
    assert found.record.body == "White from now on."


async def test_records_that_differ_only_by_case_stand_beside_each_other(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    for name, body in (("Deploy.md", "one"), ("deploy.md", "two")):
        (folder / name).write_text(
            f"---\nname: {name[:-3]}\ndescription: d\ntype: user\n---\n{body}\n"
        )
    store = MemoryStore(memory_in_files(folder), holder="one")
    await store.rebuild_index()
    assert set(store.entries) == {"Deploy.md", "deploy.md"}
    assert (folder / "MEMORY.md").read_text().count("- [") == 2
