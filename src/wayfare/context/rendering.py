"""Rendering: what each edit operation makes of one message, always the same from the same log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from wayfare.context.facts import Ledger
from wayfare.context.stubs import (
    SILENT,
    Addresses,
    Where,
    head_and_tail,
    preview,
    preview_of,
    result_text,
    short_input,
    stub,
)
from wayfare.context.tool_use import ToolUse
from wayfare.context.unicode_text import is_valid, valid
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
from wayfare.transcript.stored import readable_block

BlockOp = Preview | Stub | HeadTail | ShortInput | Silent | AsText
MessageOp = BlockOp | DropBlocks | Omit | Clean | Reorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What rendering needs beside the message: where texts stand, and the facts so far."""

    addresses: Addresses
    ledger: Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as it is shown: the original numbers of its blocks, and which are stand-ins."""

    message: Message
    index: tuple[int, ...] | None
    shortened: frozenset[int]


def rendered(
    shown: Shown, op: MessageOp, where: Where, uses: Mapping[str, ToolUse]
) -> Shown | None:
    """`shown` with `op` applied; None means that nothing of the message is left.

    `where` leads from blocks to their addresses, `uses` from call ids to what they were.
    """
    message = shown.message
    numbers = shown.index if shown.index is not None else tuple(range(len(message.blocks)))
    match op:
        case Omit():
            return None
        case Clean():
            blocks = [_clean(block, where.entry_address) for block in message.blocks]
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
            blocks[at] = stand_in(blocks[at], op, where, uses, whole=whole)
            stands = shown.shortened
            if not isinstance(op, AsText | Silent):
                stands |= {op.block}
            return Shown(message=message.with_blocks(blocks), index=shown.index, shortened=stands)


def _changed(shown: Shown, message: Message, index: tuple[int, ...] | None) -> Shown:
    return Shown(message=message, index=index, shortened=shown.shortened)


def stand_in(
    block: Block, op: BlockOp, where: Where, uses: Mapping[str, ToolUse], *, whole: bool
) -> Block:
    """What a block shows once `op` is applied; `whole` says that it still shows its own text."""
    match op, block:
        case AsText(), ToolResult():
            told = all(isinstance(inner, Text) for inner in block.content)
            rest = "" if told else f"\n[what is no text: {where.block(op.block)}]"
            return Text(text=f"{op.lead}\n{block.text}{rest}")
        case AsText(), ToolCall():
            said = f"{op.lead}\n{readable_block(block)}"
            return Text(text=f"{said}\n[exact: {where.entry_address}]")
        case Silent(), ToolResult():
            return _result(block, SILENT)
        case Preview(), ToolResult():
            text = result_text(block.content)
            text = text if whole else preview_of(text)
            return _result(block, preview(where.block(op.block), text, op.chars))
        case Stub(), ToolResult():
            line = stub(uses.get(block.call_id), block, where.brief(op.block), whole=whole)
            return _result(block, line)
        case HeadTail(), Text() | Thinking() | Opaque():
            address = where.block(op.block)
            return Text(text=head_and_tail(block.text, address, op.chars, whole=whole))
        case ShortInput(), ToolCall():
            shorter = short_input(
                block.input, where.entry_address, op.over_chars, replaced=op.replaced
            )
            if shorter is None:
                return block
            return ToolCall(id=block.id, name=block.name, input=shorter)
        case _:
            return block


def _result(block: ToolResult, text: str) -> ToolResult:
    return ToolResult(call_id=block.call_id, content=(Text(text=text),), is_error=block.is_error)


def _clean(block: Block, address: str) -> Block:
    """The block with every character that is no valid Unicode shown as U+FFFD, and behind a text
    that had one, where its exact characters stand."""
    match block:
        case Text():
            return Text(text=_noted(block.text, address)) if not is_valid(block.text) else block
        case ToolResult():
            content = tuple(_clean(inner, address) for inner in block.content)
            id = valid(block.call_id)
            return ToolResult(call_id=id, content=content, is_error=block.is_error)
        case ToolCall():
            given = {valid(k): _cleaned(v, address) for k, v in block.input.items()}
            raw = valid(block.arguments) if block.arguments is not None and not given else None
            name = valid(block.name)
            return ToolCall(id=valid(block.id), name=name, input=given, arguments=raw)
        case _:
            value = _cleaned(msgspec.to_builtins(msgspec.structs.replace(block, wire=None)), "")
            wire = _cleaned(block.wire, "") if block.wire is not None else None
            return msgspec.structs.replace(msgspec.convert(value, type(block)), wire=wire)


def _noted(text: str, address: str) -> str:
    return f"{valid(text)} [characters that are no valid Unicode; exact: {address}]"


def _cleaned(value: Any, address: str) -> Any:
    """`value` with its strings cleaned, and noted where there is an address."""
    if isinstance(value, str):
        return _noted(value, address) if address and not is_valid(value) else valid(value)
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {valid(k): _cleaned(v, address) for k, v in mapping.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(v, address) for v in cast("Sequence[Any]", value)]
    return value
