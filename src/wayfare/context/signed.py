"""Signed content: reasoning that is bound to what precedes it.

An edit that changes what stands before a signed block makes the block refusable, so the same edit
drops it. The open step is the exception: its blocks must go back as they came, and leave once the
step is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wayfare.context.groups import open_step
from wayfare.context.slot import Slot
from wayfare.messages import Thinking
from wayfare.transcript import Collapse, DropBlocks, Edit


def unbound(
    edits: Sequence[Edit], slots: Sequence[Slot], places: Mapping[int, int], position: int
) -> tuple[DropBlocks, ...]:
    """What drops the signed blocks that `edits`, the first of which touches `position`, invalidate.

    Blocks in front of the edits and in the open step stay, and what the edits drop themselves
    needs no second drop. `places` leads from entries to positions.
    """
    stop = open_step(slots)
    gone = {at for edit in edits for at in _collapsed(edit, slots, places)}
    gone |= {
        places[op.entry]
        for edit in edits
        if edit.by == "signed"
        for op in edit.ops
        if isinstance(op, DropBlocks) and op.entry in places
    }
    return tuple(
        DropBlocks(slots[at].entry, numbers)
        for at in range(position, stop)
        if at not in gone
        for numbers in [tuple(_bound(slots[at]))]
        if numbers
    )


def left_behind(slots: Sequence[Slot]) -> list[Edit]:
    """What drops what an earlier edit spared because its step was open, now that it is not."""
    newest = 0
    ops: list[DropBlocks] = []
    for slot in slots[: open_step(slots)]:
        blocks = tuple(_bound(slot)) if newest > slot.entry and not slot.made else ()
        if blocks:
            ops.append(DropBlocks(slot.entry, blocks))
        newest = max(newest, slot.entry if slot.made else max(slot.edits, default=0))
    reason = "reasoning behind a changed prefix"
    return [Edit(by="signed", reason=reason, ops=tuple(ops))] if ops else []


def stale(slots: Sequence[Slot], undone: Sequence[tuple[int, int]]) -> list[Edit]:
    """What drops reasoning that was signed over edits taken back since.

    `undone` holds, for every undo, the first edit it took back and its own entry: what came in
    between was said over a prefix that is no more.
    """
    ops = tuple(
        DropBlocks(slot.entry, blocks)
        for slot in slots[: open_step(slots)]
        if any(first < slot.entry < last for first, last in undone) and not slot.made
        for blocks in [tuple(_bound(slot))]
        if blocks
    )
    reason = "reasoning over a prefix that was taken back"
    return [Edit(by="signed", reason=reason, ops=ops)] if ops else []


def holds_stale(slots: Sequence[Slot], undone: Sequence[tuple[int, int]]) -> bool:
    """Whether any of it is left, in a step that is still open."""
    found = (s for s in slots if any(first < s.entry < last for first, last in undone))
    return any(not slot.made and next(_bound(slot), None) is not None for slot in found)


def _collapsed(edit: Edit, slots: Sequence[Slot], places: Mapping[int, int]) -> Iterator[int]:
    """Positions that a collapse takes out of the view."""
    for op in edit.ops:
        if isinstance(op, Collapse) and op.first in places and op.last in places:
            stay = {*op.front, *op.keep}
            for at in range(places[op.first], places[op.last] + 1):
                if slots[at].entry not in stay:
                    yield at


def _bound(slot: Slot) -> Iterator[int]:
    if slot.message.format not in ("", "anthropic"):
        return
    for at, block in enumerate(slot.message.blocks):
        if isinstance(block, Thinking) and block.bound:
            yield slot.block_number(at)
