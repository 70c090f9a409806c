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
    """How the session goes.

    Args:
        calls: Calls so far.
        growth_tokens: What the context grows by a call.
        room_tokens: What is left until the next cut.
        idle_seconds: How long ago the last call was; None: there was none.
    """

    calls: int = 0
    growth_tokens: float = 0.0
    room_tokens: int = 0
    idle_seconds: float | None = None

    @property
    def calls_to_come(self) -> float:
        """Calls expected before the next cut: as many as so far, at most until the room is used
        up at the present growth, at least one."""
        calls = float(self.calls)
        if self.growth_tokens > 0:
            calls = min(calls, self.room_tokens / self.growth_tokens)
        return max(calls, 1.0)


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

    def gain(self, *, removed_tokens: int, behind_tokens: int, pace: Pace) -> float:
        """What removing some tokens saves, less what writing again those that stay behind the
        first edit costs, in the currency of the prices a token.

        Writing S tokens again costs S·(w−r) once; removing K saves K·r on every call to come.
        """
        once = behind_tokens * (self.prices.cache_write - self.prices.cache_read)
        return removed_tokens * self.prices.cache_read * pace.calls_to_come - once

    def pays(self, *, removed_tokens: int, behind_tokens: int, pace: Pace) -> bool:
        """Whether removing some tokens is worth writing again those that stay behind."""
        if removed_tokens <= 0:
            return False
        return self.gain(removed_tokens=removed_tokens, behind_tokens=behind_tokens, pace=pace) > 0

    def due(self, *, carried_tokens: float, stays_tokens: int, patience: float) -> bool:
        """Whether a cut is due: reading on what it would have taken out has cost as much, over
        the calls since the last cut, as writing again what stays will, `patience` times.

        With S tokens that stay and g tokens growth a call this cuts every
        sqrt(2·patience·(w−r)·S/(r·g)) calls; a patience of 1 is the cheapest rhythm there is, more
        keeps more in sight.
        """
        once = stays_tokens * (self.prices.cache_write - self.prices.cache_read)
        return carried_tokens * self.prices.cache_read > once * patience
