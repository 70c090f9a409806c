"""JSON lines of one wire message each, as simple loggers write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wayfare.replay.readers import messages
from wayfare.replay.readers.fields import mapping
from wayfare.replay.readers.source import Source, shape_of
from wayfare.replay.recording import Recording, Wire


def accepts(row: Wire) -> bool:
    """A message, and not a session that has a role by chance."""
    return messages.is_history([row]) and "messages" not in row


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The one session of the file."""
    history: list[Wire] = []
    for number, row in rows:
        if messages.is_history([row]):
            history.append(mapping(row))
        else:
            source.problems.add(number, f"no message: {shape_of(row)}")
    return messages.read(source, history)
