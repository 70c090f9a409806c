"""Notes compaction: fresh session notes replace the history they cover, without a model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.budget import Budget
from wayfare.context.folding import archived_span
from wayfare.context.groups import groups, open_step
from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.context.words import kept_words
from wayfare.messages import Message
from wayfare.transcript import Collapse, Edit

LEAST_TOKENS: Final = 10_000
LEAST_TEXT_MESSAGES: Final = 5
MOST_NOTES_TOKENS: Final = 40_000
_LEAST_SHARE: Final = 0.4
"""Of the limit, as much the covered history must take in a small window to be worth it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The session notes as a value: their text, its tokens, the last entry they cover, and their
    address."""

    text: str
    tokens: int
    covers_entry: int
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What notes may replace: from the first slot to the last they cover."""

    older: Sequence[Slot]
    standing: Sequence[Slot]
    keep: tuple[int, ...]
    gone_tokens: int
    last_entry: int

    @property
    def covered(self) -> int:
        """How many messages leave."""
        return len(self.older) - len(self.keep)

    def edit(self, message: Message) -> Edit:
        """The edit that puts `message` in their place."""
        op = Collapse(self.older[0].entry, self.older[-1].entry, message=message, keep=self.keep)
        reason = f"{self.covered} messages that the session notes cover"
        return Edit(by="notes", reason=reason, ops=(op,))


def plan(view: View, budget: Budget, notes: Notes, ratio: float = 1.0) -> Covered | None:
    """What fresh notes would replace; None where they are not fresh, or it would not be enough.

    Fresh: they cover 10,000 tokens (or 0.4 of the limit, where that is less) and at least five
    messages with text, and take at most 40,000 tokens (or 0.25 of the limit).
    """
    most = min(MOST_NOTES_TOKENS, budget.share(budget.notes_share))
    if not notes.text.strip() or notes.tokens * ratio > most:
        return None
    slots = view.slots()
    head = next((at for at, slot in enumerate(slots) if not slot.is_prompt), 0)
    stop = _covered_until(slots, notes.covers_entry)
    older = slots[head:stop]
    texts = sum(1 for slot in older if not slot.made and slot.message.text.strip())
    keep = kept_words(view, older, budget.share(budget.user_share) / ratio)
    gone = sum(slot.load.tokens for slot in older if slot.entry not in keep)
    least = min(LEAST_TOKENS, int(budget.share(_LEAST_SHARE) / ratio))
    if not older or texts < LEAST_TEXT_MESSAGES or gone < least:
        return None
    standing = [slot for slot in slots[head:] if slot.entry in keep] + slots[stop:]
    return Covered(
        older=older,
        standing=standing,
        keep=keep,
        gone_tokens=gone,
        last_entry=archived_span(older)[1],
    )


def _covered_until(slots: Sequence[Slot], covers_entry: int) -> int:
    """The end of the last whole step group that the notes cover; the open step stays."""
    stop = 0
    for group in groups(slots[: open_step(slots)]):
        members = group.of(slots)
        if any(not slot.made and slot.entry > covers_entry for slot in members):
            break
        stop = group.stop
    return stop
