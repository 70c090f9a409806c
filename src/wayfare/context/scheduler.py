"""The scheduler: when a proposed edit is worth the prompt cache it breaks.

An edit moves the cached prefix: what stands behind the first edited place must be written to the
cache again. So edits are proposals until one of these holds: the limit forces them; the cache is
cold anyway; a compaction happens anyway; or the batch pays for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from wayfare.model import Prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the session goes: calls so far, tokens the context grows by a call, the tokens left
    until the limit, and how long ago the last call was (None: there was none)."""

    calls: int = 0
    growth_tokens: float = 0.0
    room_tokens: int = 0
    idle_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """What the scheduler knows of the prompt cache.

    Args:
        lifetime_seconds: How long a cached prefix lives unused. Default 5 minutes; an hour for
            hosts that keep it longer.
        prices: What reading and writing it costs.
    """

    lifetime_seconds: float = 300.0
    prices: Prices = Prices()

    def cold(self, pace: Pace) -> bool:
        """Whether the cache is gone, so that edits break nothing."""
        return pace.idle_seconds is not None and pace.idle_seconds > self.lifetime_seconds

    def pays(self, *, removed_tokens: int, behind_tokens: int, pace: Pace) -> bool:
        """Whether removing some tokens is worth rewriting those that stay behind the first edit.

        Rewriting S tokens costs S·(w−r) once; removing K saves K·r on every later call. The
        calls expected are as many as so far, at most until the limit at the present growth, at
        least one.
        """
        if removed_tokens <= 0:
            return False
        calls = float(max(pace.calls, 1))
        if pace.growth_tokens > 0:
            calls = min(calls, pace.room_tokens / pace.growth_tokens)
        calls = max(calls, 1.0)
        once = behind_tokens * (self.prices.cache_write - self.prices.cache_read)
        return removed_tokens * self.prices.cache_read * calls > once
