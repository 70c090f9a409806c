"""What each edit operation does to one message, as plain functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from wayfare.messages import Block, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from wayfare.transcript import AsText, Clean, DropBlocks, Omit, Reorder, SetInput, SetText

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def rendered(
    message: Message, index: tuple[int, ...] | None, op: object
) -> tuple[Message, tuple[int, ...] | None] | None:
    """`message` with `op` applied, and the original numbers of the blocks that are left.

    None means that nothing of the message is left.
    """
    match op:
        case Omit():
            return None
        case Clean():
            return message.with_blocks(_clean(block) for block in message.blocks), index
        case DropBlocks():
            numbers = index if index is not None else tuple(range(len(message.blocks)))
            left = [
                (n, b) for n, b in zip(numbers, message.blocks, strict=True) if n not in op.blocks
            ]
            if not left:
                return None
            return message.with_blocks(b for _, b in left), tuple(n for n, _ in left)
        case Reorder():
            numbers = index if index is not None else tuple(range(len(message.blocks)))
            by_number = dict(zip(numbers, message.blocks, strict=True))
            order = tuple(n for n in op.blocks if n in by_number)
            if len(order) != len(numbers):
                return message, index
            return message.with_blocks(by_number[n] for n in order), order
        case SetText() | SetInput() | AsText():
            at = op.block if index is None else _at(index, op.block)
            if at is None or at >= len(message.blocks):
                return message, index
            blocks = list(message.blocks)
            blocks[at] = _changed(blocks[at], op)
            return message.with_blocks(blocks), index
        case _:
            raise AssertionError(op)


def shortens(op: object) -> frozenset[int]:
    """The blocks that `op` shows by a stand-in."""
    return frozenset({op.block}) if isinstance(op, SetText | SetInput) else frozenset()


def _at(index: Sequence[int], block: int) -> int | None:
    return index.index(block) if block in index else None


def _changed(block: Block, op: SetText | SetInput | AsText) -> Block:
    match op, block:
        case SetText(), ToolResult():
            return ToolResult(
                call_id=block.call_id,
                content=(Text(text=op.text),),
                is_error=block.is_error,
            )
        case SetText(), Text() | Thinking() | Opaque():
            return Text(text=op.text)
        case AsText(), ToolResult():
            return Text(text=f"{op.lead}\n{block.text}")
        case SetInput(), ToolCall():
            return ToolCall(id=block.id, name=block.name, input=op.input)
        case _:
            return block


def _clean(block: Block) -> Block:
    """The block with every character that is no valid Unicode shown as U+FFFD."""
    value: Any = msgspec.to_builtins(msgspec.structs.replace(block, wire=None))
    wire = _clean_value(block.wire) if block.wire is not None else None
    cleaned = msgspec.convert(_clean_value(value), type(block))
    return msgspec.structs.replace(cleaned, wire=wire)


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {_clean_value(k): _clean_value(v) for k, v in mapping.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(v) for v in cast("Sequence[Any]", value)]
    return value


def has_surrogates(message: Message) -> bool:
    """Whether any text of the message is no valid Unicode."""
    try:
        msgspec.json.encode(message)
    except UnicodeEncodeError:
        return True
    return False
