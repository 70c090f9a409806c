"""Likely need: which step groups of the past a context should go on holding as text.

Measured on recorded sessions: what the next edits quote stands nearly always in text of files that
was read, found or written (98 %), almost never in what commands printed (0.2 % at a quarter of all
tokens), and the chance falls with age about as fast as with the square root of the size. At the
same number of tokens this order holds 2 to 6 points more of it than plain recency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.tool_use import Kind, ToolUse

_WORTH: Final[dict[Kind, float]] = {"edit": 2.0, "search": 0.2}
"""What a token of text of files is worth, by where it came from: what an edit put in is quoted
again twice as often as what was read, what a search found a fifth as often."""
_SMALLEST_TOKENS: Final = 50
_LEAST_WORTH: Final = 0.03
"""What a group without any text of files is worth: what was done and said."""
_LEAST_RANK_OF_LIMIT: Final = 12.0
"""Ranks under this, divided by the limit in tokens, are not worth their room: a cut then goes
deeper than its target. A wider window is cut less often, so that what it keeps may be older.
Measured on recorded sessions, beside a target of 0.44 of the limit instead of 0.4: 1 to 2 points
more of the needed text at windows of 12,500 and 50,000, at the same cost or less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A step group that may stay: where it starts, how many steps old it is, its tokens if it
    stays, those of them that are text of files, weighted by their worth."""

    start: int
    age_steps: int
    tokens: int
    file_tokens: float

    @property
    def rank(self) -> float:
        """Higher is more likely to be needed, for the room it takes."""
        size = max(self.tokens, _SMALLEST_TOKENS)
        worth = max(self.file_tokens / size, _LEAST_WORTH)
        return worth / (max(self.age_steps, 1) * math.sqrt(size))


def chosen(
    candidates: Sequence[Candidate], room_tokens: float, limit_tokens: int
) -> list[Candidate]:
    """Those that stay within the room, likeliest first; one that does not fit is passed over, and
    one that is too unlikely for a context of `limit_tokens` does not stay though there is room."""
    stay: list[Candidate] = []
    least = _LEAST_RANK_OF_LIMIT / max(limit_tokens, 1)
    for one in sorted(candidates, key=lambda c: -c.rank):
        if one.rank < least:
            break
        if one.tokens <= room_tokens:
            room_tokens -= one.tokens
            stay.append(one)
    return stay


def worth(use: ToolUse | None) -> float:
    """What a token of text of files is worth that this use brought."""
    return _WORTH.get(use.kind, 1.0) if use is not None else 1.0
