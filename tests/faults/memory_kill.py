"""Run by `test_memory_kills`: a consolidation is killed at every operation on real files.

A program of its own, because it forks: a test runner has threads.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import anyio

from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.transaction import Change
from wayfare.testing import KillingDisk
from wayfare.testing.memory_storage import memory_in_files

OLD = {
    f"k{n}.md": f"---\nname: k{n}\ndescription: fact {n}\ntype: project\n---\n\nFACT-{n}\n".encode()
    for n in range(1, 4)
}
NEW = {
    "merged.md": b"---\nname: merged\ndescription: facts\ntype: project\n---\n\n"
    b"FACT-1 FACT-2 FACT-3\n"
}
CHANGES = [
    Change(file="merged.md", before=None, after=NEW["merged.md"]),
    *(Change(file=file, before=text, after=None) for file, text in OLD.items()),
]


async def prepare(folder: Path) -> None:
    folder.mkdir(parents=True)
    for file, text in OLD.items():
        (folder / file).write_bytes(text)
    store = MemoryStore(memory_in_files(folder), holder="before")
    await store.rebuild_index()
    await store.close()


async def consolidate(folder: Path, disk: KillingDisk) -> None:
    store = MemoryStore(memory_in_files(folder, disk=disk), holder="killed")
    await store.transact(CHANGES, actor="consolidator", reason="merge")
    await store.close()


async def check(folder: Path) -> str:
    """The lock of the dead is free at once, and the set is whole."""
    store = MemoryStore(memory_in_files(folder), holder="after")
    await store.sync()
    found = {p.name: p.read_bytes() for p in folder.glob("*.md") if p.name != "MEMORY.md"}
    assert found in (OLD, NEW), sorted(found)
    listed = re.findall(r"\]\(([^)]+)\)", (folder / "MEMORY.md").read_text())
    assert sorted(listed) == sorted(found)
    assert store.state.pending is None
    return "old" if found == OLD else "new"


def killed_at(folder: Path, at: int) -> int:
    anyio.run(prepare, folder)
    child = os.fork()
    if child == 0:
        anyio.run(consolidate, folder, KillingDisk(at=at))
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(root: Path) -> None:
    seen: set[str] = set()
    at, status = 0, -1
    while status != 0:
        at += 1
        folder = root / str(at) / ".memory"
        status = killed_at(folder, at)
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
        seen.add(anyio.run(check, folder))
    print(at - 1, *sorted(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
