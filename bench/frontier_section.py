"""Cost against what stays visible: every policy over every recording, per window."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.baselines import BASELINES
from bench.frontier import beaten_by, picture
from bench.needed import Shares
from bench.policy import MakePolicy
from bench.recordings import Recording
from bench.report import ROOT, Section, table
from bench.run_baselines import WINDOWS, total
from bench.run_policy import Prepared, run_policy
from bench.wayfare_policy import WAYFARE

POLICIES = {**BASELINES, **WAYFARE}
AGAINST = "cut deep with names"


class Kept:
    """Rows that were measured before, in a file of one JSON object a line: a long run that was
    interrupted goes on where it stopped. Without a file nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: dict[tuple[str, int, str], dict[str, Any]] = {}
        if file is not None and file.exists():
            for line in file.read_text("utf-8").splitlines():
                row = json.loads(line)
                row["counts"] = Shares(**row["counts"])
                self._rows[row["file"], row["window"], row["budget"]] = row

    def get(self, session: str, window: int, name: str) -> dict[str, Any] | None:
        """The row of a session, a window and a policy, if there is one."""
        return self._rows.get((session, window, name))

    def put(self, row: dict[str, Any]) -> None:
        """Keep a row."""
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**row, "counts": asdict(row["counts"])}) + "\n")


def rows_of(
    recordings: Iterable[Recording],
    windows: Sequence[int],
    *,
    kept: Path | None = None,
    policies: Mapping[str, MakePolicy] = POLICIES,
) -> list[dict[str, Any]]:
    """One row per recording, window and policy; progress goes to standard error."""
    rows: list[dict[str, Any]] = []
    store = Kept(kept)
    started = time.monotonic()
    for recording in recordings:
        prepared: Prepared | None = None
        for window in windows:
            for name, make in policies.items():
                row = store.get(recording.name, window, name)
                if row is None:
                    prepared = prepared or Prepared(recording)
                    with tempfile.TemporaryDirectory() as folder:
                        row = run_policy(
                            prepared, make, name=name, window_tokens=window, root=Path(folder)
                        )
                    store.put(row)
                rows.append(row)
        elapsed = time.monotonic() - started
        print(f"{elapsed:6.0f} s  {recording.name}", file=sys.stderr, flush=True)
    return rows


def sections(
    recordings: Sequence[Recording], command: str, windows: Sequence[int] = WINDOWS
) -> list[Section]:
    """The comparison, the guarantees, and the rows of each session."""
    rows = rows_of(recordings, windows)
    return [
        Section(key="frontier", title="Cost against what stays visible", command=command,
                text="\n\n".join(_frontier(rows, window) for window in windows)),
        Section(key="guarantees", title="Guarantees on every request", command=command,
                text=_guarantees(rows, windows)),
        Section(key="sessions", title="Session by session", command=command,
                text="\n\n".join(_sessions(rows, window) for window in windows)),
    ]  # fmt: skip


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f} %"


def _frontier(rows: Sequence[dict[str, Any]], window: int) -> str:
    past = [r for r in rows if r["window"] == window and r["passes_limit"]]
    if not past:
        return f"### Window {window:,}\n\nNo session passes the limit."
    totals = {name: total([r for r in past if r["budget"] == name]) for name in POLICIES}
    beaten = beaten_by(totals)
    base = totals[AGAINST]["cost"]
    count = len({r["file"] for r in past})
    folder = ROOT / "docs" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"frontier-{window}.svg").write_text(
        picture(totals, f"window {window:,}, {count} sessions"), encoding="utf-8"
    )
    listed = [
        (
            name,
            f"{t['cost'] / 1000:,.0f}",
            f"{t['cost'] / base:.2f} ×",
            _percent(t["needed_files"]),
            _percent(t["needed_identifiers"]),
            _percent(t["needed_content"]),
            t["refused"],
            ", ".join(beaten[name]) or "none",
        )
        for name, t in totals.items()
    ]
    head = (
        "strategy",
        "cost, k units",
        f"to *{AGAINST}*",
        "file names",
        "identifiers",
        "content",
        "refused",
        "beaten by",
    )
    return (
        f"### Window {window:,}\n\n{count} sessions pass the limit.\n\n{table(head, listed)}\n\n"
        f"![cost against share at {window:,}](docs/benchmarks/frontier-{window}.svg)"
    )


def _guarantees(rows: Sequence[dict[str, Any]], windows: Sequence[int]) -> str:
    listed: list[tuple[object, ...]] = []
    for window in windows:
        for name in WAYFARE:
            mine = [r for r in rows if r["window"] == window and r["budget"] == name]
            reads = sorted(r["read_chars_median"] for r in mine if r["read_chars_median"])
            edits = sum((Counter(r["edits"]) for r in mine), Counter())
            written = max((r["bytes_written_ratio"] or 0 for r in mine), default=0)
            overall = sum((r["bytes_written_ratio"] or 0) * r["steps"] for r in mine) / max(
                sum(r["steps"] for r in mine), 1
            )
            listed.append(
                (
                    f"{name}, {window:,}",
                    len(mine),
                    sum(r["requests"] for r in mine),
                    sum(r["invalid"] for r in mine),
                    sum(r["refused"] for r in mine),
                    f"{min((r['recoverable'] for r in mine), default=1):.4f}",
                    f"{reads[len(reads) // 2]:,.0f}" if reads else "–",
                    f"{min((r['active_request_visible'] or 1 for r in mine), default=1):.3f}",
                    sum(r["active_request_exceptions"] for r in mine),
                    sum(r["unread_lost"] for r in mine),
                    f"{overall:.2f} / {written:.2f}",
                    ", ".join(f"{k} {v}" for k, v in edits.most_common()),
                )
            )
    head = ("", "sessions", "requests", "invalid", "refused", "recoverable, worst session",
            "characters a read, median", "active request visible, worst", "exceptions (too large)",
            "results gone unread", "written, mean / worst", "edits")  # fmt: skip
    return (
        "Validity is judged by a validator written from the providers' rules, refusals by an exact "
        "counter (o200k), recoverability by a reader that gets only the request's text; none of "
        f"the three is used by the runtime.\n\n{table(head, listed)}"
    )


def _sessions(rows: Sequence[dict[str, Any]], window: int) -> str:
    listed: list[tuple[object, ...]] = []
    mine = [r for r in rows if r["window"] == window and r["budget"] == "wayfare window"]
    other = {r["file"]: r for r in rows if r["window"] == window and r["budget"] == AGAINST}
    for row in mine:
        if not row["passes_limit"]:
            continue
        base = other[row["file"]]
        listed.append(
            (
                row["file"],
                row["steps"],
                f"{row['cost'] / 1000:,.0f}",
                f"{row['cost'] / max(base['cost'], 1):.2f} ×",
                f"{row['cost'] / max(row['cost_ungoverned'], 1):.2f} ×",
                *(
                    f"{_percent(row[k])} ({_percent(base[k])})"
                    for k in ("needed_files", "needed_identifiers", "needed_content")
                ),
                f"{row['bytes_written_ratio']:.2f}",
            )
        )
    head = (
        "session",
        "steps",
        "cost, k",
        f"to *{AGAINST}*",
        "to no governance",
        "file names",
        "identifiers",
        "content",
        "written",
    )
    return f"### Window {window:,}\n\nIn brackets: *{AGAINST}*.\n\n{table(head, listed)}"
