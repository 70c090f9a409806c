"""What governance itself takes: time a step at every length of history, a cut, bytes, memory."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.report import Section, table
from bench.synthetic import session
from bench.wire import is_model_output
from wayfare import json_text
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.formats import codec
from wayfare.session import Places, file_transcript, governed, memory_transcript

STEPS = 5_000
MARKS = (50, 500, 2_000, 5_000)
AROUND = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: seconds of governance (entering and preparing), of re-serialising the whole
    history once, whether edits were committed."""

    seconds: float
    serialise_seconds: float
    cut: bool


async def _drive(folder: Path | None, window_tokens: int, steps: int) -> list[Step]:
    recording = session(steps)
    own = codec(recording.format)
    clock = MovableClock()
    if folder is None:
        transcript = memory_transcript("bench", clock=clock, format=recording.format)
    else:
        transcript = file_transcript(
            Places(workspace=folder), "bench", clock=clock, format=recording.format
        )
    governor = await governed(transcript, Budget.window(window_tokens), clock=clock)
    taken: list[Step] = []
    entering = 0.0
    history = recording.messages
    for at, wire in enumerate(history):
        if is_model_output(wire, recording.format) and at:
            clock.advance(20)
            began = time.perf_counter()
            prepared = await governor.prepare()
            own.encode(prepared.messages)
            seconds = entering + time.perf_counter() - began
            number = len(taken) + 1
            serialise = 0.0
            if any(abs(number - mark) < AROUND for mark in MARKS):
                began = time.perf_counter()
                json_text.dumps(history[:at])
                serialise = time.perf_counter() - began
            cut = any(e.by not in ("repair", "offload") for e in prepared.edits)
            taken.append(Step(seconds=seconds, serialise_seconds=serialise, cut=cut))
            entering = 0.0
        began = time.perf_counter()
        await governor.add([own.decode(wire)])
        entering += time.perf_counter() - began
    await transcript.close()
    return taken


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _near(steps: Sequence[Step], mark: int) -> list[Step]:
    return list(steps[max(mark - AROUND, 0) : mark + AROUND])


def section(command: str, steps: int = STEPS) -> Section:
    """Time per step near each mark, without and with file writes (fsync included)."""
    rows: list[tuple[object, ...]] = []
    notes: list[str] = []
    for window in (50_000, 200_000, 2_000_000):
        plain = asyncio.run(_drive(None, window, steps))
        with tempfile.TemporaryDirectory() as folder:
            filed = asyncio.run(_drive(Path(folder), window, steps))
        for mark in MARKS:
            quiet = [s for s in _near(plain, mark) if not s.cut]
            written = [s for s in _near(filed, mark) if not s.cut]
            ours = _median([s.seconds for s in quiet])
            whole = _median([s.serialise_seconds for s in quiet if s.serialise_seconds])
            p99 = sorted(s.seconds for s in quiet)[int(len(quiet) * 0.99)] if quiet else 0.0
            rows.append(
                (
                    f"{window:,}, step {mark:,}",
                    f"{ours * 1000:.2f}",
                    f"{p99 * 1000:.2f}",
                    f"{_median([s.seconds for s in written]) * 1000:.2f}",
                    f"{whole * 1000:.2f}",
                    f"{whole / ours:.0f} ×" if ours else "–",
                )
            )
        cuts = sorted(s.seconds for s in plain if s.cut)
        if cuts:
            late = [s.seconds for s in plain[-len(plain) // 5 :] if s.cut]
            notes.append(
                f"- window {window:,}: {len(cuts)} cuts, median {_median(cuts) * 1000:.1f} ms, "
                f"worst {cuts[-1] * 1000:.1f} ms; in the last fifth median "
                f"{_median(late) * 1000:.1f} ms (without file writes)."
            )
        else:
            notes.append(f"- window {window:,}: no cut was needed.")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    head = ("window, step", "median, ms", "p99, ms", "with files and fsync, ms",
            "re-serialising the history, ms", "ratio")  # fmt: skip
    text = (
        f"A generated session of {steps:,} steps; a step is entering its messages, preparing and "
        f"encoding the request. Steps that cut are apart.\n\n{table(head, rows)}\n\n"
        + "\n".join(notes)
        + f"\n- peak memory of the whole run: {peak:.0f} MiB, the recording included."
    )
    return Section(key="governance", title="Governance a step", command=command, text=text)
