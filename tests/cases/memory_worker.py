"""Run by the case operation `parallel`: one process that remembers its rounds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio

from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import MemoryStore
from wayfare.testing.memory_storage import memory_in_files


def filled(value: Any, process: str, number: int) -> Any:
    return str(value).replace("{p}", process).replace("{r}", str(number))


async def main(folder: Path, plan: list[dict[str, Any]], process: str, rounds: int) -> None:
    limits = MemoryLimits(lease_wait_seconds=120.0)
    store = MemoryStore(memory_in_files(folder), holder=f"process-{process}", limits=limits)
    for number in range(rounds):
        for written in plan:
            fields = {key: filled(value, process, number) for key, value in written.items()}
            made = Candidate(**fields, scope="persistent", evidence=Evidence(origin="owner"))
            await store.offer([made], actor="user")


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text())
    anyio.run(main, Path(sys.argv[1]), given, sys.argv[3], int(sys.argv[4]))
