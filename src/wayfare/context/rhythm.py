"""Rhythm: how a session goes, call by call; what the scheduler decides on."""

from __future__ import annotations

from wayfare.context.scheduler import CachePolicy, Pace


class Rhythm:
    """Counts calls, growth, and what reading on has cost since the last cut."""

    def __init__(self) -> None:
        self._calls = 0
        self._last_call: float | None = None
        self._last_tokens = 0
        self._grown_tokens = 0
        self._carried_tokens = 0.0
        self._cut = False

    def called(self, tokens: int, target_tokens: int, now: float) -> None:
        """A request of so many tokens is being sent; a cut would have left the target."""
        if not self._cut:
            self._grown_tokens += max(tokens - self._last_tokens, 0)
        self._cut = False
        self._calls += 1
        self._last_call = now
        self._last_tokens = tokens
        self._carried_tokens += max(tokens - target_tokens, 0)

    def cut(self) -> None:
        """The context was shrunk."""
        self._carried_tokens = 0.0
        self._cut = True

    def pace(self, now: float, *, room_tokens: int) -> Pace:
        """How the session goes, with so much room left."""
        return Pace(
            calls=self._calls,
            growth_tokens=self._grown_tokens / max(self._calls, 1),
            room_tokens=max(room_tokens, 0),
            idle_seconds=None if self._last_call is None else now - self._last_call,
        )

    def due(self, cache: CachePolicy, stays_tokens: int, patience: float) -> bool:
        """Whether reading on has cost what a cut does."""
        return cache.due(
            carried_tokens=self._carried_tokens, stays_tokens=stays_tokens, patience=patience
        )
