"""Condense: where shortening is not enough, the older history becomes one digest.

The recent tail stays as it is, the user's words stay verbatim up to their share, everything else
is behind one address.
"""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.context.budget import Budget, Goal
from wayfare.context.groups import groups, open_step
from wayfare.context.passes.snip import archived
from wayfare.context.view import Slot, View
from wayfare.messages import Origin
from wayfare.transcript import Collapse, Edit

_CHARS_A_TOKEN = 3


def plan(
    view: View,
    budget: Budget,
    goal: Goal,
    *,
    tail_tokens: int,
    ratio: float,
    room_share: float = 1.0,
) -> list[Edit]:
    """One edit that collapses all but the newest `tail_tokens` (raw) of the view.

    `room_share` shrinks the digest below its usual length where even that does not fit.
    """
    slots = view.slots()
    head = next(
        (i for i, s in enumerate(slots) if s.message.role not in ("system", "developer")), 0
    )
    cut_at = tail_start(slots, tail_tokens)
    older = slots[head:cut_at]
    if not older:
        return []
    keep = kept_words(view, older, int(budget.share(budget.user_share) * room_share / ratio))
    room = _room(budget, goal, room_share)
    if room[0] >= sum(slot.load.chars for slot in older if slot.entry not in keep):
        return []
    op = Collapse(older[0].entry, older[-1].entry, keep=keep, room=room)
    reason = f"{len(older)} messages, over the limit"
    return [Edit(by="digest", reason=reason, ops=(op,), archived=archived(older))]


def tail_start(slots: Sequence[Slot], tail_tokens: int) -> int:
    """Where the tail begins: whole step groups, at least the open step."""
    at = open_step(slots)
    used = sum(slot.load.tokens for slot in slots[at:])
    for group in reversed(groups(slots[:at])):
        used += sum(slot.load.tokens for slot in group.of(slots))
        if used > tail_tokens:
            break
        at = group.start
    return at


def kept_words(view: View, older: Sequence[Slot], room_tokens: int) -> tuple[int, ...]:
    """The active request, and the user's other words, newest first, while they fit."""
    kept: list[int] = []
    for slot in reversed(older):
        if slot.message.origin is not Origin.USER or slot.made:
            continue
        if slot.message.results or slot.message.calls:
            continue
        if slot.entry != view.active_request:
            if slot.load.tokens > room_tokens:
                continue
            room_tokens -= slot.load.tokens
        kept.append(slot.entry)
    return tuple(reversed(kept))


def is_prompt(slot: Slot) -> bool:
    """Whether the slot is a system prompt that travels in the list."""
    return slot.message.role in ("system", "developer")


def _room(budget: Budget, goal: Goal, share: float) -> tuple[int, int, int]:
    """Characters for the digest in all, for file names in it, for identifiers in it."""
    chars = min(max(int(goal.limit.tokens * 0.15) * _CHARS_A_TOKEN, 600), 12_000)
    chars = max(int(chars * share), 200)
    return (
        chars,
        min(budget.file_name_chars, chars // 4),
        min(budget.identifier_chars, chars // 3),
    )
