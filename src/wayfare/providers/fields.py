"""Reading decoded JSON of unknown shape: what is not as expected is empty, never an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def fields_in(value: object) -> Mapping[str, Any]:
    """An object's fields; none for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none for anything else."""
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]


def count_in(fields: Mapping[str, Any], key: str) -> int:
    """A whole number; 0 where there is none."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
