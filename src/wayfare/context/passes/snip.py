"""Snip: the middle of a long history leaves, behind one marker with its address.

Also the shape of the digest and of summaries: a run of messages becomes one message. The cut
falls between step groups only, so no pair splits.
"""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.context.budget import Budget
from wayfare.context.digest import Room, name_index
from wayfare.context.facts import Ledger
from wayfare.context.groups import groups
from wayfare.context.stubs import Addresses
from wayfare.context.view import Slot, View
from wayfare.messages import Message, Origin, Text
from wayfare.transcript import Collapse, Edit


def plan(view: View, budget: Budget, ledger: Ledger, addresses: Addresses) -> list[Edit]:
    """One edit when the view holds more messages than `snip_messages`."""
    if budget.snip_messages is None or len(view) <= budget.snip_messages:
        return []
    slots = view.slots()
    head = _boundary(slots, budget.snip_head_messages, later=True)
    tail = _boundary(slots, len(slots) - budget.snip_tail_messages, later=False)
    middle = slots[head:tail]
    if len(middle) < 2:
        return []
    room = Room(
        chars=0,
        file_name_chars=budget.file_name_chars,
        identifier_chars=budget.identifier_chars,
    )
    entries = archived(middle)
    count = len(entries)
    lines = [
        f"[{count} messages archived at {addresses.run(middle[0].entry, middle[-1].entry)}]",
        f"Table of contents: {addresses.contents}",
        *name_index(ledger, room),
    ]
    keep = tuple(
        slot.entry for slot in middle if slot.entry == view.active_request and not slot.made
    )
    return [
        Edit(
            by="snip",
            reason=f"{len(slots)} messages, over {budget.snip_messages}",
            ops=(collapse(middle, "\n".join(lines), keep=keep),),
            archived=entries,
        )
    ]


def collapse(
    slots: Sequence[Slot], text: str, *, keep: tuple[int, ...] = (), origin: Origin = Origin.SUMMARY
) -> Collapse:
    """The operation that puts one message of `text` in the place of `slots`."""
    message = Message(role="user", blocks=(Text(text=text),), origin=origin)
    return Collapse(slots[0].entry, slots[-1].entry, message, keep)


def archived(slots: Sequence[Slot]) -> tuple[int, ...]:
    """The message entries among `slots`; what edits made is no entry of its own."""
    return tuple(slot.entry for slot in slots if not slot.made)


def _boundary(slots: Sequence[Slot], wanted: int, *, later: bool) -> int:
    starts = [group.start for group in groups(slots)] + [len(slots)]
    if later:
        return next((at for at in starts if at >= wanted), len(slots))
    return max((at for at in starts if at <= wanted), default=0)
