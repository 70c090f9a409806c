"""The real and the simulated disk do the same, and the simulated one forgets as it says."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.backends import Disk, OsDisk
from wayfare.testing import Fault, FaultyDisk, PowerCut


@pytest.fixture(params=["real", "simulated"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Disk, Path]:
    """A disk and a folder on it."""
    if request.param == "real":
        return OsDisk(), tmp_path
    disk = FaultyDisk()
    disk.make_folder(Path("/w"))
    return disk, Path("/w")


def put(disk: Disk, path: Path, content: bytes) -> None:
    file = disk.open(path)
    file.write(content)
    file.close()


def test_files_grow_at_their_end(place: tuple[Disk, Path]) -> None:
    disk, folder = place
    path = folder / "file"
    one, two = disk.open(path), disk.open(path)
    assert one.write(b"one ") == 4
    assert two.write(memoryview(b"two ")) == 4
    one.write(b"three")
    assert disk.read(path) == b"one two three"
    assert disk.read(path, 4) == b"two three"
    assert disk.read(path, 4, 3) == b"two"
    assert disk.read(path, 8, 100) == b"three"
    assert disk.read(path, 100, 5) == b""
    one.truncate(5)
    two.write(b"!")
    assert disk.read(path) == b"one t!"
    one.sync()
    one.close()
    one.close()
    two.close()
    with pytest.raises(OSError):
        one.write(b"x")


def test_stat_tells_kind_size_and_identity(place: tuple[Disk, Path]) -> None:
    disk, folder = place
    assert disk.stat(folder / "file") is None
    assert disk.stat(folder / "no" / "such") is None
    put(disk, folder / "file", b"12345")
    disk.make_folder(folder / "sub")
    first = disk.stat(folder / "file")
    assert first is not None
    assert (first.kind, first.size) == ("file", 5)
    assert disk.stat(folder / "file") == first
    assert disk.entries(folder)["file"] == first
    assert {name: found.kind for name, found in disk.entries(folder).items()} == {
        "file": "file",
        "sub": "folder",
    }
    assert disk.entries(folder / "none") == {}
    put(disk, folder / "new", b"54321")
    disk.rename(folder / "new", folder / "file")
    second = disk.stat(folder / "file")
    assert second is not None
    assert second.stamp != first.stamp
    assert set(disk.entries(folder)) == {"file", "sub"}


@pytest.mark.parametrize(
    ("operation", "number"),
    [
        (lambda disk, folder: disk.read(folder / "none"), errno.ENOENT),
        (lambda disk, folder: disk.read(folder / "sub"), errno.EISDIR),
        (lambda disk, folder: disk.open(folder / "file", exclusive=True), errno.EEXIST),
        (lambda disk, folder: disk.open(folder / "sub"), errno.EISDIR),
        (lambda disk, folder: disk.open(folder / "none" / "file"), errno.ENOENT),
        (lambda disk, folder: disk.open(folder / "file" / "file"), errno.ENOTDIR),
        (lambda disk, folder: disk.make_folder(folder / "sub"), errno.EEXIST),
        (lambda disk, folder: disk.make_folder(folder / "none" / "sub"), errno.ENOENT),
        (lambda disk, folder: disk.rename(folder / "none", folder / "file"), errno.ENOENT),
        (lambda disk, folder: disk.unlink(folder / "none"), errno.ENOENT),
        (lambda disk, folder: disk.unlink(folder / "sub"), errno.EISDIR),
        (lambda disk, folder: disk.entries(folder / "file"), errno.ENOTDIR),
        (lambda disk, folder: disk.sync_folder(folder / "none"), errno.ENOENT),
        (lambda disk, folder: disk.sync_folder(folder / "file"), errno.ENOTDIR),
    ],
)
def test_both_refuse_alike(
    operation: Callable[[Disk, Path], object], number: int, place: tuple[Disk, Path]
) -> None:
    disk, folder = place
    put(disk, folder / "file", b"x")
    disk.make_folder(folder / "sub")
    with pytest.raises(OSError) as refused:
        operation(disk, folder)
    assert refused.value.errno == number


def test_a_lock_has_one_holder_and_a_note(place: tuple[Disk, Path]) -> None:
    disk, folder = place
    path = folder / ".lock"
    held = disk.lock(path, b"a rather long note of the first")
    assert held is not None
    assert disk.lock(path, b"second") is None
    assert disk.read(path) == b"a rather long note of the first"
    held.release()
    held.release()
    again = disk.lock(path, b"second")
    assert again is not None
    assert disk.read(path) == b"second"
    again.release()


def test_the_real_disk_makes_private_files_and_follows_no_link(tmp_path: Path) -> None:
    disk = OsDisk()
    disk.make_folder(tmp_path / "sub")
    put(disk, tmp_path / "sub" / "file", b"x")
    assert stat.S_IMODE((tmp_path / "sub").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "sub" / "file").stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "sub" / "file")
    for refused in (disk.open, disk.read):
        with pytest.raises(OSError) as error:
            refused(link)
        assert error.value.errno == errno.ELOOP
    found = disk.stat(link)
    assert found is not None
    assert found.kind == "link"
    assert disk.resolve(link) == (tmp_path / "sub" / "file").resolve()


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert OsDisk().read(tmp_path / "pipe", 0, 10) == b""
    with pytest.raises(OSError) as refused:
        OsDisk().open(tmp_path / "pipe")
    assert refused.value.errno == errno.ENXIO


def simulated() -> FaultyDisk:
    disk = FaultyDisk()
    disk.make_folder(Path("/w"))
    disk.sync_folder(Path("/"))
    return disk


FILE = Path("/w/file")


def test_what_was_not_flushed_is_forgotten() -> None:
    disk = simulated()
    file = disk.open(FILE)
    file.write(b"safe")
    file.sync()
    disk.sync_folder(FILE.parent)
    file.write(b" lost")
    put(disk, Path("/w/other"), b"never flushed")
    disk.crash("nothing")
    assert disk.read(FILE) == b"safe"
    assert set(disk.entries(FILE.parent)) == {"file"}


def test_a_flushed_file_without_a_flushed_name_is_gone() -> None:
    disk = simulated()
    file = disk.open(FILE)
    file.write(b"safe")
    file.sync()
    disk.crash("nothing")
    assert disk.entries(FILE.parent) == {}


def test_a_rename_before_the_flush_can_leave_an_empty_file() -> None:
    """The mistake that temp, rename and no flush makes; a disk that hides it proves nothing."""
    disk = simulated()
    put(disk, Path("/w/temp"), b"content")
    disk.rename(Path("/w/temp"), FILE)
    disk.sync_folder(FILE.parent)
    disk.crash("nothing")
    assert disk.read(FILE) == b""


def test_any_prefix_of_an_unflushed_write_may_stay() -> None:
    lengths: set[int] = set()
    for seed in range(200):
        disk = FaultyDisk(seed=seed)
        file = disk.open(Path("/file"))
        disk.sync_folder(Path("/"))
        file.sync()
        file.write(b"12345")
        disk.crash("some")
        content = disk.read(Path("/file"))
        assert b"12345".startswith(content)
        lengths.add(len(content))
    assert lengths == {0, 1, 2, 3, 4, 5}


def test_a_failed_flush_loses_what_it_was_to_flush() -> None:
    disk = simulated()
    file = disk.open(FILE)
    disk.sync_folder(FILE.parent)
    file.write(b"one ")
    disk.inject("io_error")
    with pytest.raises(OSError):
        file.sync()
    assert disk.read(FILE) == b"one ", "the page cache still shows it"
    file.write(b"two")
    file.sync()
    disk.crash("nothing")
    assert disk.read(FILE) == b"\0\0\0\0two"


def test_the_same_seed_does_the_same() -> None:
    def run(seed: int) -> tuple[bytes, tuple[str, ...]]:
        disk = FaultyDisk(seed=seed)
        file = disk.open(Path("/file"))
        disk.sync_folder(Path("/"))
        disk.inject("short_write", times=0)
        for _ in range(20):
            file.write(b"0123456789")
        disk.crash("some")
        return disk.read(Path("/file")), disk.trace

    assert run(1) == run(1)
    assert len({run(seed)[0] for seed in range(10)}) > 5


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("full", errno.ENOSPC),
        ("io_error", errno.EIO),
        ("denied", errno.EACCES),
        ("rename_refused", errno.EPERM),
    ],
)
def test_faults_come_when_they_were_told_to(fault: Fault, number: int) -> None:
    disk = simulated()
    put(disk, Path("/w/a"), b"x")
    disk.inject(fault, at=2, times=2)
    outcomes: list[int] = []
    for name in ("b", "c", "d", "e"):
        try:
            if fault == "rename_refused":
                put(disk, Path("/w/t"), b"x")
                disk.rename(Path("/w/t"), Path("/w/a"))
            else:
                disk.make_folder(Path(f"/w/{name}"))
            outcomes.append(0)
        except OSError as error:
            outcomes.append(error.errno or 0)
    assert outcomes == [0, number, number, 0]


def test_a_power_cut_ends_everything_until_the_disk_is_on_again() -> None:
    disk = simulated()
    file = disk.open(FILE)
    disk.inject("crash", at=2)
    file.write(b"first")
    with pytest.raises(PowerCut):
        file.write(b"second")
    for operation in (file.sync, lambda: disk.read(FILE), lambda: disk.stat(FILE)):
        with pytest.raises(PowerCut):
            operation()
    disk.crash("all")
    assert disk.read(FILE) == b"firstsecond"
    with pytest.raises(PowerCut):
        file.write(b"from before")


def test_a_power_cut_frees_the_locks() -> None:
    disk = simulated()
    assert disk.lock(Path("/w/.lock"), b"") is not None
    disk.crash()
    assert disk.lock(Path("/w/.lock"), b"") is not None
