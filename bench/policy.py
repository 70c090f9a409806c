"""What the runner asks of a policy: one method, and three it may have.

A policy sees the session as it grows and says what to send. Whatever it does with the messages
is its own affair (files below `Setting.root` included), as long as it changes none of the dicts it
is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bench.judges.provider import Refusal, Usage
from bench.wire import Format, Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a policy is told once, before the first step.

    `count` gives the provider's exact tokens of a message list; `fixed_tokens` are those of system
    and tools, which every request carries beside its messages. A request is refused when
    `fixed_tokens + count(messages) + reserve_tokens > window_tokens`.
    """

    window_tokens: int
    reserve_tokens: int
    fixed_tokens: int
    format: Format
    system: Any
    tools: Any
    count: Callable[[Sequence[Wire]], int]
    root: Path
    session: str

    @property
    def most_tokens(self) -> int:
        """The largest message list the provider takes."""
        return self.window_tokens - self.reserve_tokens - self.fixed_tokens


class Policy(Protocol):
    """Decides what of a session is sent. Called before each model call, in order."""

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """The messages to send; `history` is everything so far and extends the one before."""
        ...


@runtime_checkable
class AnswersRefusals(Protocol):
    """A policy that tries again when the provider says the request is too long."""

    def refused(self, history: Sequence[Wire], refusal: Refusal) -> list[Wire] | None:
        """Another request to send, or None to give up on this step."""
        ...


@runtime_checkable
class WatchesUsage(Protocol):
    """A policy that wants to know what the provider reported."""

    def observe(self, usage: Usage) -> None:
        """Usage of the request just sent."""
        ...


@runtime_checkable
class Reports(Protocol):
    """A policy with figures of its own (`summaries`, `edits` by pass) for the result row."""

    def report(self) -> dict[str, Any]:
        """Entries that are put into the row, over the runner's own of the same name."""
        ...


MakePolicy = Callable[[Setting], Policy]
