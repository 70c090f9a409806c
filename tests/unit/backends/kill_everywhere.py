"""Run by `test_real_kills`: kills a child at every operation and looks at what it left.

A program of its own, because it forks: a test runner has threads.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio

from wayfare.backends import FileBlobs, FileDocs, FileLog, is_json_line
from wayfare.store import Ref
from wayfare.testing import KillingDisk

BATCHES = [[b'{"n":"%d.%d"}' % (batch, part) for part in range(batch)] for batch in (1, 2, 3)]
ALL = [line for batch in BATCHES for line in batch]
CONTENT = b"a full result\n" * 200


async def write(workspace: Path, disk: KillingDisk, acknowledge: int) -> None:
    """A log, a blob and a text; one byte into `acknowledge` after each thing that is safe."""
    log = FileLog(workspace / "log" / "t.jsonl", disk=disk)
    await log.open()
    for batch in BATCHES:
        await log.append(batch)
        os.write(acknowledge, b"l" * len(batch))
    await FileBlobs(workspace / "blobs", workspace=workspace, disk=disk).put("c.txt", CONTENT)
    os.write(acknowledge, b"b")
    await FileDocs(workspace / "docs", disk=disk).write("tabs", b"use tabs", expected=None)
    os.write(acknowledge, b"d")
    await log.close()


async def check(workspace: Path, acknowledged: bytes, blob: Ref) -> None:
    log = FileLog(workspace / "log" / "t.jsonl", is_whole=is_json_line)
    await log.open()
    lines = [line.content async for line in log.read()]
    assert lines == ALL[: len(lines)]
    assert len(lines) >= acknowledged.count(b"l")
    await log.close()
    blobs = FileBlobs(workspace / "blobs", workspace=workspace)
    if b"b" in acknowledged or await blobs.has(blob):
        assert await blobs.get(blob) == CONTENT
    docs = FileDocs(workspace / "docs")
    text = await docs.read("tabs")
    assert text in ((b"use tabs",) if b"d" in acknowledged else (None, b"use tabs"))
    if text is None:
        await docs.write("tabs", b"after", expected=None)


def run(workspace: Path, at: int) -> tuple[int, bytes]:
    """How a child that is killed at operation `at` ended, and what it had acknowledged."""
    workspace.mkdir()
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        anyio.run(write, workspace, KillingDisk(at=at), written)
        os._exit(0)
    os.close(written)
    with os.fdopen(read, "rb") as pipe:
        acknowledged = pipe.read()
    return os.waitpid(child, 0)[1], acknowledged


def main(folder: Path) -> int:
    status, _ = run(folder / "0", 0)
    assert status == 0
    stored = next((folder / "0" / "blobs").iterdir())
    blob = Ref(path=f"blobs/{stored.name}", bytes=len(CONTENT))
    kills = 0
    while (status == 0 and kills == 0) or os.WIFSIGNALED(status):
        status, acknowledged = run(folder / str(kills + 1), kills + 1)
        anyio.run(check, folder / str(kills + 1), acknowledged, blob)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            kills += 1
    return kills


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
