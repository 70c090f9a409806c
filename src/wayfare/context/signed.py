"""Signed content: reasoning that is bound to what precedes it.

An edit that changes what stands before a signed block makes the block refusable, so the same edit
drops it. The open step is the exception: its blocks must go back as they came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wayfare.context.view import Slot, View
from wayfare.messages import Thinking
from wayfare.transcript import Collapse, DropBlocks, Edit


def unbound(edit: Edit, view: View, position: int, open_step: int) -> Edit:
    """`edit`, touching the view at `position`, with the signed blocks it would invalidate dropped.

    Blocks in front of the edit, in the open step and in the newest assistant message stay.
    """
    last = _last_assistant(view)
    drops = tuple(
        DropBlocks(slot.entry, numbers)
        for at, slot in enumerate(view.slots(position), position)
        if at < min(open_step, last) and not _collapsed(edit, view, at)
        for numbers in [tuple(_bound(slot))]
        if numbers
    )
    return replace(edit, ops=(*edit.ops, *drops)) if drops else edit


def _last_assistant(view: View) -> int:
    for at in range(len(view) - 1, -1, -1):
        if view[at].message.role == "assistant":
            return at
    return len(view)


def _collapsed(edit: Edit, view: View, at: int) -> bool:
    for op in edit.ops:
        if isinstance(op, Collapse):
            first, last = view.position(op.first), view.position(op.last)
            if first is not None and last is not None and first <= at <= last:
                return True
    return False


def _bound(slot: Slot) -> Iterator[int]:
    if slot.message.format not in ("", "anthropic"):
        return
    for at, block in enumerate(slot.message.blocks):
        if isinstance(block, Thinking) and block.bound:
            yield slot.block_number(at)
