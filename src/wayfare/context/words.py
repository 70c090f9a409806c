"""The user's words: which messages of the user stay verbatim when the history around them goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.messages import ToolResult
from wayfare.transcript import DropBlocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Entries with words of the user that stay; `parting` leaves of a message with results beside
    the words only the words, for when those results go."""

    entries: frozenset[int]
    parting: Mapping[int, DropBlocks] = field(default_factory=dict[int, DropBlocks])


def users_words(view: View, slots: Sequence[Slot], room_tokens: float) -> Words:
    """The words that hold now, and the user's other words, newest first, while they fit."""
    entries: list[int] = []
    parting: dict[int, DropBlocks] = {}
    for slot in reversed(slots):
        if not slot.is_users or not slot.message.blocks:
            continue
        results = tuple(
            slot.block_number(at)
            for at, block in enumerate(slot.message.blocks)
            if isinstance(block, ToolResult)
        )
        if slot.entry in view.active:
            entries.append(slot.entry)
            if results:
                parting[slot.entry] = DropBlocks(slot.entry, results)
        elif not results and slot.load.tokens <= room_tokens:
            room_tokens -= slot.load.tokens
            entries.append(slot.entry)
    return Words(entries=frozenset(entries), parting=parting)


def kept_words(view: View, older: Sequence[Slot], room_tokens: float) -> tuple[int, ...]:
    """Of slots that leave, those that hold nothing but words of the user that stay, in order."""
    words = users_words(view, older, room_tokens)
    return tuple(
        slot.entry
        for slot in older
        if slot.entry in words.entries and slot.entry not in words.parting
    )
