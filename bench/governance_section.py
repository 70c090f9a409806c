"""What governance itself takes: time a step at every length of history, a cut, bytes, memory."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.recordings import Recording
from bench.report import Section, table
from bench.synthetic import session
from bench.wire import is_model_output
from wayfare import json_text
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.formats import codec
from wayfare.session import Places, file_transcript, governed, memory_transcript

STEPS = 5_000
WINDOWS = (50_000, 200_000, 2_000_000)
MARKS = (50, 500, 2_000, 5_000)
AROUND = 40
MOST_STEP_MS = 1.0
MOST_CUT_MS = 50.0
LEAST_RATIO = 50.0
MOST_GROWTH = 2.0
"""The median at the last mark may be so many times that at the first: more is no more flat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: seconds of governance (entering and preparing), of re-serialising the whole
    history once, whether edits were committed."""

    seconds: float
    serialise_seconds: float
    cut: bool


async def _drive(folder: Path | None, window_tokens: int, recording: Recording) -> list[Step]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """What steps near one step number take, in milliseconds; cut steps apart."""

    window: int
    step: int
    median: float
    p99: float
    with_files: float
    serialising: float

    @property
    def ratio(self) -> float:
        return self.serialising / self.median if self.median else 0.0


def _mark(window: int, step: int, plain: Sequence[Step], filed: Sequence[Step]) -> _Mark:
    quiet = [s for s in _near(plain, step) if not s.cut]
    times = sorted(s.seconds for s in quiet)
    return _Mark(
        window=window,
        step=step,
        median=_median(times) * 1000,
        p99=times[int(len(times) * 0.99)] * 1000 if times else 0.0,
        with_files=_median([s.seconds for s in _near(filed, step) if not s.cut]) * 1000,
        serialising=_median([s.serialise_seconds for s in quiet if s.serialise_seconds]) * 1000,
    )


def section(command: str, steps: int = STEPS) -> Section:
    """Time per step near each mark, without and with file writes (fsync included)."""
    recording = session(steps)
    marks: list[_Mark] = []
    notes: list[str] = []
    for window in WINDOWS:
        plain = asyncio.run(_drive(None, window, recording))
        with tempfile.TemporaryDirectory() as folder:
            filed = asyncio.run(_drive(Path(folder), window, recording))
            written = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file())
        marks += [_mark(window, at, plain, filed) for at in MARKS if at <= steps]
        entered = sum(len(json_text.dumps(message)) for message in recording.messages)
        notes.append(_cuts(window, plain))
        notes.append(
            f"- window {window:,}: {written / 1e6:.1f} MB written for {entered / 1e6:.1f} MB of "
            f"messages ({written / entered:.2f} ×)."
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    notes.append(f"- peak memory of the whole run: {peak:.0f} MiB, the recording included.")
    rows = [
        (
            f"{m.window:,}, step {m.step:,}",
            f"{m.median:.2f}",
            f"{m.p99:.2f}",
            f"{m.with_files:.2f}",
            f"{m.serialising:.2f}",
            f"{m.ratio:.0f} ×",
        )
        for m in marks
    ]
    head = ("window, step", "median, ms", "p99, ms", "with files and fsync, ms",
            "re-serialising the history, ms", "ratio")  # fmt: skip
    text = (
        f"A generated session of {steps:,} steps; a step is entering its messages, preparing and "
        f"encoding the request. Steps that cut are apart.\n\n{table(head, rows)}\n\n"
        + "\n".join([*notes, *_verdict(marks)])
    )
    return Section(key="governance", title="Governance a step", command=command, text=text)


def _cuts(window: int, plain: Sequence[Step]) -> str:
    cuts = sorted(s.seconds for s in plain if s.cut)
    if not cuts:
        return f"- window {window:,}: no cut was needed."
    late = _median([s.seconds for s in plain[-len(plain) // 5 :] if s.cut]) * 1000
    said = "reached" if late < MOST_CUT_MS else "**not reached**"
    return (
        f"- window {window:,}: {len(cuts)} cuts, median {_median(cuts) * 1000:.1f} ms, worst "
        f"{cuts[-1] * 1000:.1f} ms; in the last fifth median {late:.1f} ms, without file writes "
        f"(asked under {MOST_CUT_MS:.0f} ms: {said})."
    )


def _verdict(marks: Sequence[_Mark]) -> list[str]:
    """What was asked of a step, what the slowest mark took, and which one it was."""
    if not marks:
        return []
    slow = max(marks, key=lambda m: m.median)
    said = "reached" if slow.median < MOST_STEP_MS else "**not reached**"
    lines = [
        f"- slowest median of a step without file writes: {slow.median:.2f} ms (window "
        f"{slow.window:,}, step {slow.step:,}; asked under {MOST_STEP_MS:.0f} ms): {said}."
    ]
    for window in WINDOWS:
        mine = [m for m in marks if m.window == window]
        first, last = mine[0], mine[-1]
        growth = last.median / first.median if first.median else 0.0
        flat = "flat" if growth <= MOST_GROWTH else "**not flat**"
        enough = "reached" if last.ratio >= LEAST_RATIO else "**not reached**"
        lines.append(
            f"- window {window:,}: step {last.step:,} takes {growth:.2f} × step {first.step:,}, "
            f"{flat}; re-serialising the history takes {last.ratio:.0f} × as long at step "
            f"{last.step:,} (asked {LEAST_RATIO:.0f} ×: {enough})."
        )
    return lines
