"""Shortening: what of one message can be said in one line each once it was used.

Results become a stub with their address, long arguments of calls how they begin. What is text of
files is only shortened where it is superseded: the same call again later, or the file written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare import json_text
from wayfare.context.read_lines import Lines, covers, read_lines
from wayfare.context.slot import Slot
from wayfare.context.stubs import Addresses, Where, result_text, short_input, stub
from wayfare.messages import Media, Thinking, ToolCall, ToolResult
from wayfare.tokens import Load, Meter, media_tokens
from wayfare.transcript import ShortInput, Stub

LONG_ARGUMENT_CHARS: Final = 400
LONG_REPLACED_CHARS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortening:
    """One block that can be shortened: the operation, what it saves, the call it belongs to.

    `of_files` says that it shows text of files, whole; `chars` is its size now.
    """

    op: Stub | ShortInput
    saved: Load
    chars: int
    call_id: str
    of_files: bool
    compactable: bool = True


def shortenings(slot: Slot, meter: Meter, addresses: Addresses) -> Iterator[Shortening]:
    """Every block of a message that a shorter stand-in could take the place of.

    What it saves is the block's share of the message's load, so that no text is measured twice.
    """
    where = addresses.where(slot.entry, slot.refs)
    for position, block in enumerate(slot.message.blocks):
        number = slot.block_number(position)
        if isinstance(block, ToolResult):
            yield from _result(slot, block, number, where, meter)
        elif isinstance(block, ToolCall) and block.input and number not in slot.shortened:
            yield from _call(slot, block, number, where, meter)


def _result(
    slot: Slot, block: ToolResult, number: int, where: Where, meter: Meter
) -> Iterator[Shortening]:
    use = slot.uses.get(block.call_id)
    whole = number not in slot.shortened
    text = result_text(block.content)
    line = stub(use, block, where.brief(number), whole=whole)
    media = sum(media_tokens(b) for b in block.content if isinstance(b, Media))
    chars = len(text) - len(line)
    if chars <= 0 and not media:
        return
    tokens = slot.tokens_of(len(text), media) + media - meter.text(line)
    yield Shortening(
        op=Stub(slot.entry, number),
        saved=Load(tokens, chars, chars),
        chars=len(text),
        call_id=block.call_id,
        of_files=whole and use is not None and use.shows_files,
        compactable=use is None or use.compactable,
    )


def replacements(slot: Slot, meter: Meter, addresses: Addresses) -> Iterator[Shortening]:
    """The texts that edits of a message took out of their files: nobody will look for them again,
    while what they put in is the newest text of the file there is."""
    where = addresses.where(slot.entry, slot.refs)
    for position, block in enumerate(slot.message.blocks):
        number = slot.block_number(position)
        if isinstance(block, ToolCall) and block.input and number not in slot.shortened:
            op = ShortInput(slot.entry, number, LONG_REPLACED_CHARS, replaced=True)
            yield from _input(slot, block, op, where, meter)


def _call(
    slot: Slot, block: ToolCall, number: int, where: Where, meter: Meter
) -> Iterator[Shortening]:
    op = ShortInput(slot.entry, number, LONG_ARGUMENT_CHARS)
    yield from _input(slot, block, op, where, meter)


def _input(
    slot: Slot, block: ToolCall, op: ShortInput, where: Where, meter: Meter
) -> Iterator[Shortening]:
    shorter = short_input(block.input, where.entry_address, op.over_chars, replaced=op.replaced)
    if shorter is None:
        return
    use = slot.uses.get(block.id)
    old = len(json_text.dumps(block.input))
    new = json_text.dumps(shorter).decode("utf-8", "replace")
    chars = old - len(new)
    yield Shortening(
        op=op,
        saved=Load(slot.tokens_of(old) - meter.text(new), chars, chars),
        chars=old,
        call_id=block.id,
        of_files=use is not None and use.kind in ("edit", "write") and not op.replaced,
    )


def reasoning_tokens(slot: Slot, meter: Meter) -> int:
    """Tokens of the signed reasoning of a message, which an edit in front of it drops."""
    return sum(
        meter.text(block.text) + len(block.signature) // 8
        for block in slot.message.blocks
        if isinstance(block, Thinking) and block.bound
    )


def superseded(slots: Sequence[Slot]) -> frozenset[str]:
    """Ids of the calls whose texts a later one replaces: the very same call, a read of more of
    the same file, or a write of the whole file that was read or written before.

    Only by what stands whole itself: a read that was offloaded replaces nothing.
    """
    whole = {
        block.call_id
        for slot in slots
        for at, block in enumerate(slot.message.blocks)
        if isinstance(block, ToolResult) and slot.block_number(at) not in slot.shortened
    }
    gone: set[str] = set()
    latest: dict[object, str] = {}
    touched: dict[str, list[tuple[str, Lines | None]]] = {}
    for slot in slots:
        for call in slot.message.calls:
            use = slot.uses.get(call.id)
            if use is None or use.kind == "other" or call.id not in whole:
                continue
            key = (call.name, json_text.dumps(call.input), call.arguments if not call.input else "")
            if key in latest:
                gone.add(latest[key])
            latest[key] = call.id
            if use.path and use.kind in ("read", "write"):
                lines = read_lines(call.input) if use.kind == "read" else None
                earlier = touched.setdefault(use.path, [])
                covered = [
                    id for id, other in earlier if use.kind == "write" or covers(lines, other)
                ]
                gone.update(covered)
                touched[use.path] = [one for one in earlier if one[0] not in covered]
                touched[use.path].append((call.id, lines))
    return frozenset(gone)
