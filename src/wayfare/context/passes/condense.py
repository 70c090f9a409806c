"""Condense: where shortening is not enough, the older history becomes one digest.

The recent tail stays as it is, the user's words stay verbatim up to their share, everything else
is behind one address.
"""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.context.budget import Budget, Goal
from wayfare.context.digest import Room, digest
from wayfare.context.facts import Ledger
from wayfare.context.groups import groups, open_step
from wayfare.context.passes.snip import archived, collapse
from wayfare.context.stubs import Addresses, cut
from wayfare.context.view import Slot, View
from wayfare.messages import Origin
from wayfare.transcript import Edit

_REQUEST_CHARS = 2_000
_CHARS_A_TOKEN = 3


def plan(
    view: View,
    budget: Budget,
    goal: Goal,
    ledger: Ledger,
    addresses: Addresses,
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
    text = marker("[Compacted]", view, older, ledger, addresses, room)
    if len(text) >= sum(slot.load.chars for slot in older if slot.entry not in keep):
        return []
    op = collapse(older, text, keep=keep)
    return [
        Edit(
            by="digest",
            reason=f"{len(older)} messages, over the limit",
            ops=(op,),
            archived=archived(older),
        )
    ]


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


def marker(
    title: str,
    view: View,
    older: Sequence[Slot],
    ledger: Ledger,
    addresses: Addresses,
    room: Room,
) -> str:
    """The text that stands for what was collapsed."""
    at = view.position(view.active_request)
    request = view[at].message.text if at is not None else ""
    shown = cut(request, min(_REQUEST_CHARS, max(room.chars // 3, 200)))
    if len(shown) < len(request):
        shown += f"\n[… in full: {addresses.transcript}#{view.active_request}]"
    first = archived(older)
    span = addresses.run(1, first[-1] if first else older[-1].entry)
    return "\n".join(
        [
            title,
            "Current user request:",
            shown,
            "Conversation summary (reference only):",
            digest(ledger, addresses, room),
            f"Full transcript: {span} (table of contents: {addresses.contents})",
        ]
    )


def is_prompt(slot: Slot) -> bool:
    """Whether the slot is a system prompt that travels in the list."""
    return slot.message.role in ("system", "developer")


def _room(budget: Budget, goal: Goal, share: float) -> Room:
    chars = min(max(int(goal.limit.tokens * 0.15) * _CHARS_A_TOKEN, 600), 12_000)
    chars = max(int(chars * share), 200)
    return Room(
        chars=chars,
        file_name_chars=min(budget.file_name_chars, chars // 4),
        identifier_chars=min(budget.identifier_chars, chars // 3),
    )
