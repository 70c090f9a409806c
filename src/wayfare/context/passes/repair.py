"""Repair: what came in broken is made legal by edits that shape the request only.

Histories of crashed or aborted sessions, and of other people's loops, hold calls without results,
results without calls, blank texts, a missing first user message, text that is no Unicode. Every
repair says what it did; nothing is dropped that held text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from wayfare.context.groups import Group, groups
from wayfare.context.invariants import (
    blank_blocks,
    is_empty,
    results_first,
    silent_results,
    trailing_reasoning,
)
from wayfare.context.slot import Slot
from wayfare.context.unicode_text import has_surrogates
from wayfare.context.view import View
from wayfare.formats.roles import has_wrong_role
from wayfare.messages import Message, Origin, Text, Thinking, ToolCall, ToolResult, result, results
from wayfare.transcript import (
    AsText,
    Clean,
    DropBlocks,
    Edit,
    HeadTail,
    Insert,
    Omit,
    Op,
    Reorder,
    Silent,
)

REASONING_CHARS: Final = 400
"""What is shown of reasoning that may not stand where it stood."""
FRONT: Final = "[The conversation starts here.]"
INTERRUPTED: Final = (
    "[interrupted] This call has no recorded result: it may or may not have run. "
    "Check before running it again."
)


def characters(view: View, start: int) -> list[Edit]:
    """Edits that make texts, ids and roles valid from position `start` on."""
    return list(_clean(view.slots(start)))


def pairs(view: View, start: int) -> list[Edit]:
    """Edits after which every call from position `start`, the start of a step group, has one
    result and every result its call."""
    slots = view.slots(start)
    return [edit for group in groups(slots) for edit in _pairs(group, slots)]


def shapes(view: View, start: int) -> list[Edit]:
    """Edits that make each message from position `start` on, and the first of all, legal."""
    slots = view.slots(start)
    edits = [*_blanks(slots), *_endings(slots)]
    if start == 0:
        edits += _front(slots)
    return edits


STAGES: Final = (characters, pairs, shapes)
"""One after the other, each on the view the one before leaves: an id must be valid before it is
looked up, and a result that became text is no result that must stand first."""


def _edit(reason: str, *ops: Op) -> Edit:
    return Edit(by="repair", reason=reason, ops=ops)


def _front(slots: Sequence[Slot]) -> Iterator[Edit]:
    before = 0
    for slot in slots:
        if slot.message.role in ("system", "developer"):
            before = slot.entry
            continue
        if is_empty(slot.message):
            continue
        if slot.message.role == "user" and not slot.message.results:
            return
        break
    if slots:
        message = Message(role="user", blocks=(Text(text=FRONT),), origin=Origin.SYSTEM)
        yield _edit("the first message was not a user's", Insert(before, message))


def _endings(members: Sequence[Slot]) -> Iterator[Edit]:
    """Reasoning at the end of a message, which Anthropic refuses, stands on as plain text."""
    for slot in members:
        message = slot.message
        if message.role != "assistant" or message.format not in ("", "anthropic"):
            continue
        numbers: list[int] = []
        for at in range(len(message.blocks) - 1, -1, -1):
            block = message.blocks[at]
            if not isinstance(block, Thinking):
                break
            numbers.append(slot.block_number(at))
        if numbers:
            ops = tuple(HeadTail(slot.entry, n, REASONING_CHARS) for n in reversed(numbers))
            yield _edit("reasoning at the end of a message", *ops)


def _clean(members: Sequence[Slot]) -> Iterator[Edit]:
    for slot in members:
        if has_surrogates(slot.message):
            yield _edit("text that is no valid Unicode", Clean(slot.entry))
        elif not slot.message.edited and has_wrong_role(slot.message):
            yield _edit("a role that is none", Clean(slot.entry))


def _blanks(members: Sequence[Slot]) -> Iterator[Edit]:
    for slot in members:
        message = slot.message
        if is_empty(message):
            yield _edit("an empty message", Omit(slot.entry))
            continue
        for at in silent_results(message):
            yield _edit("a silent result", Silent(slot.entry, slot.block_number(at)))
        order = results_first(message)
        if order is not None:
            numbers = tuple(slot.block_number(at) for at in order)
            yield _edit("a result behind another block", Reorder(slot.entry, numbers))
        blanks = blank_blocks(message)
        if blanks:
            numbers = tuple(slot.block_number(at) for at in blanks)
            yield _edit("a blank text block", DropBlocks(slot.entry, numbers))
        trailing = trailing_reasoning(message, blanks)
        if trailing:
            numbers = tuple(slot.block_number(at) for at in trailing)
            reason = "reasoning at the end of a message"
            yield Edit(by="signed", reason=reason, ops=(DropBlocks(slot.entry, numbers),))


def _pairs(group: Group, slots: Sequence[Slot]) -> Iterator[Edit]:
    members = group.of(slots)
    calls: list[ToolCall] = []
    for slot in members:
        kept, again = _told_apart(slot)
        calls += kept
        if again:
            yield _edit("a call whose id its message has already", *again)
    open_calls = Counter(call.id for call in calls)
    late: Counter[str] = Counter()
    answered: dict[str, ToolResult] = {}
    after = 0
    for slot in members:
        if slot.message.role == "assistant":
            after = slot.entry
            continue
        before = open_calls.total()
        found = list(_results(slot, open_calls, answered))
        yield from found
        if open_calls.total() < before:
            after = slot.entry
        elif _says_more(slot.message, found):
            # It is no answer any more: what stands behind it comes too late to be one.
            late, open_calls = late + open_calls, Counter[str]()
    late += open_calls
    missing = [call for call in calls if _take(late, call)]
    if missing:
        answer = results(*(result(call.id, INTERRUPTED, is_error=True) for call in missing))
        yield _edit(f"{len(missing)} calls without a result", Insert(after, answer))


def _says_more(message: Message, edits: Sequence[Edit]) -> bool:
    """Whether text is left of a message that answers no call."""
    told = any(isinstance(op, AsText) for edit in edits for op in edit.ops)
    return told or any(not isinstance(block, ToolResult) for block in message.blocks)


def _told_apart(slot: Slot) -> tuple[list[ToolCall], list[Op]]:
    """The calls of one message with an id each; any further one of an id stands on as plain text,
    for no provider takes an id twice in a message."""
    kept: dict[str, ToolCall] = {}
    again: list[Op] = []
    for at, block in enumerate(slot.message.blocks):
        if not isinstance(block, ToolCall):
            continue
        if block.id in kept:
            lead = f"[a further call under the id {block.id}]"
            again.append(AsText(slot.entry, slot.block_number(at), lead))
        else:
            kept[block.id] = block
    return list(kept.values()), again


def _take(open_calls: Counter[str], call: ToolCall) -> bool:
    if open_calls[call.id] <= 0:
        return False
    open_calls[call.id] -= 1
    return True


def _results(
    slot: Slot, open_calls: Counter[str], answered: dict[str, ToolResult]
) -> Iterator[Edit]:
    """Results nobody asked for: a repeated one leaves, any other stands on as plain text."""
    twice: list[int] = []
    orphans: list[Op] = []
    for at, block in enumerate(slot.message.blocks):
        if not isinstance(block, ToolResult):
            continue
        if open_calls[block.call_id] > 0:
            open_calls[block.call_id] -= 1
            answered[block.call_id] = block
            continue
        same = answered.get(block.call_id)
        if same is not None and same.content == block.content:
            twice.append(slot.block_number(at))
        else:
            lead = f"[result of a call that is not in this conversation: {block.call_id}]"
            orphans.append(AsText(slot.entry, slot.block_number(at), lead))
    if orphans:
        yield _edit("a result without its call", *orphans)
    if twice:
        yield _edit("a result given twice", DropBlocks(slot.entry, tuple(twice)))
