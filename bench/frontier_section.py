"""Cost against what stays visible: every policy over every recording, per window."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import guarantees_section
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
OURS = "wayfare window"
MOST_COST = 1.0
LEAST_CONTENT = 0.05
NAMED_SESSIONS = 4
"""So many sessions are named where a figure is not reached."""


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
    recordings: Sequence[Recording],
    command: str,
    windows: Sequence[int] = WINDOWS,
    *,
    generated: Sequence[Recording] = (),
    kept: Path | None = None,
) -> list[Section]:
    """The comparison, the guarantees, and the rows of each session.

    `generated` sessions are measured apart: one of them would outweigh all that were recorded.
    """
    rows = rows_of(recordings, windows, kept=kept)
    made = rows_of(generated, windows, kept=kept)
    parts = [_frontier(rows, window) for window in windows]
    parts += [
        _generated(made, window) for window in windows if any(r["window"] == window for r in made)
    ]
    return [
        Section(key="frontier", title="Cost against what stays visible", command=command,
                text="\n\n".join(parts)),
        guarantees_section.section([*rows, *made], [*recordings, *generated], command, windows),
        Section(key="sessions", title="Session by session", command=command,
                text="\n\n".join(_sessions(rows, window) for window in windows)),
    ]  # fmt: skip


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f} %"


def _totals(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = [name for name in POLICIES if any(r["budget"] == name for r in rows)]
    return {name: total([r for r in rows if r["budget"] == name]) for name in names}


def _frontier(rows: Sequence[dict[str, Any]], window: int) -> str:
    past = [r for r in rows if r["window"] == window and r["passes_limit"]]
    if not past:
        return f"### Window {window:,}\n\nNo recorded session passes the limit."
    totals = _totals(past)
    count = len({r["file"] for r in past})
    folder = ROOT / "docs" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"frontier-{window}.svg").write_text(
        picture(totals, f"window {window:,}, {count} sessions"), encoding="utf-8"
    )
    return (
        f"### Window {window:,}\n\n{count} recorded sessions pass the limit.\n\n"
        f"{_compared(totals)}\n\n{_reached(past, totals)}\n\n"
        f"![cost against share at {window:,}](docs/benchmarks/frontier-{window}.svg)"
    )


def _generated(rows: Sequence[dict[str, Any]], window: int) -> str:
    mine = [r for r in rows if r["window"] == window]
    steps = ", ".join(f"{r['steps']:,}" for r in mine if r["budget"] == OURS)
    totals = _totals(mine)
    return f"### Generated, {steps} steps, window {window:,}\n\n{_compared(totals)}"


def _compared(totals: Mapping[str, dict[str, Any]]) -> str:
    beaten = beaten_by(totals)
    base = totals[AGAINST]["cost"]
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
    return table(head, listed)


def _reached(rows: Sequence[dict[str, Any]], totals: Mapping[str, dict[str, Any]]) -> str:
    """What was asked of `window`, what came out, and where it comes from if that is less."""
    ours, base = totals[OURS], totals[AGAINST]
    beaten = beaten_by(totals)[OURS]
    ratio = ours["cost"] / base["cost"]
    lines = [f"*{OURS}* against *{AGAINST}*:\n"]
    said = f"- cost {ratio:.3f} × (asked at most {MOST_COST:.2f} ×): "
    if ratio <= MOST_COST:
        lines.append(said + "reached")
    else:
        lines.append(said + "**not reached**; " + _where(rows, lambda r: -r["cost"]))
    for key, title, least in (
        ("needed_files", "file names", 0.0),
        ("needed_identifiers", "identifiers", 0.0),
        ("needed_content", "content", LEAST_CONTENT),
    ):
        gained = (ours[key] or 0.0) - (base[key] or 0.0)
        asked = f"asked {least * 100:+.0f}" if least else "asked not lower"
        said = f"- {title} {gained * 100:+.1f} points ({asked}): "
        counted = {"needed_files": "files", "needed_identifiers": "identifiers"}
        what = counted.get(key, "contents")
        lines.append(
            said + "reached"
            if gained >= least
            else said + "**not reached**; " + _where(rows, lambda r, w=what: _shown(r, w))
        )
    lines.append(f"- beaten by: {', '.join(beaten) or 'none'}")
    return "\n".join(lines)


def _shown(row: Mapping[str, Any], what: str) -> float:
    return float(getattr(row["counts"], what))


def _where(rows: Sequence[dict[str, Any]], worth: Callable[[dict[str, Any]], float]) -> str:
    """In which sessions ours gains and loses against the other, the worst by name."""
    ours = {r["file"]: worth(r) for r in rows if r["budget"] == OURS}
    base = {r["file"]: worth(r) for r in rows if r["budget"] == AGAINST}
    change = {file: ours[file] - base[file] for file in ours}
    worst = sorted(change, key=lambda file: change[file])[:NAMED_SESSIONS]
    lost = -sum(c for c in change.values() if c < 0)
    named = ", ".join(
        f"{file} ({-change[file] / lost * 100:.0f} % of what is lost)"
        for file in worst
        if change[file] < 0
    )
    better = sum(c > 0 for c in change.values())
    worse = sum(c < 0 for c in change.values())
    gained = sum(c for c in change.values() if c > 0)
    return (
        f"better in {better} sessions, worse in {worse}, what is lost in these is "
        f"{lost / gained if gained else float('inf'):.2f} × what is gained in those"
        + (f"; most in {named}" if named else "")
    )


def _sessions(rows: Sequence[dict[str, Any]], window: int) -> str:
    listed: list[tuple[object, ...]] = []
    mine = [r for r in rows if r["window"] == window and r["budget"] == OURS]
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
