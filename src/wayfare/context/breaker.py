"""The breaker: after some failures in a row no summary is asked for, for a while.

Its state is in the transcript: a mark for every failure, the edit of a summary that worked.
"""

from __future__ import annotations

from typing import Final

from wayfare.transcript import Collapse, EditEntry, MarkEntry, Transcript

FAILED: Final = "summary_failed"
"""Name of the mark."""
OPEN_SECONDS: Final = 1_800.0
"""How long it stays open before one more summary is tried."""


class Breaker:
    """Failures in a row of one session, and when the last was."""

    def __init__(self, in_a_row: int = 0, last: float = 0.0) -> None:
        self.in_a_row = in_a_row
        self._last = last

    @classmethod
    async def of(cls, transcript: Transcript) -> Breaker:
        """The state a log holds."""
        breaker = cls()
        async for entry in transcript.entries():
            if isinstance(entry, MarkEntry) and entry.name == FAILED:
                breaker.in_a_row += 1
                breaker._last = entry.time
            elif (isinstance(entry, EditEntry) and _is_summary(entry)) or (
                isinstance(entry, MarkEntry) and entry.name == "model"
            ):
                breaker.in_a_row = 0
        return breaker

    def open(self, now: float, most: int) -> bool:
        """Whether no summary should be asked for now."""
        return self.in_a_row >= most and now - self._last < OPEN_SECONDS

    async def failed(self, transcript: Transcript, kind: str, text: str, trigger: str) -> int:
        """Note a failure; returns how many there are in a row."""
        self.in_a_row += 1
        detail = {"kind": kind, "text": text, "in_a_row": self.in_a_row, "trigger": trigger}
        self._last = (await transcript.mark(FAILED, detail)).time
        return self.in_a_row

    def succeeded(self) -> None:
        """A summary stands."""
        self.in_a_row = 0


def _is_summary(entry: EditEntry) -> bool:
    return any(isinstance(op, Collapse) and op.message is not None for op in entry.ops)
