"""How memory's times grow with the number of records: open, query, write, plan check."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from bench.recall.sets import Collection
from wayfare.clock import SystemClock
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.consolidate import batches
from wayfare.memory.folder import read_file
from wayfare.memory.gate import GateContext
from wayfare.memory.limits import DEFAULT_LIMITS
from wayfare.memory.plan import Held, read_plan, resolve
from wayfare.memory.record import TYPES, Record, read_record
from wayfare.memory.record_text import render
from wayfare.session.memory_wanted import OpenMemory, memory_store

SEED = 11
QUERIES = 100
WRITES = 15
MERGES = 10
LARGE_RECORDS = 20_000
"""From here on a tenth of the queries and a third of the writes: medians of few are enough where
making the folder takes longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One size. `plain_open_seconds` is without any cache, `open_seconds` with all of them; the
    others are medians of one query, one write with its index, one plan's check. `peak_mib` is the
    most memory the process had resident over all of it; 0 where the system does not tell."""

    records: int
    plain_open_seconds: float
    open_seconds: float
    query_ms: float
    write_ms: float
    plan_ms: float
    peak_mib: float


async def scale(collection: Collection, sizes: Sequence[int]) -> list[Row]:
    """Measure every size in a folder and a process of its own.

    Records are made of the set's own sentences, mixed anew, so that words keep the frequencies of
    real text; the queries are the set's.
    """
    rows: list[Row] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / ".memory"
            folder.mkdir()
            for record in _records(collection, size):
                (folder / f"{record.name}.md").write_text(render(record), encoding="utf-8")
            (folder / ".wayfare").mkdir()
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
                rows.append(apart.submit(_row, folder, _asked(collection, size), size).result())
    return rows


def _asked(collection: Collection, size: int) -> list[str]:
    queries = [query.query for query in collection.queries]
    count = QUERIES // 10 if size >= LARGE_RECORDS else QUERIES
    return random.Random(SEED).sample(queries, min(count, len(queries)))


def _row(folder: Path, asked: Sequence[str], size: int) -> Row:
    """One size, in this process."""
    return asyncio.run(_measured(folder, asked, size))


async def _measured(folder: Path, asked: Sequence[str], size: int) -> Row:
    plain_open, memory = await _opened(folder)
    await memory.store.sync()
    await memory.search.sync()
    await memory.close()
    cached_open, memory = await _opened(folder)
    query_ms = statistics.median([_ms(lambda q=q: memory.search.rank(q, 5)) for q in asked])
    writes = WRITES // 3 if size >= LARGE_RECORDS else WRITES
    write_ms = statistics.median([await _write(memory, n) for n in range(writes)])
    plan_ms = await _plan(memory)
    await memory.close()
    return Row(
        records=size,
        plain_open_seconds=plain_open,
        open_seconds=cached_open,
        query_ms=query_ms,
        write_ms=write_ms,
        plan_ms=plan_ms,
        peak_mib=_peak_mib(),
    )


def _peak_mib() -> float:
    """From Linux's own record; getrusage would count the parent's memory, inherited at its start."""
    status = Path("/proc/self/status")
    found = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.M) if status.exists() else None
    return int(found[1]) / 1_024 if found else 0.0


async def _opened(folder: Path) -> tuple[float, OpenMemory]:
    """Seconds until records and words are there, and the memory."""
    began = time.perf_counter()
    memory = memory_store(folder, clock=SystemClock())
    await memory.store.open()
    await memory.search.sync()
    return time.perf_counter() - began, memory


async def _write(memory: OpenMemory, number: int) -> float:
    candidate = Candidate(
        name=f"measured-{number}",
        description=f"The measured fact of the {number}th write",
        type="project",
        body=f"Write number {number} says that the quota of shelf {number * 37} is {number}.",
        scope="persistent",
        evidence=Evidence(origin="owner"),
    )

    async def work() -> None:
        await memory.store.offer([candidate], actor="user")
        await memory.search.sync()

    return await _ms_of(work)


async def _plan(memory: OpenMemory) -> float:
    """The check of a plan of so many merges, on the first batch a consolidation reads."""
    store = memory.store
    held: list[Held] = []
    for entry in list(store.folder.in_order())[:400]:
        content = await read_file(store.storage.records, entry.file)
        if content is not None:
            record = read_record(entry.file, content).record
            held.append(Held(file=entry.file, content=content, record=record))
    batch = batches(held, store.limits.consolidate_batch_chars)[0]
    pairs = list(zip(batch[::2], batch[1::2], strict=False))[:MERGES]
    operations = [
        {
            "op": "merge",
            "files": [a.file, b.file],
            "record": {
                "name": a.record.name,
                "type": a.record.type,
                "description": a.record.description,
                "body": f"{a.record.body}\n{b.record.body}",
            },
        }
        for a, b in pairs
    ]
    reply = json.dumps({"operations": operations})

    def check() -> None:
        resolve(
            read_plan(reply, batch),
            batch,
            store.folder.existing(store.state),
            GateContext(actor="consolidator"),
            day="2026-01-01",
            limits=DEFAULT_LIMITS,
        )

    return statistics.median([_ms(check) for _ in range(5)])


def _records(collection: Collection, size: int) -> list[Record]:
    sentences = [
        sentence.strip()
        for text in collection.documents
        for sentence in re.split(r"(?<=[.!?。！？])\s*|\n+", text.whole)
        if len(sentence.strip()) > 8
    ]
    chance = random.Random(SEED)
    made: list[Record] = []
    for number in range(size):
        description, *body = chance.choices(sentences, k=5)
        made.append(
            Record(
                name=f"record-{number}",
                description=" ".join(description.split())[:150] or "a fact",
                type=chance.choice(TYPES),
                body=f"{' '.join(body)} ref{number}",
            )
        )
    return made


def _ms(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return 1_000 * (time.perf_counter() - began)


async def _ms_of(action: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await action()
    return 1_000 * (time.perf_counter() - began)
