"""Several processes write one memory while others read: what is lost, what is read half."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import msgspec

from wayfare.clock import SystemClock
from wayfare.session.memory_wanted import memory_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What came of it: records expected and found, puts in the journal, records the index lists
    or says are listed elsewhere, records read meanwhile and those that were half read."""

    processes: int
    rounds: int
    seconds: float
    failed: int
    records: int
    puts: int
    indexed: int
    read_meanwhile: int
    half_read: int

    @property
    def whole(self) -> bool:
        """Whether nothing was lost and nothing was read half."""
        wanted = self.processes * self.rounds
        counts = (self.records, self.puts, self.indexed)
        return counts == (wanted,) * 3 and not self.failed and not self.half_read


async def together(processes: int, rounds: int) -> Together:
    """Let so many processes write so many records each."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / ".memory"
        folder.mkdir()
        began = time.perf_counter()
        children = [
            subprocess.Popen(
                [sys.executable, "-m", "bench.memory_writer", str(folder), str(n), str(rounds)]
            )
            for n in range(processes)
        ]
        read = half = 0
        reader = memory_store(folder, clock=SystemClock())
        while any(child.poll() is None for child in children):
            await reader.store.refresh()
            for file in list(reader.store.entries)[-5:]:
                found = await reader.store.read(file)
                read += 1
                half += found is None or not found.record.body.endswith(" end")
            await anyio.sleep(0.2)
        seconds = time.perf_counter() - began
        reader.index.close()
        after = memory_store(folder, clock=SystemClock())
        await after.store.sync()
        lines = [
            msgspec.json.decode(line.content) async for line in after.store.storage.journal.read()
        ]
        pages = [folder / "MEMORY.md", *(folder / ".wayfare" / "index").glob("*.md")]
        listed = {
            file
            for page in pages
            for file in re.findall(r"\]\((?:\.\./)*([^)/]+)\)", page.read_text("utf-8"))
        }
        done = Together(
            processes=processes,
            rounds=rounds,
            seconds=seconds,
            failed=sum(child.returncode != 0 for child in children),
            records=len(after.store.entries),
            puts=sum(line["op"] == "put" for line in lines),
            indexed=len(listed & set(after.store.entries)),
            read_meanwhile=read,
            half_read=half,
        )
        await after.close()
        return done
