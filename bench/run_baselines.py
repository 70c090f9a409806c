"""Runs every baseline over every recording at every window, and prints sums.

python -m bench.run_baselines --data FOLDER [--window 12500 …] [--only NAME …]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.baselines import BASELINES
from bench.needed import Shares
from bench.recordings import Recording, load
from bench.run_policy import Prepared, run_policy
from bench.synthetic import session

WINDOWS = (12_500, 50_000, 200_000)


def run_all(
    recordings: Iterable[Recording],
    windows: Sequence[int] = WINDOWS,
    policies: Sequence[str] = tuple(BASELINES),
) -> list[dict[str, Any]]:
    """One row per recording, window and baseline; progress goes to standard error."""
    rows: list[dict[str, Any]] = []
    started = time.monotonic()
    for recording in recordings:
        began = time.monotonic()
        prepared = Prepared(recording)
        for window in windows:
            for name in policies:
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(
                        run_policy(
                            prepared,
                            BASELINES[name],
                            name=name,
                            window_tokens=window,
                            root=Path(folder),
                        )
                    )
        now = time.monotonic()
        print(
            f"{now - started:6.0f} s  {recording.name:44} {len(recording.steps):5} steps  "
            f"{now - began:5.1f} s",
            file=sys.stderr,
            flush=True,
        )
    return rows


def total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Rows of one policy and window added up."""
    counts = sum((row["counts"] for row in rows), Shares())
    hidden = sum(row["hidden_texts"] for row in rows)
    summed: dict[str, Any] = {
        key: sum(row[key] for row in rows)
        for key in (
            "steps", "requests", "invalid", "invalid_as_recorded", "refused", "unanswered",
            "unread_lost", "tokens_sent", "cost", "output_cost", "cost_ungoverned",
        )
    }  # fmt: skip
    recovered = sum(row["recoverable"] * row["hidden_texts"] for row in rows)
    active = [row["active_request_visible"] for row in rows if row["active_request_visible"]]
    return {
        "sessions": len(rows),
        **summed,
        **counts.rows(),
        "counts": counts,
        "recoverable": recovered / hidden if hidden else 1.0,
        "active_request_visible": sum(active) / len(active) if active else None,
    }


def show(rows: Sequence[dict[str, Any]], *, past_limit_only: bool = True) -> None:
    """Print sums per window and policy over the sessions that pass the limit."""
    keys = list(dict.fromkeys((row["window"], row["budget"]) for row in rows))
    for window, name in keys:
        chosen = [
            row
            for row in rows
            if row["window"] == window
            and row["budget"] == name
            and (row["passes_limit"] or not past_limit_only)
        ]
        if not chosen:
            continue
        one = total(chosen)
        print(
            f"{window:7} {name:20} {one['sessions']:3} sessions {one['steps']:5} steps "
            f"cost {one['cost'] / 1000:9.0f}k (ungoverned {one['cost_ungoverned'] / 1000:9.0f}k) "
            f"invalid {one['invalid']:4} (recorded {one['invalid_as_recorded']:3}) "
            f"refused {one['refused']:5} unread {one['unread_lost']:4} "
            f"recoverable {percent(one['recoverable'])} files {percent(one['needed_files'])} "
            f"idents {percent(one['needed_identifiers'])} "
            f"content {percent(one['needed_content'])} "
            f"({percent(one['needed_content_unnumbered'])})"
        )


def percent(value: float | None) -> str:
    """A share as a percentage of five characters."""
    return "  -  " if value is None else f"{value * 100:4.0f}%"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--window", type=int, nargs="+", default=list(WINDOWS))
    parser.add_argument("--only", nargs="+", default=list(BASELINES))
    parser.add_argument("--match", default="", help="only recordings whose name contains this")
    parser.add_argument("--generated-steps", type=int, default=5_000)
    options = parser.parse_args()

    def recordings() -> Iterable[Recording]:
        yield from (r for r in load(options.data) if options.match in r.name)
        if options.generated_steps and options.match in "generated":
            yield session(options.generated_steps)

    rows = run_all(recordings(), options.window, options.only)
    print("sessions that pass the limit:")
    show([row for row in rows if not row["file"].startswith("generated")])
    print("generated:")
    show([row for row in rows if row["file"].startswith("generated")])


if __name__ == "__main__":
    main()
