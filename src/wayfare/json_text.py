"""JSON as wayfare stores it: fast, and exact even for text that is no valid Unicode."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, RecursionError)
"""What a decoder raises for bytes that are not what it reads: no JSON, other values than expected, or
values within values until the stack ends."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


def dumps(value: Any) -> bytes:
    """One line of UTF-8 JSON. Lone surrogates are written as escapes, so they survive."""
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, TypeError, OverflowError):
        plain = msgspec.to_builtins(value, str_keys=True)
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def loads(content: bytes | str) -> Any:
    """Read JSON, lone surrogates included.

    Raises:
        ValueError: no JSON; the text says where.
    """
    try:
        return _decoder.decode(content)
    except UNREADABLE:
        pass
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("values within values, too deep to be read") from error
