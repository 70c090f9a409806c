"""Limits: how far a turn and a session may go, and how far they went."""

from __future__ import annotations

from dataclasses import dataclass, field

from wayfare.model import Prices, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a turn ends although the model would go on. None: no such limit.

    Args:
        steps_per_turn: Model calls one turn may make. 200: long tasks take some dozen.
        tokens_per_session: Tokens sent and received in all calls of the session together.
        cost_per_session: In the currency of the model's prices.
        seconds_per_turn: Wall time of one turn.
        parallel_tools: Read-only calls of one batch that run side by side.
        stop_hooks_in_a_row: How often Stop hooks may send the model back to work in a row.
        repeats_told: The same call, input and result so often: said to the model.
        repeats_ended: And so often: the turn ends.
        length_stops_in_a_row: Replies cut by the output limit that are continued in a row.
        empty_replies_in_a_row: Replies without a word and without a call that are asked again.
    """

    steps_per_turn: int | None = 200
    tokens_per_session: int | None = None
    cost_per_session: float | None = None
    seconds_per_turn: float | None = None
    parallel_tools: int = 8
    stop_hooks_in_a_row: int = 8
    repeats_told: int = 3
    repeats_ended: int = 6
    length_stops_in_a_row: int = 5
    empty_replies_in_a_row: int = 2


@dataclass(slots=True, kw_only=True)
class Totals:
    """What a session has used so far, in all its turns, side queries and sub-agents."""

    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    calls: int = 0

    def count(self, usage: Usage, prices: Prices) -> None:
        """Add one call."""
        self.usage += usage
        self.cost += prices.cost(usage)
        self.calls += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A limit that was reached: its name among `Limits`, and what people are told."""

    limit: str
    text: str


def reached(limits: Limits, totals: Totals, *, steps: int, seconds: float) -> Reached | None:
    """The first limit that is reached, or None while the turn may go on."""
    most = limits.steps_per_turn
    if most is not None and steps >= most:
        return _reached("steps_per_turn", f"{steps} model calls in this turn", f"{most}")
    tokens = totals.usage.total_tokens
    if limits.tokens_per_session is not None and tokens >= limits.tokens_per_session:
        most_tokens = f"{limits.tokens_per_session:,}"
        return _reached("tokens_per_session", f"{tokens:,} tokens in this session", most_tokens)
    if limits.cost_per_session is not None and totals.cost >= limits.cost_per_session:
        most_cost = f"{limits.cost_per_session:.2f}"
        return _reached("cost_per_session", f"a cost of {totals.cost:.2f}", most_cost)
    if limits.seconds_per_turn is not None and seconds >= limits.seconds_per_turn:
        most_seconds = f"{limits.seconds_per_turn:.0f} seconds"
        return _reached("seconds_per_turn", f"{seconds:.0f} seconds in this turn", most_seconds)
    return None


def _reached(limit: str, so_far: str, most: str) -> Reached:
    text = f"stopped at the limit {limit}: {so_far}, at most {most}. Say “continue” to go on."
    return Reached(limit=limit, text=text)
