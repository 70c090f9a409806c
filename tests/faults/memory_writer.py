"""Run by `test_memory_processes`: writes records into one folder beside others doing the same."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import MemoryStore
from wayfare.testing.memory_storage import memory_in_files


async def main(folder: Path, process: str, rounds: int) -> None:
    limits = MemoryLimits(lease_wait_seconds=100.0)
    store = MemoryStore(memory_in_files(folder), holder=f"writer-{process}", limits=limits)
    for number in range(rounds):
        made = Candidate(
            name=f"p{process}-r{number}",
            type="project",
            description=f"from {process} round {number}",
            body=f"body {process} {number} " + "x" * 2_000 + " end",
            scope="persistent",
            evidence=Evidence(origin="owner"),
        )
        offered = await store.offer([made], actor="user")
        assert offered.written.files, offered
    await store.close()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
