"""Two who write at once, in one process and in several: one log has one writer, no change of the
notes is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from wayfare.backends import FileLog, is_json_line
from wayfare.errors import LeaseHeld
from wayfare.session import Places
from wayfare.session.compacting import notes_docs

ROUNDS, WRITERS = 24, 3
_ADDS = """
import sys, anyio
from pathlib import Path
from wayfare.errors import Conflict
from wayfare.session import Places
from wayfare.session.compacting import notes_docs
from wayfare.store.ref import digest

async def main(folder, writer, rounds):
    docs = notes_docs(Places(workspace=Path(folder)), "s")
    for number in range(rounds):
        while True:
            present = await docs.read("notes")
            expected = None if present is None else digest(present)
            try:
                text = (present or b"") + f"{writer}-{number}\\n".encode()
                await docs.write("notes", text, expected=expected)
            except Conflict:
                continue
            break

anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
"""
_OPENS = """
import sys, anyio
from pathlib import Path
from wayfare.backends import FileLog, is_json_line
from wayfare.errors import LeaseHeld

async def main(path):
    log = FileLog(Path(path), is_whole=is_json_line)
    try:
        await log.open()
    except LeaseHeld:
        print("held")
    else:
        await log.append([b'{"id":"stranger"}'])
        print("opened")

anyio.run(main, sys.argv[1])
"""


async def together_points(share: int) -> AsyncIterator[tuple[str, str]]:
    """Yields who wrote together and what was found wrong; empty when all was well."""
    async for wrong in _one_log(max(ROUNDS // share, 2)):
        yield "two writers of a log", wrong
    yield "two processes, one log", await _second_process()
    async for wrong in _notes(max(ROUNDS // share, 2)):
        yield "processes adding to notes", wrong


async def _one_log(rounds: int) -> AsyncIterator[str]:
    """A second writer is refused at every moment; a reader sees whole lines only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s" / "transcript.jsonl"
        first = FileLog(path, is_whole=is_json_line)
        await first.open()
        for number in range(rounds):
            second = FileLog(path, is_whole=is_json_line)
            try:
                await second.open()
            except LeaseHeld:
                wrong = ""
            else:
                wrong = f"round {number}: two writers hold one log"
            await first.append([b'{"id":%d}' % number])
            seen = [line.content async for line in second.read()]
            if seen[-1:] != [b'{"id":%d}' % number]:
                wrong = f"round {number}: a reader does not see what was acknowledged"
            yield wrong
        await first.close()
        third = FileLog(path, is_whole=is_json_line)
        opened = await third.open()
        yield "" if opened.lines == rounds else "lines are lost"
        await third.close()


async def _second_process() -> str:
    """Another process is refused while the log is open, and welcome afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s" / "transcript.jsonl"
        log = FileLog(path, is_whole=is_json_line)
        await log.open()
        await log.append([b'{"id":1}'])
        during = _program(_OPENS, str(path)).communicate()[0].strip()
        lines = [line.content async for line in log.read()]
        await log.close()
        after = _program(_OPENS, str(path)).communicate()[0].strip()
    if (during, after) != ("held", "opened"):
        return f"during: {during!r}, after: {after!r}"
    return "" if lines == [b'{"id":1}'] else "a stranger wrote into an open log"


async def _notes(rounds: int) -> AsyncIterator[str]:
    """Processes add a line each by compare-and-swap: at the end every line is there, once."""
    with tempfile.TemporaryDirectory() as folder:
        running = [_program(_ADDS, folder, str(w), str(rounds)) for w in range(WRITERS)]
        for one in running:
            one.communicate()
        content = await notes_docs(Places(workspace=Path(folder)), "s").read("notes") or b""
    found = content.decode().splitlines()
    for writer, one in enumerate(running):
        for number in range(rounds):
            times = found.count(f"{writer}-{number}")
            wrong = f"{writer}-{number} stands {times} times, exit {one.returncode}"
            yield "" if times == 1 and one.returncode == 0 else wrong


def _program(text: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", text, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
