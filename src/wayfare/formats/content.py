"""The one shape that content has in every format: a string, or a list of values with a `type`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from wayfare.formats.found_text import found_text
from wayfare.messages import Block, Opaque, Text, WireValue

BlockReaders = Mapping[str, Callable[[WireValue], Block | None]]
"""By `type`, what reads such a value; None from it: the value is not what its type says."""


def read_blocks(content: object, readers: BlockReaders) -> tuple[Block, ...]:
    """The blocks of a `content`: a string, a list of values, or nothing."""
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    if not isinstance(content, list | tuple):
        return ()
    return tuple([read_block(value, readers) for value in cast(Sequence[object], content)])


def read_block(value: object, readers: BlockReaders) -> Block:
    """One block. What is not understood becomes an `Opaque` that holds it."""
    if isinstance(value, str):
        return Text(text=value)
    if not isinstance(value, Mapping):
        return Opaque(kind=type(value).__name__)
    wire = cast(WireValue, value)
    kind = wire.get("type")
    if isinstance(kind, str):
        reader = readers.get(kind)
        if reader is not None and (block := reader(wire)) is not None:
            return block
    return Opaque(kind=str(kind), text=found_text(wire), wire=wire)


def read_text(wire: WireValue) -> Block | None:
    """The reader of values that hold a `text`."""
    text = wire.get("text")
    return Text(text=text, wire=wire) if isinstance(text, str) else None
