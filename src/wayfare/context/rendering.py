"""Rendering: what each edit operation makes of one message, always the same from the same log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from wayfare.context.facts import Ledger
from wayfare.context.stubs import (
    SILENT,
    Addresses,
    head_and_tail,
    preview,
    preview_of,
    result_text,
    short_input,
    stub,
)
from wayfare.context.tool_use import Declared, ToolUse, tool_use
from wayfare.messages import Block, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from wayfare.transcript import (
    AsText,
    Clean,
    DropBlocks,
    HeadTail,
    Omit,
    Preview,
    Reorder,
    ShortInput,
    Silent,
    Stub,
)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
BlockOp = Preview | Stub | HeadTail | ShortInput | Silent | AsText
MessageOp = BlockOp | DropBlocks | Omit | Clean | Reorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What rendering needs beside the message: addresses, the facts so far, tools' traits."""

    addresses: Addresses
    ledger: Ledger
    declared: Declared | None = None

    def uses(self, message: Message) -> Mapping[str, ToolUse]:
        """The calls of a message, by id."""
        return {call.id: tool_use(call, self.declared) for call in message.calls}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as it is shown: the original numbers of its blocks, and which are stand-ins."""

    message: Message
    index: tuple[int, ...] | None
    shortened: frozenset[int]


def rendered(
    shown: Shown,
    op: MessageOp,
    address: Mapping[int, str],
    uses: Mapping[str, ToolUse],
) -> Shown | None:
    """`shown` with `op` applied; None means that nothing of the message is left.

    `address` leads from block numbers to addresses, `uses` from call ids to what they were.
    """
    message = shown.message
    numbers = shown.index if shown.index is not None else tuple(range(len(message.blocks)))
    match op:
        case Omit():
            return None
        case Clean():
            blocks = [_clean(block) for block in message.blocks]
            return _changed(shown, message.with_blocks(blocks), shown.index)
        case DropBlocks():
            left = [
                (n, b) for n, b in zip(numbers, message.blocks, strict=True) if n not in op.blocks
            ]
            if not left:
                return None
            blocks = [b for _, b in left]
            return _changed(shown, message.with_blocks(blocks), tuple(n for n, _ in left))
        case Reorder():
            by_number = dict(zip(numbers, message.blocks, strict=True))
            if sorted(op.blocks) != sorted(numbers):
                return shown
            return _changed(shown, message.with_blocks(by_number[n] for n in op.blocks), op.blocks)
        case _:
            if op.block not in numbers:
                return shown
            at = numbers.index(op.block)
            blocks = list(message.blocks)
            whole = op.block not in shown.shortened
            blocks[at] = stand_in(blocks[at], op, address[op.block], uses, whole=whole)
            stands = shown.shortened
            if not isinstance(op, AsText | Silent):
                stands |= {op.block}
            return Shown(message=message.with_blocks(blocks), index=shown.index, shortened=stands)


def _changed(shown: Shown, message: Message, index: tuple[int, ...] | None) -> Shown:
    return Shown(message=message, index=index, shortened=shown.shortened)


def stand_in(
    block: Block, op: BlockOp, address: str, uses: Mapping[str, ToolUse], *, whole: bool
) -> Block:
    """What a block shows once `op` is applied; `whole` says that it still shows its own text."""
    match op, block:
        case AsText(), ToolResult():
            return Text(text=f"{op.lead}\n{block.text}")
        case Silent(), ToolResult():
            return _result(block, SILENT)
        case Preview(), ToolResult():
            text = result_text(block.content)
            return _result(block, preview(address, text if whole else preview_of(text), op.chars))
        case Stub(), ToolResult():
            return _result(block, stub(uses.get(block.call_id), block, address, whole=whole))
        case HeadTail(), Text() | Thinking() | Opaque():
            return Text(text=head_and_tail(block.text, address, op.chars))
        case ShortInput(), ToolCall():
            shorter = short_input(block.input, address, op.over_chars)
            return (
                block if shorter is None else ToolCall(id=block.id, name=block.name, input=shorter)
            )
        case _:
            return block


def _result(block: ToolResult, text: str) -> ToolResult:
    return ToolResult(call_id=block.call_id, content=(Text(text=text),), is_error=block.is_error)


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
