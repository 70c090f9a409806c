"""Several processes write one memory: nothing is lost, nothing is read half."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from wayfare.memory.memory_store import MemoryStore
from wayfare.testing.memory_storage import memory_in_files

pytestmark = pytest.mark.anyio

PROCESSES, ROUNDS = 3, 12


def start(folder: Path, process: int) -> subprocess.Popen[str]:
    program = Path(__file__).with_name("memory_writer.py")
    return subprocess.Popen(
        [sys.executable, str(program), str(folder), str(process), str(ROUNDS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    children = [start(folder, process) for process in range(PROCESSES)]
    reader = MemoryStore(memory_in_files(folder), holder="reader")
    seen = 0
    try:
        while any(child.poll() is None for child in children):
            await reader.refresh()
            for file in list(reader.entries)[-5:]:
                found = await reader.read(file)
                assert found is not None
                assert found.record.body.endswith(" end"), "half a record was read"
                seen += 1
    finally:
        ended = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0] * PROCESSES, ended
    assert seen > 0

    store = MemoryStore(memory_in_files(folder), holder="after")
    await store.sync()
    assert len(store.entries) == PROCESSES * ROUNDS
    index = (folder / "MEMORY.md").read_text()
    linked = re.findall(r"\]\(([^)]+)\)", index)
    assert sorted(linked) == sorted(store.entries)
    told = [msgspec.json.decode(line.content) async for line in store.storage.journal.read()]
    puts = [line for line in told if line["op"] == "put"]
    assert len(puts) == PROCESSES * ROUNDS
    assert not [line for line in told if line["op"] in ("external", "rollback")]
    assert not [p for p in folder.rglob("*") if p.name.endswith((".tmp", ".lease"))]
