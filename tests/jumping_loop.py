"""An event loop whose time jumps to the next timer: what takes minutes takes no time in a test."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any


class _Jumping(selectors.DefaultSelector):
    """Looks at what is ready and, where nothing is, lets the time pass that was to be waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(None if timeout is None else 0)
        if not ready and timeout:
            self.now += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """For code without threads: a thread's answer is not waited for while a timer runs."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


JUMPING: tuple[str, Mapping[str, Any]] = ("asyncio", {"loop_factory": JumpingLoop})
"""What an `anyio_backend` fixture gives back to have it."""
