"""`python -m bench.memory_writer FOLDER PROCESS ROUNDS`: writes records beside others."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from wayfare.clock import SystemClock
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.limits import MemoryLimits
from wayfare.session.memory_wanted import memory_store

PATIENCE = MemoryLimits(lease_wait_seconds=600.0)
"""Eight processes on one folder wait longer for each other than people would."""


async def main(folder: Path, process: str, rounds: int) -> None:
    """Write so many records, one a transaction."""
    memory = memory_store(folder, clock=SystemClock(), limits=PATIENCE)
    for number in range(rounds):
        made = Candidate(
            name=f"p{process}-r{number}",
            type="project",
            description=f"from {process} round {number}",
            body=f"body {process} {number} " + "x" * 500 + " end",
            scope="persistent",
            evidence=Evidence(origin="owner"),
        )
        offered = await memory.store.offer([made], actor="user")
        if not offered.written.files:
            raise SystemExit(f"not written: {offered}")
    await memory.close()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
