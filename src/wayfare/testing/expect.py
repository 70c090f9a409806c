"""Expecting an error without a test framework."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

_Error = TypeVar("_Error", bound=Exception)


async def expect(kind: type[_Error], call: Awaitable[object], otherwise: str) -> _Error:
    """The error of this kind that awaiting `call` raises.

    Raises:
        AssertionError: it raised nothing; the text is `otherwise`.
    """
    try:
        got = await call
    except kind as error:
        return error
    raise AssertionError(f"{otherwise} (it returned {str(got)[:200]})")
