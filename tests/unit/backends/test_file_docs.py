"""Local texts: other hands in the folder, links, and what is not a text."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from wayfare.backends import FileDocs, OsDisk
from wayfare.clock import MovableClock
from wayfare.errors import Conflict, LeaseHeld, NotFound, WriteFailed
from wayfare.store.ref import digest
from wayfare.testing import FaultyDisk


async def test_files_written_by_hand_are_texts(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    (folder / "tabs.md").write_bytes(b"use tabs")
    (folder / "a:b.md").write_bytes(b"odd, and there")
    docs = FileDocs(folder)
    assert await docs.names() == ("a:b", "tabs")
    assert await docs.read("a:b") == b"odd, and there"
    assert await docs.write("tabs", b"new", expected=digest(b"use tabs")) == digest(b"new")
    assert (folder / "tabs.md").read_bytes() == b"new"
    assert stat.S_IMODE((folder / "tabs.md").stat().st_mode) == 0o600


async def test_an_edit_by_hand_in_between_is_a_conflict(tmp_path: Path) -> None:
    docs = FileDocs(tmp_path / ".memory")
    version = await docs.write("tabs", b"ours", expected=None)
    before = await docs.stamps()
    (tmp_path / ".memory" / "tabs.md").write_bytes(b"mine")
    assert (await docs.stamps())["tabs"] != before["tabs"]
    with pytest.raises(Conflict) as conflict:
        await docs.write("tabs", b"ours, newer", expected=version)
    assert conflict.value.found == digest(b"mine")
    assert await docs.read("tabs") == b"mine"


async def test_what_is_no_text_is_not_listed(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    docs = FileDocs(folder, exclude=["MEMORY"])
    await docs.write("tabs", b"x", expected=None)
    for name in ("MEMORY.md", "memory.md", "notes.txt", ".draft.md", ".md"):
        (folder / name).write_bytes(b"x")
    (folder / "folder.md").mkdir()
    (folder.parent / "outside.md").write_bytes(b"secret")
    (folder / "link.md").symlink_to(folder.parent / "outside.md")
    os.mkfifo(folder / "pipe.md")
    with open(os.fsencode(folder) + b"/\xff.md", "wb"):  # a name that is no UTF-8
        pass
    assert await docs.names() == ("tabs",)
    assert set(await docs.stamps()) == {"tabs"}
    for name in ("MEMORY", "memory", "folder", "link", "pipe", "notes.txt", ".draft", "\udcff"):
        assert await docs.read(name) is None, name
    for name in ("MEMORY", "Memory", "link"):
        with pytest.raises(WriteFailed):
            await docs.write(name, b"x", expected=None)
    assert (folder.parent / "outside.md").read_bytes() == b"secret"


async def test_a_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    workspace.mkdir()
    (outside / "tabs.md").write_bytes(b"secret")
    (workspace / ".memory").symlink_to(outside)
    docs = FileDocs(workspace / ".memory")
    for look in (docs.names(), docs.stamps(), docs.read("tabs")):
        with pytest.raises(NotFound, match="link"):
            await look
    with pytest.raises(WriteFailed, match="link"):
        await docs.write("new", b"x", expected=None)
    assert [entry.name for entry in outside.iterdir()] == ["tabs.md"]


async def test_a_planted_temporary_file_is_not_written_through(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    for token in ("00000001", "00000002"):  # what this clock will draw
        (folder / f".wayfare-{token}.tmp").symlink_to(victim)
    docs = FileDocs(folder, clock=MovableClock(), sync="never")
    await docs.write("tabs", b"x", expected=None)
    assert await docs.read("tabs") == b"x"
    assert victim.read_bytes() == b"precious"


async def test_temporary_names_are_never_the_same_twice(tmp_path: Path) -> None:
    renamed: set[str] = set()

    class Watching(OsDisk):
        def rename(self, old: Path, new: Path) -> None:
            renamed.add(old.name)
            super().rename(old, new)

    docs = FileDocs(tmp_path / ".memory", disk=Watching(), sync="never")
    for number in range(20):
        await docs.write(f"text {number}", b"x", expected=None)
    assert len(renamed) == 20


async def test_another_process_that_keeps_writing_is_named(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    docs = FileDocs(folder, lock_wait_seconds=0)
    await docs.write("tabs", b"x", expected=None)
    held = OsDisk().lock(folder / ".lock", b'{"pid":7,"host":"h","started":"","since":1.0}')
    assert held is not None
    with pytest.raises(LeaseHeld, match="process 7 on h since 1970"):
        await docs.write("spaces", b"x", expected=None)
    held.release()
    await docs.write("spaces", b"x", expected=None)


async def test_a_failure_after_the_rename_puts_the_old_text_back() -> None:
    disk = FaultyDisk()
    docs = FileDocs(Path("/w/.memory"), disk=disk)
    version = await docs.write("tabs", b"old", expected=None)
    steps = [step.split()[0] for step in disk.trace[-6:]]
    assert steps == ["lock", "open", "write", "sync", "rename", "sync_folder"]
    disk.inject("io_error", at=len(steps))
    with pytest.raises(WriteFailed):
        await docs.write("tabs", b"new", expected=version)
    assert await docs.read("tabs") == b"old"
