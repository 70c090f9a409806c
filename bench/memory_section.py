"""The sections about memory: scale, writing together, crashes, side queries, recall."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench.memory_crash import Crashes, crashes
from bench.memory_scale import Row, scale
from bench.memory_together import Together, together
from bench.recall.__main__ import SHIPPED
from bench.recall.measure import measure
from bench.recall.sets import load
from bench.report import ROOT, Section, table
from bench.side_queries import Row as Asked
from bench.side_queries import packaged, side_queries

SIZES = (10, 1_000, 10_000)
PROCESSES, ROUNDS = 8, 250
CRASH_POINTS = 1_000
SIDE_QUERIES = 12


def section(
    command: str,
    *,
    sizes: Sequence[int] = SIZES,
    processes: int = PROCESSES,
    rounds: int = ROUNDS,
    points: int = CRASH_POINTS,
    side: int = SIDE_QUERIES,
) -> Section:
    """Measure memory itself."""
    collection = load(SHIPPED)
    parts = [
        scale_text(asyncio.run(scale(collection, sizes))),
        together_text(asyncio.run(together(processes, rounds))),
        crash_text(asyncio.run(crashes(points))),
    ]
    path = packaged(ROOT)
    if path is None or not side:
        parts.append("Side queries: the packaged model is not on this machine.")
    else:
        parts.append(side_text(asyncio.run(side_queries(path, collection, side)), path.name))
    return Section(key="memory", title="Long-term memory", command=command, text="\n\n".join(parts))


def scale_text(rows: Sequence[Row]) -> str:
    """Times by number of records."""
    head = (
        "records",
        "open without caches, s",
        "open with caches, s",
        "query, ms",
        "write with index, ms",
        "plan check, ms",
        "peak resident, MiB",
    )
    cells: list[tuple[str, ...]] = [
        (
            f"{row.records:,}",
            f"{row.plain_open_seconds:.3f}",
            f"{row.open_seconds:.3f}",
            f"{row.query_ms:.2f}",
            f"{row.write_ms:.1f}",
            f"{row.plan_ms:.1f}",
            f"{row.peak_mib:.0f}" if row.peak_mib else "–",
        )
        for row in rows
    ]
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        cells.append(
            (
                f"growth, {last.records / first.records:,.0f} times the records",
                *(
                    f"× {new / old:,.1f}" if old else "–"
                    for old, new in (
                        (first.plain_open_seconds, last.plain_open_seconds),
                        (first.open_seconds, last.open_seconds),
                        (first.query_ms, last.query_ms),
                        (first.write_ms, last.write_ms),
                        (first.plan_ms, last.plan_ms),
                        (first.peak_mib, last.peak_mib),
                    )
                ),
            )
        )
    return (
        "Open: stat every file, read what changed, bring the search index up to date; medians of "
        "queries, writes and plan checks. Each size in a process of its own; peak resident: the most "
        f"memory it had over all of that.\n\n{table(head, cells)}"
    )


def together_text(done: Together) -> str:
    """What several writers left."""
    wanted = done.processes * done.rounds
    verdict = "nothing lost, nothing read half" if done.whole else "NOT WHOLE"
    return (
        f"{done.processes} processes × {done.rounds} writes on one folder, a reader beside them: "
        f"{done.records:,} of {wanted:,} records, {done.puts:,} puts in the journal, "
        f"{done.indexed:,} records in index and pages, {done.failed} writers failed, "
        f"{done.read_meanwhile:,} records read meanwhile, {done.half_read} of them half: "
        f"**{verdict}**, in {done.seconds:.0f} s ({1_000 * done.seconds / wanted:.0f} ms a write)."
    )


def crash_text(found: Crashes) -> str:
    """What power cuts left."""
    return (
        f"A consolidation of {found.operations} file operations, the power cut at "
        f"{found.points:,} points (what was not flushed lost, kept in part, or kept): "
        f"the old set {found.old:,} times, the new set {found.new:,} times, a mixture "
        f"**{found.mixed}** times; index or journal in disagreement **{found.disagreeing}** times."
    )


def side_text(rows: Sequence[Asked], model: str) -> str:
    """Which replies of a small model can be used."""
    head = ("side query", "replies", "parse", "and valid", "failed", "seconds, median")
    cells = [
        (
            f"{row.query}, {'by schema' if row.schema else 'without schema'}",
            row.asked,
            f"{100 * row.parsed / row.asked:.0f} %",
            f"{100 * row.valid / row.asked:.0f} %",
            row.failed,
            f"{row.seconds:.1f}",
        )
        for row in rows
    ]
    return (
        f"Side queries on {model}, the model that ships in a package. What does not parse falls "
        f"back: selection to words, extraction to another try later.\n\n{table(head, cells)}"
    )


def recall_section(command: str) -> Section:
    """Lexical recall on the set that ships with the project."""
    figures = measure(load(SHIPPED))
    parts = [
        f"{figures['documents']} records and {figures['queries']} queries of the project's own "
        f"set, {figures['answerable']} of them answerable, {figures['sharing_no_word']} of these "
        "without a content word in common with their record. Another set: "
        "`make recall SET=FOLDER`."
    ]
    head = (
        "",
        "hit@1",
        "recall@5",
        "recall@10",
        "without hit",
        "silent where nothing answers",
        "ms",
    )
    for part in dict.fromkeys(row["part"] for row in figures["rows"]):
        rows = [row for row in figures["rows"] if row["part"] == part]
        cells = [
            (
                row["ranker"],
                f"{row['hit_at_1']:.3f}",
                f"{row['recall_at_5']:.3f}",
                f"{row['recall_at_10']:.3f}",
                row["without_hit"],
                f"{row['kept_silent']} of {row['unanswerable']}" if row["unanswerable"] else "–",
                f"{row['ms_a_query']:.2f}",
            )
            for row in rows
        ]
        parts.append(f"**{part}** ({rows[0]['queries']} queries)\n\n{table(head, cells)}")
    return Section(key="recall", title="Lexical recall", command=command, text="\n\n".join(parts))
