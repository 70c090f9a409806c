"""A recording with everything about it that depends neither on policy nor on window."""

from __future__ import annotations

from bench.judges.counting import Counter, compact
from bench.judges.prefix_cache import MINIMUM_TOKENS
from bench.judges.provider import Prices, Usage, reserve_tokens
from bench.judges.validity import Validator
from bench.needed import NeededIndex
from bench.recordings import Recording
from bench.seen import Interner


def limit_tokens(window_tokens: int) -> int:
    """Where a session counts as too long for a window: window − output reserve − buffer."""
    buffer = min(13_000, window_tokens // 10)
    return window_tokens - reserve_tokens(window_tokens) - buffer


class Prepared:
    """A recording with everything about it that does not depend on policy or window.

    Build it once and hand it to every run over the recording; counts, hashes and search results
    of its messages are shared.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.interner = Interner(recording.format)
        self.needed = NeededIndex(recording.messages, recording.format, self.interner)
        self.seen = self.needed.seen
        self.digests = [one.digest for one in self.seen]
        counter = Counter(recording.format, self.interner)
        self.fixed_tokens = counter.fixed_tokens(recording.system, recording.tools)
        self.tokens = [counter.seen_tokens(one) for one in self.seen]
        self.ends = {turn.start: turn.stop for turn in self.needed.turns}
        self.entered_bytes = sum(
            len(compact(message).encode("utf-8", "surrogatepass")) for message in recording.messages
        )
        self.invalid_as_recorded = self._broken_steps()

    def _broken_steps(self) -> int:
        """How many requests of the session would be illegal if sent as recorded."""
        validator = Validator(self.recording.format, self.interner)
        if not validator.message_violations(self.seen):
            return 0
        return sum(
            bool(validator.message_violations(self.seen[:step])) for step in self.recording.steps
        )

    @property
    def most_tokens(self) -> int:
        """The largest request of the session when nothing is taken out."""
        steps = self.recording.steps
        return self.fixed_tokens + sum(self.tokens[: steps[-1]]) if steps else self.fixed_tokens

    def passes_limit(self, window_tokens: int) -> bool:
        """Whether the session grows past the limit of a window."""
        return self.most_tokens > limit_tokens(window_tokens)

    def cost_ungoverned(self, prices: Prices | None = None) -> float:
        """Cost of sending everything always, as if no window ended it, with a warm cache."""
        prices = prices or Prices()
        cost = 0.0
        sent = 0
        place = 0
        total = self.fixed_tokens
        for step in self.recording.steps:
            total += sum(self.tokens[place:step])
            place = step
            if total < MINIMUM_TOKENS:
                usage = Usage(input=total, cache_read=0, cache_write=0, output=0)
            else:
                before = sent if sent >= MINIMUM_TOKENS else 0
                usage = Usage(input=0, cache_read=before, cache_write=total - before, output=0)
            cost += usage.cost(prices)
            sent = total
        return cost
