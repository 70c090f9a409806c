"""Waiting, injected: real time in use, a clock that moves in tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
from anyio.lowlevel import checkpoint

from wayfare.clock import MovableClock

Sleep: TypeAlias = Callable[[float], Awaitable[None]]
"""Waits so many seconds; a cancellation ends it."""


async def sleep(seconds: float) -> None:
    """Wait in real time."""
    await anyio.sleep(seconds)


def sleep_on(clock: MovableClock) -> Sleep:
    """A sleep that moves `clock` instead of waiting, and lets other tasks run."""

    async def moved(seconds: float) -> None:
        clock.advance(seconds)
        await checkpoint()

    return moved
