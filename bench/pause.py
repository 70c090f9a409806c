"""The pause of a compaction: session notes that are fresh beside a summary by a real model."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from bench.synthetic import session
from bench.wire import is_model_output
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.passes.notes import Notes
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer, due
from wayfare.formats import codec
from wayfare.model import Model, Usage
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.session import Places, file_transcript, governed
from wayfare.tokens import TokenMeter

WINDOW_TOKENS: Final = 16_000
REPLY_TOKENS: Final = 300
"""Of the local model, so many at most for a summary."""
_STEPS: Final = 5_000
_NOTES: Final = "# Worklog\n" + "".join(
    f"- step {at}: read module {at}, changed its loop, its tests pass\n" for at in range(40)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Seconds from the moment a compaction was due until the next request was ready."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Half of them took at most so long."""
        return _at(self.seconds, 0.5)

    @property
    def p99(self) -> float:
        """All but a hundredth took at most so long."""
        return _at(self.seconds, 0.99)


async def pauses(name: str, count: int, *, model: Model | None, notes: bool) -> Pauses:
    """So many compactions in a row of a generated session, files and flushes included."""
    recording = session(_STEPS)
    own, clock = codec(recording.format), MovableClock()
    taken: list[float] = []
    told: list[str] = []
    counted = {"compaction.notes"} if notes else {"compaction.failed", "compaction.summary"}

    def spent(usage: Usage, by: Model) -> None:
        told.append("compaction.summary")

    with tempfile.TemporaryDirectory(prefix="pause-") as folder:
        transcript = file_transcript(
            Places(workspace=Path(folder)), "s", clock=clock, format=recording.format
        )
        budget = Budget.window(WINDOW_TOKENS, max_output_tokens=2_000)
        governor = await governed(transcript, budget, clock=clock)
        summarizer = Summarizer(
            model=model,
            clock=clock,
            watch=lambda event: told.append(event.name),
            spent=spent,
            notes=_fresh(governor) if notes else None,
        )
        for at, wire in enumerate(recording.messages):
            if len(taken) == count:
                break
            if is_model_output(wire, recording.format) and at:
                clock.advance(600)  # A breaker that opened lets the next one through again.
                told.clear()
                began = time.perf_counter()
                compacted = due(governor) and await summarizer(governor, trigger="auto")
                await governor.prepare()
                # A digest in the place of either is not what is measured here.
                if compacted and counted & set(told):
                    taken.append(time.perf_counter() - began)
            await governor.add([own.decode(wire)])
        await transcript.close()
    return Pauses(name=name, seconds=tuple(taken))


def _at(seconds: Sequence[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


def _fresh(governor: Governor) -> Callable[[], Awaitable[Notes]]:
    tokens = TokenMeter().text(_NOTES)

    async def now() -> Notes:
        covers = governor.transcript.last_id
        return Notes(text=_NOTES, tokens=tokens, covers_entry=covers, address="notes.md")

    return now


def local_summarizer(path: Path) -> LocalModel:
    """The packaged model with replies short enough for two processors."""
    settings = ModelSettings(max_output_tokens=REPLY_TOKENS)
    return LocalModel(path, settings=settings)


def measured(path: Path | None, *, by_notes: int = 100, by_model: int = 4) -> list[Pauses]:
    """Both ways in one run; without the local model's file only the notes."""
    found = [anyio.run(lambda: pauses("session notes", by_notes, model=None, notes=True))]
    if path is not None:
        found.append(anyio.run(_by_local_model, path, by_model))
    return found


async def _by_local_model(path: Path, count: int) -> Pauses:
    model = local_summarizer(path)
    try:
        return await pauses("summary by the local model", count, model=model, notes=False)
    finally:
        await model.close()
