"""What a log says about the session so far: usage, and whether its last turn ended by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wayfare.agent.model_call import WINDOW
from wayfare.agent.turn import MARK
from wayfare.model import Prices, Usage
from wayfare.transcript import MarkEntry, MessageEntry, Transcript, UsageEntry
from wayfare.transcript.entries import usage_of


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


async def survey(transcript: Transcript, prices: Prices) -> Survey:
    """Read a log through once."""
    usage = Usage()
    calls = 0
    unfinished = ""
    windows: dict[str, int] = {}
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry):
            unfinished = "crashed"
            told = usage_of(entry.usage)
            if told is not None:
                usage += told
                calls += 1
        elif isinstance(entry, UsageEntry):
            usage += entry.usage
            calls += 1
        elif isinstance(entry, MarkEntry) and entry.name == MARK:
            ended = str(entry.detail.get("ended", ""))
            unfinished = "" if ended in ("done", "hook") else ended
        elif isinstance(entry, MarkEntry) and entry.name == WINDOW:
            windows[str(entry.detail.get("model"))] = int(entry.detail["window_tokens"])
    return Survey(
        usage=usage,
        cost=prices.cost(usage),
        calls=calls,
        unfinished=unfinished,
        windows=windows,
    )
