"""What a log says about the session so far: usage, and whether its last turn ended by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from wayfare.agent.model_call import WINDOW
from wayfare.agent.turn import MARK
from wayfare.model import Prices, Usage
from wayfare.transcript import Entry, MarkEntry, MessageEntry, Transcript, UsageEntry
from wayfare.transcript.entries import usage_of

_PART: Final = "survey"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found. `unfinished` says why the last turn is not over: a limit's name,
    `interrupted`, `error`, or `crashed` when it left no mark; empty when it is."""

    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    calls: int = 0
    unfinished: str = ""
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Windows that refusals taught, by the model's name."""


class SavedSurvey(msgspec.Struct, frozen=True, kw_only=True):
    """A survey as a checkpoint holds it."""

    usage: Usage
    calls: int
    unfinished: str
    windows: dict[str, int]


class Surveying:
    """A survey that goes on as entries come."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._calls = 0
        self._unfinished = ""
        self._windows: dict[str, int] = {}

    async def read(self, transcript: Transcript) -> None:
        """Read a log, from its checkpoint on where there is one, and follow it from now on."""
        held = transcript.part(_PART)
        first = 1
        if held is not None:
            first = held[0] + 1
            self._restore(msgspec.convert(held[1], SavedSurvey))
        async for entry in transcript.entries(first):
            self.take(entry)
        transcript.followers.append(self.take)
        transcript.remember(_PART, self._saved)

    def take(self, entry: Entry) -> None:
        """One more entry."""
        if isinstance(entry, MessageEntry):
            self._unfinished = "crashed"
            told = usage_of(entry.usage)
            if told is not None:
                self._usage += told
                self._calls += 1
        elif isinstance(entry, UsageEntry):
            self._usage += entry.usage
            self._calls += 1
        elif isinstance(entry, MarkEntry) and entry.name == MARK:
            ended = str(entry.detail.get("ended", ""))
            self._unfinished = "" if ended in ("done", "hook") else ended
        elif isinstance(entry, MarkEntry) and entry.name == WINDOW:
            self._windows[str(entry.detail.get("model"))] = int(entry.detail["window_tokens"])

    def found(self, prices: Prices) -> Survey:
        """What was found so far."""
        return Survey(
            usage=self._usage,
            cost=prices.cost(self._usage),
            calls=self._calls,
            unfinished=self._unfinished,
            windows=dict(self._windows),
        )

    def _saved(self) -> SavedSurvey:
        return SavedSurvey(
            usage=self._usage,
            calls=self._calls,
            unfinished=self._unfinished,
            windows=dict(self._windows),
        )

    def _restore(self, saved: SavedSurvey) -> None:
        self._usage, self._calls = saved.usage, saved.calls
        self._unfinished, self._windows = saved.unfinished, dict(saved.windows)


async def survey(transcript: Transcript, prices: Prices) -> Survey:
    """What the log of an open session says; followed as it grows, for its checkpoints."""
    surveying = Surveying()
    await surveying.read(transcript)
    return surveying.found(prices)
