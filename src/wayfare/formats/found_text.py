"""The text inside of a block whose kind wayfare does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

_NOT_TEXT = frozenset(
    {
        "type",
        "id",
        "call_id",
        "tool_use_id",
        "item_id",
        "status",
        "signature",
        "data",
        "file_data",
        "image_url",
        "encrypted_content",
        "cache_control",
        "media_type",
    }
)
"""Keys whose values no reader would call text: names, marks, and encoded bytes."""

_DEPTH = 32


def found_text(value: object) -> str:
    """Every string inside of `value`, joined by line ends, in order.

    Ids, marks and encoded bytes are left out; what is nested deeper than 32 levels is, too.
    """
    found: list[str] = []
    _collect(value, found, _DEPTH)
    return "\n".join(found)


def _collect(value: object, found: list[str], depth: int) -> None:
    if isinstance(value, str):
        if value:
            found.append(value)
    elif depth == 0:
        return
    elif isinstance(value, Mapping):
        for key, inner in cast(Mapping[Any, object], value).items():
            if key not in _NOT_TEXT:
                _collect(inner, found, depth - 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in cast(Sequence[object], value):
            _collect(inner, found, depth - 1)
