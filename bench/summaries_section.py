"""Section `summaries` of BENCHMARKS.md: what summaries and notes cost on recorded sessions."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.needed import Shares
from bench.prepared import Prepared
from bench.recordings import Recording
from bench.report import Section, table
from bench.run_policy import run_policy
from bench.summary_policy import SUMMARIZED
from bench.wayfare_policy import WAYFARE

WINDOWS: Final = (16_000, 50_000)


def section(recordings: Sequence[Recording], command: str) -> Section:
    """Summaries a hundred steps, cost with side calls, needed references visible."""
    prepared = [Prepared(recording) for recording in recordings]
    tables = [_table(prepared, window_tokens) for window_tokens in WINDOWS]
    text = f"""\
Summaries and notes are scripted: half of the facts shown, 1,200 tokens charged for each reply; their cost is input without a cache. Needed references as in the frontier. Notes are the hand-over to the next session and the next self: each update is a side call, which a compaction from them saves only in part.

{"".join(tables)}"""
    title = "Summaries and session notes on recorded sessions"
    return Section(key="summaries", title=title, command=command, text=text)


def _table(prepared: Sequence[Prepared], window_tokens: int) -> str:
    over = [one for one in prepared if one.passes_limit(window_tokens)]
    rows = [
        _row(name, _measured(name, make, over, window_tokens)) for name, make in _policies().items()
    ]
    head = (
        "",
        "summaries",
        "per 100 steps",
        "updates of notes",
        "cost, thousand units",
        "with side calls",
        "file names",
        "identifiers",
        "content",
        "invalid",
        "refused",
        "recoverable",
    )
    return f"""\
The {len(over)} of {len(prepared)} recorded sessions that pass the limit at a window of {window_tokens:,} tokens:

{table(head, rows)}

"""


def _policies() -> dict[str, Any]:
    return {**WAYFARE, **SUMMARIZED}


def _measured(
    name: str, make: Any, over: Sequence[Prepared], window_tokens: int
) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for one in over:
        with tempfile.TemporaryDirectory(prefix="summaries-") as folder:
            made.append(
                run_policy(one, make, name=name, window_tokens=window_tokens, root=Path(folder))
            )
    return made


def _row(name: str, rows: Sequence[dict[str, Any]]) -> tuple[object, ...]:
    steps = sum(row["steps"] for row in rows)
    summaries = sum(row["summaries"] for row in rows)
    cost = sum(row["cost"] + row["output_cost"] for row in rows)
    side = sum(row.get("side_cost", 0.0) for row in rows)
    shares = Shares()
    for row in rows:
        shares += row["counts"]
    found = shares.rows()
    return (
        name,
        summaries,
        f"{100 * summaries / max(steps, 1):.1f}",
        sum(row.get("note_updates", 0) for row in rows),
        f"{cost / 1_000:,.0f}",
        f"{(cost + side) / 1_000:,.0f}",
        *(
            f"{100 * (value or 0):.0f} %"
            for key, value in found.items()
            if key != "needed_content_unnumbered"
        ),
        sum(row["invalid"] for row in rows),
        sum(row["refused"] for row in rows),
        f"{100 * min((row['recoverable'] for row in rows), default=1.0):.1f} %",
    )
