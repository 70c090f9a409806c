"""Local log files: torn tails, the one writer, flushing, and a hostile folder."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from wayfare.backends import FileLog, Sync, is_json_line
from wayfare.clock import MovableClock
from wayfare.errors import LeaseHeld, NotFound, WriteFailed
from wayfare.testing import FaultyDisk

PATH = Path("/w/transcript.jsonl")


async def contents(log: FileLog) -> list[bytes]:
    return [line.content async for line in log.read()]


@pytest.mark.parametrize(
    ("stored", "lines", "torn"),
    [
        (b'{"a":1}\n{"b":', [b'{"a":1}'], b'{"b":'),
        (b'{"a":1}\n{"b":2}', [b'{"a":1}'], b'{"b":2}'),
        (b'{"a":1}\n{"b":\n', [b'{"a":1}'], b'{"b":\n'),
        (b'{"a":1}\n' + b"\0" * 70_000, [b'{"a":1}'], b"\0" * 70_000),
        (b'{"a":1}\n\0\0\0\n{"c\n', [b'{"a":1}'], b'\0\0\0\n{"c\n'),
        (b'{"never', [], b'{"never'),
        (b'{"a":1}\n{"b":"' + b"x" * 200_000, [b'{"a":1}'], b'{"b":"' + b"x" * 200_000),
        (b"", [], b""),
        (b'{"a":1}\r\n', [b'{"a":1}\r'], b""),
    ],
)
async def test_a_torn_tail_is_set_aside_and_told(
    stored: bytes, lines: list[bytes], torn: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(stored)
    log = FileLog(path, is_whole=is_json_line)
    opened = await log.open()
    assert (opened.lines, opened.torn_bytes) == (len(lines), len(torn))
    if torn:
        assert opened.torn_path == f"{path}.torn-1"
        assert Path(opened.torn_path).read_bytes() == torn
    await log.append([b'{"next":1}'])
    assert await contents(log) == [*lines, b'{"next":1}']
    await log.close()


async def test_every_torn_tail_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    for number in (1, 2, 3):
        with path.open("ab") as file:
            file.write(b"torn %d" % number)
        log = FileLog(path)
        assert (await log.open()).torn_path == f"{path}.torn-{number}"
        await log.close()
    assert [(tmp_path / f"transcript.jsonl.torn-{n}").read_bytes() for n in (1, 2, 3)] == [
        b"torn 1",
        b"torn 2",
        b"torn 3",
    ]


async def test_a_reader_stops_before_a_torn_tail_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    reader = FileLog(path)
    assert await contents(reader) == [b"one", b"two"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["transcript.jsonl"]


async def test_a_reader_follows_a_writer_that_cuts_a_tail_off(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(b"one\n" + b"torn" * 20)
    reader = FileLog(path)
    assert await contents(reader) == [b"one"]
    log = FileLog(path)
    await log.open()
    await log.append([b"%d" % number for number in range(100)])
    assert await contents(reader) == [b"one", *(b"%d" % number for number in range(100))]
    await log.close()


async def test_another_process_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    with WriterProcess(path, end=lambda process: process.terminate()) as process:
        with pytest.raises(LeaseHeld, match=rf"process {process.pid} on .* since \d{{4}}-") as held:
            await FileLog(path).open()
        assert held.value.holder.startswith(f"process {process.pid} on ")
        assert await contents(FileLog(path)) == [b"from the first"]


async def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    with WriterProcess(path, end=lambda process: process.send_signal(signal.SIGKILL)):
        pass
    log = FileLog(path)
    assert (await log.open()).lines == 1
    await log.append([b"mine"])
    await log.close()


class WriterProcess:
    """A process that holds a log open for writing until the block ends."""

    def __init__(self, path: Path, end: Callable[[subprocess.Popen[str]], None]) -> None:
        code = (
            "import anyio, sys, pathlib\n"
            "from wayfare.backends import FileLog\n"
            "async def main():\n"
            "    log = FileLog(pathlib.Path(sys.argv[1]))\n"
            "    await log.open()\n"
            "    await log.append([b'from the first'])\n"
            "    print('open', flush=True)\n"
            "    sys.stdin.read()\n"
            "anyio.run(main)\n"
        )
        self._end = end
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def __enter__(self) -> subprocess.Popen[str]:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "open\n"
        return self._process

    def __exit__(self, *_: object) -> None:
        self._end(self._process)
        self._process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("sync", "flushes"), [("always", 3), ("interval", 1), ("never", 0)], ids=str
)
async def test_the_sync_policy_says_when_to_flush(sync: Sync, flushes: int) -> None:
    disk, clock = FaultyDisk(), MovableClock()
    log = FileLog(PATH, disk=disk, sync=sync, sync_interval_seconds=5, clock=clock)
    await log.open()
    before = len(disk.trace)
    for _ in range(3):
        await log.append([b"line"])
        clock.advance(1)
    assert [step.split()[0] for step in disk.trace[before:]].count("sync") == flushes
    clock.advance(5)
    await log.append([b"line"])
    await log.close()
    disk.crash("nothing")
    assert len(await contents(FileLog(PATH, disk=disk))) == (0 if sync == "never" else 4)


async def test_one_append_is_one_write() -> None:
    disk = FaultyDisk()
    log = FileLog(PATH, disk=disk, sync="never")
    await log.open()
    before = len(disk.trace)
    await log.append([b"line"] * 1_000)
    assert disk.trace[before:] == (f"write {PATH}",)


async def test_a_full_disk_is_said_and_the_log_ends_as_before() -> None:
    disk = FaultyDisk(seed=3)
    log = FileLog(PATH, disk=disk)
    await log.open()
    await log.append([b"one"])
    disk.inject("full", times=0)
    with pytest.raises(WriteFailed, match="disk full") as refused:
        await log.append([b"two" * 100, b"three" * 100])
    assert (refused.value.path, refused.value.reason) == (str(PATH), "disk full")
    assert await contents(log) == [b"one"]
    assert disk.read(PATH) == b"one\n"
    disk.heal()
    await log.append([b"two"])
    assert disk.read(PATH) == b"one\ntwo\n"


async def test_what_could_not_be_cut_off_is_cut_off_before_the_next_append() -> None:
    disk = FaultyDisk(seed=3)
    log = FileLog(PATH, disk=disk)
    await log.open()
    await log.append([b"one"])
    disk.inject("io_error", times=0)
    with pytest.raises(WriteFailed):
        await log.append([b"two" * 100])
    assert len(disk.read(PATH)) > 4, "the truncation failed, too"
    assert await contents(log) == [b"one"]
    disk.heal()
    await log.append([b"three"])
    assert disk.read(PATH) == b"one\nthree\n"


async def test_a_slow_disk_does_not_hold_up_the_others() -> None:
    """While one append waits for the disk in its thread, other tasks run."""
    order: list[str] = []
    disk = FaultyDisk(sleep=lambda _: anyio.from_thread.run_sync(order.append, "disk waits"))
    log = FileLog(PATH, disk=disk)
    await log.open()
    disk.inject("slow", seconds=9)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.append, [b"line"])
    assert order == ["disk waits"]


async def test_a_cancelled_append_happened_or_did_not() -> None:
    disk = FaultyDisk()
    log = FileLog(PATH, disk=disk)
    await log.open()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await log.append([b"cancelled before"])
    await log.append([b"next"])
    assert await contents(log) == [b"next"]


async def test_closing_works_while_cancelled(tmp_path: Path) -> None:
    log = FileLog(tmp_path / "transcript.jsonl")
    await log.open()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await log.close()
    other = FileLog(tmp_path / "transcript.jsonl")
    await other.open()
    await other.close()


async def test_only_the_owner_can_read_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / ".transcripts" / "s" / "transcript.jsonl"
    path.parent.parent.parent.chmod(0o755)
    log = FileLog(path, gitignore_in=tmp_path / ".transcripts")
    await log.open()
    await log.close()
    for entry in (path, path.with_name(".lock"), tmp_path / ".transcripts" / ".gitignore"):
        assert stat.S_IMODE(entry.stat().st_mode) == 0o600, entry
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


async def test_the_gitignore_is_written_once_and_then_the_owners(tmp_path: Path) -> None:
    ignore = tmp_path / ".transcripts" / ".gitignore"
    for session in ("a", "b"):
        log = FileLog(
            tmp_path / ".transcripts" / session / "t.jsonl", gitignore_in=tmp_path / ".transcripts"
        )
        await log.open()
        await log.close()
        if session == "a":
            assert ignore.read_text() == "*\n"
            ignore.unlink()
    assert not ignore.exists()


async def test_a_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / ".transcripts").symlink_to(outside)
    log = FileLog(workspace / ".transcripts" / "s" / "t.jsonl", inside=workspace)
    with pytest.raises(WriteFailed, match="link"):
        await log.open()
    assert list(outside.iterdir()) == []


async def test_a_log_that_is_a_link_is_neither_written_nor_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key\n")
    (tmp_path / "s").mkdir()
    path = tmp_path / "s" / "transcript.jsonl"
    path.symlink_to(secret)
    with pytest.raises(WriteFailed, match="link"):
        await FileLog(path).open()
    with pytest.raises(NotFound, match="link"):
        await contents(FileLog(path))
    assert secret.read_text() == "key\n"


async def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("not a folder")
    with pytest.raises(WriteFailed, match="a file stands where a folder must be"):
        await FileLog(tmp_path / "s" / "transcript.jsonl").open()


async def test_a_read_error_is_said() -> None:
    disk = FaultyDisk()
    log = FileLog(PATH, disk=disk)
    await log.open()
    await log.append([b"one"])
    disk.inject("read_error")
    with pytest.raises(NotFound, match="input/output"):
        await contents(log)
    assert await contents(log) == [b"one"]
