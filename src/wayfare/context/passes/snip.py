"""Snip: the middle of a long history leaves, behind one marker with its address.

Also the shape of the digest and of summaries: a run of messages becomes one message. The cut
falls between step groups only, so no pair splits.
"""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.context.budget import Budget
from wayfare.context.groups import groups
from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.context.words import users_words
from wayfare.transcript import Collapse, Edit


def plan(view: View, budget: Budget) -> list[Edit]:
    """One edit when the view holds more messages than `snip_messages`."""
    if budget.snip_messages is None or len(view) <= budget.snip_messages:
        return []
    slots = view.slots()
    # Messages of ours are no messages of the conversation: a note must not call for a snip.
    if sum(1 for slot in slots if not slot.made) <= budget.snip_messages:
        return []
    head = _boundary(slots, budget.snip_head_messages, later=True)
    tail = _boundary(slots, len(slots) - budget.snip_tail_messages, later=False)
    middle = slots[head:tail]
    words = users_words(view, middle, room_tokens=0)
    keep = tuple(slot.entry for slot in middle if slot.entry in words.entries)
    fresh = [slot for slot in middle if not slot.made and slot.entry not in words.entries]
    if not fresh or len(middle) - len(keep) < 2:
        return []
    op = Collapse(
        middle[0].entry,
        middle[-1].entry,
        keep=keep,
        form="snip",
        room=(0, budget.file_name_chars, budget.identifier_chars),
    )
    reason = f"{len(slots)} messages, over {budget.snip_messages}"
    return [Edit(by="snip", reason=reason, ops=(*words.parting.values(), op))]


def _boundary(slots: Sequence[Slot], wanted: int, *, later: bool) -> int:
    starts = [group.start for group in groups(slots)] + [len(slots)]
    if later:
        return next((at for at in starts if at >= wanted), len(slots))
    return max((at for at in starts if at <= wanted), default=0)
