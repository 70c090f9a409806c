"""Careful access to untyped JSON: every accessor gives an empty value instead of failing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

from wayfare.replay.recording import Wire

_MILLISECONDS_FROM = 1e11
"""A number above this is a time in milliseconds: in seconds it would be after the year 5100."""


def mapping(value: Any) -> Wire:
    """The value when it is an object, else an empty one."""
    return cast("Wire", value) if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def mappings(value: Any) -> list[Wire]:
    """The objects of a list."""
    return [cast("Wire", one) for one in sequence(value) if isinstance(one, dict)]


def text(value: Any) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def content_text(content: Any) -> str:
    """All text of a message's content, a string or a list of blocks, joined by blank lines."""
    if isinstance(content, str):
        return content
    return "\n\n".join(text(block.get("text")) for block in mappings(content) if "text" in block)


def unix_time(value: Any) -> float | None:
    """A recorded time in unix seconds: ISO 8601, or a number in seconds or milliseconds.

    A time without a zone counts as UTC, so that a recording reads the same on every machine.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return value / 1000 if value > _MILLISECONDS_FROM else float(value)
    try:
        moment = datetime.fromisoformat(text(value))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def most_common(names: Iterable[str | None]) -> str | None:
    """The name that occurs most often, the earlier one of two equals; None when there is none."""
    counts: dict[str, int] = {}
    for name in names:
        if name:
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name], default=None)


def json_arguments(arguments: Any) -> str:
    """Tool arguments as the JSON text that OpenAI formats carry; a string is kept as it is."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps({} if arguments is None else arguments, ensure_ascii=False)
