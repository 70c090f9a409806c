"""Reckoning: what a request is believed to take, from estimates and what the provider reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wayfare.context.budget import Budget, Goal, goal
from wayfare.context.view import View
from wayfare.model import Usage
from wayfare.tokens import Calibration

_UNSEEN_SHARE: Final = 0.1
"""What no provider has counted yet may be so much larger than estimated: the mean error a chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchor:
    """Reported usage and where the view stood then; any edit or change of model ends it."""

    tokens: int
    position: int
    edits: int


class Reckoning:
    """Tokens of views of one session under one model.

    Args:
        fixed_tokens: What system prompt and tool schemas take, estimated; they are sent with
            every request.
    """

    def __init__(self, fixed_tokens: int) -> None:
        self.fixed_tokens = fixed_tokens
        self.calibration = Calibration()
        self._anchor: _Anchor | None = None

    def report(self, usage: Usage, view: View) -> None:
        """Learn from reported usage of the request that `view` was, whose reply comes next."""
        estimated = view.total.tokens + self.fixed_tokens
        self.calibration = self.calibration.after(
            estimated_tokens=estimated, actual_tokens=usage.prompt_tokens
        )
        if usage.prompt_tokens:
            self._anchor = _Anchor(
                tokens=usage.total_tokens, position=len(view) + 1, edits=view.edits
            )

    def forget(self) -> None:
        """Another model counts otherwise."""
        self.calibration = Calibration()
        self._anchor = None

    def tokens(self, view: View) -> int:
        """What the whole request is believed to take."""
        anchor = self._anchor
        if anchor is not None and anchor.edits == view.edits and anchor.position <= len(view):
            unseen = self.calibration.tokens(view.tokens_from(anchor.position))
            return anchor.tokens + round(unseen * (1 + _UNSEEN_SHARE))
        return self.calibration.tokens(self.fixed_tokens + view.total.tokens)

    def goal(self, view: View, budget: Budget) -> Goal:
        """Where passes start and stop, in the raw units of the view's load."""
        return goal(
            budget,
            total=view.total,
            now_tokens=self.tokens(view),
            fixed_tokens=self.calibration.tokens(self.fixed_tokens),
            ratio=self.calibration.ratio,
        )
