"""The only reads of time and randomness, so that tests and recordings can move both."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, tzinfo
from typing import Protocol


def moment(seconds: float, form: str = "%Y-%m-%d %H:%M", *, zone: tzinfo | None = UTC) -> str:
    """A time for people, in `zone` (None: the machine's own); what a file says may be no time."""
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone(zone).strftime(form)
    except (ValueError, OverflowError, OSError):
        return "at no known time"


class Clock(Protocol):
    """What wayfare asks about time and chance."""

    def now(self) -> float:
        """Unix time in seconds; may jump when a person sets the machine's clock."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def random(self) -> float:
        """A number in [0, 1), for jitter."""
        ...

    def token(self) -> str:
        """Eight fresh hexadecimal characters, for names that must not collide."""
        ...


class SystemClock:
    """The machine's own clock and randomness."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def random(self) -> float:
        return (int.from_bytes(os.urandom(7), "big") >> 3) / (1 << 53)

    def token(self) -> str:
        return os.urandom(4).hex()


class MovableClock:
    """A clock that stands still until told otherwise; its randomness is a counter.

    Args:
        start: Unix seconds at which it stands first.
    """

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._elapsed = 0.0
        self._drawn = 0

    def advance(self, seconds: float) -> None:
        """Let time pass, for both readings."""
        self._now += seconds
        self._elapsed += max(seconds, 0.0)

    def set(self, now: float) -> None:
        """Set the wall clock, as a person may; the monotonic reading does not move."""
        self._now = now

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    def random(self) -> float:
        self._drawn += 1
        return (self._drawn * 0.6180339887498949) % 1.0

    def token(self) -> str:
        self._drawn += 1
        return f"{self._drawn:08x}"
