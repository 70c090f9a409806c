"""The section about one very long session: what a step costs late in it, and what it leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.report import Section, table
from bench.soak import STEPS

_EARLY_SHARE = 0.1
"""The first tenth warms up: what is said of the end is held against its last reading."""


def section(command: str, steps: int = STEPS) -> Section:
    """Run the session in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-m", "bench.soak", "--steps", str(steps)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return from_readings(json.loads(ran.stdout), command)


def from_readings(soaked: dict[str, Any], command: str) -> Section:
    """The section of a run's readings, as `bench.soak` prints them."""
    text = "\n\n".join((growth(soaked), opening(soaked), what(soaked)))
    return Section(
        key="soak", title=f"One session of {soaked['steps']:,} steps", command=command, text=text
    )


def growth(soaked: dict[str, Any]) -> str:
    """Memory, handles, time and log at a few steps, and the last against the first tenth."""
    readings = soaked["readings"]
    early = min(readings, key=lambda r: abs(r["step"] - soaked["steps"] * _EARLY_SHARE))
    last = readings[-1]
    quarter = max(len(readings) // 4, 1)
    shown = {r["step"]: r for r in (early, *readings[quarter - 1 :: quarter], last)}
    rows: list[tuple[object, ...]] = [
        (
            f"{step:,}",
            f"{r['resident_bytes'] / 2**20:.1f}",
            r["handles"],
            f"{r['step_ms']:.1f}",
            f"{r['log_bytes'] / step:,.0f}",
        )
        for step, r in sorted(shown.items())
    ]
    rows.append(
        (
            f"{last['step']:,} over {early['step']:,}",
            *(
                f"× {last[key] / early[key]:.2f}"
                for key in ("resident_bytes", "handles", "step_ms")
            ),
            f"× {last['log_bytes'] / last['step'] / (early['log_bytes'] / early['step']):.2f}",
        )
    )
    head = ("step", "resident, MiB", "open handles", "median step, ms", "log bytes a step")
    return table(head, rows)


def opening(soaked: dict[str, Any]) -> str:
    """How long opening it again takes."""
    same = "the same view" if soaked["same_view"] else "ANOTHER VIEW"
    return (
        f"Opened again, {soaked['entries']:,} entries: {soaked['resume_seconds']:.2f} s with the "
        f"checkpoint of the fold, {soaked['fold_seconds']:.2f} s without it, {same} both times. "
        f"Handles open before the session {soaked['began_handles']}, after it "
        f"{soaked['closed_handles']}."
    )


def what(soaked: dict[str, Any]) -> str:
    """What went on in it."""
    told, asked = soaked["told"], soaked["requests"]
    seen = {
        "turns": told.get("turn.ended", 0),
        "tool calls": told.get("tool.ended", 0),
        "compactions": told.get("compaction.done", 0),
        "updates of the notes": told.get("notes.updated", 0),
        "summaries asked for": asked.get("summary", 0),
        "extractions": asked.get("extraction", 0),
        "recalls": told.get("memory.recalled", 0),
        "commands in the background": asked.get("background", 0),
    }
    where = (
        " Its files stood in a folder in memory: what a disk takes to flush is not in its times."
        if soaked.get("in_memory")
        else ""
    )
    return "In it: " + ", ".join(f"{count:,} {name}" for name, count in seen.items()) + "." + where
