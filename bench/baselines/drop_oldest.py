"""Drop the oldest messages when the request no longer fits, just as many as needed."""

from __future__ import annotations

from collections.abc import Sequence

from bench.baselines.cutting import last_start, marker, may_start, pinned
from bench.policy import Setting
from bench.wire import Wire

MARKER = "[Earlier messages were removed to save space]"


class DropOldest:
    """A rolling window: at the limit every step drops a little, and nothing says where it went."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._start = 0
        self._marker = marker(MARKER, setting.format)

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """What still fits, counted from the newest message back."""
        setting = self._setting
        front = pinned(history)
        self._start = max(self._start, len(front))
        kept = self._view(history, front)
        latest = last_start(history, setting.format)
        while setting.count(kept) > setting.most_tokens and self._start < latest:
            self._start += 1
            while self._start < latest and not may_start(history, self._start, setting.format):
                self._start += 1
            kept = self._view(history, front)
        return kept

    def _view(self, history: Sequence[Wire], front: list[Wire]) -> list[Wire]:
        if self._start == len(front):
            return list(history)
        return [*front, self._marker, *history[self._start :]]
