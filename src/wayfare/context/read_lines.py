"""Which lines of a file a read asked for, as reading tools commonly name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

_FAR = 1 << 62


class Lines(NamedTuple):
    """Lines from `first` to `last`, both included."""

    first: int
    last: int


def read_lines(call_input: Mapping[str, Any]) -> Lines | None:
    """The lines a read names; None where it names none and reads the whole file."""
    span: Any = call_input.get("view_range")
    if isinstance(span, list):
        numbers = [n for n in cast("list[object]", span) if isinstance(n, int)]
        if len(numbers) == 2:
            return Lines(numbers[0], numbers[1] if numbers[1] >= 0 else _FAR)
    first = _number(call_input, "offset", "start_line", "start", "line_start")
    last = _number(call_input, "end_line", "end", "line_end")
    count = _number(call_input, "limit", "lines", "n_lines", "num_lines")
    if first is None and last is None and count is None:
        return None
    start = first or 0
    if last is not None:
        return Lines(start, last)
    return Lines(start, start + count - 1 if count is not None else _FAR)


def _number(call_input: Mapping[str, Any], *keys: str) -> int | None:
    return next((call_input[k] for k in keys if isinstance(call_input.get(k), int)), None)


def covers(lines: Lines | None, other: Lines | None) -> bool:
    """Whether a read of `lines` shows all that one of `other` showed (None: the whole file)."""
    if lines is None:
        return True
    return other is not None and lines.first <= other.first and lines.last >= other.last
