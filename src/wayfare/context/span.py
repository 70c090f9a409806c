"""The span of a compaction: which messages it replaces, which of them stay, what those show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.context import recovery
from wayfare.context.budget import Budget
from wayfare.context.compacted import prose_of
from wayfare.context.groups import tail_start
from wayfare.context.pipeline import Governor
from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.context.words import kept_words
from wayfare.messages import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a compaction replaces: the older slots, and those among them that stay behind it."""

    older: Sequence[Slot]
    keep: tuple[int, ...]
    tail: Sequence[Slot]

    @property
    def gone(self) -> list[Slot]:
        """The slots that leave."""
        return [slot for slot in self.older if slot.entry not in self.keep]

    @property
    def standing(self) -> list[Slot]:
        """The slots that stay as they are."""
        return [*(slot for slot in self.older if slot.entry in self.keep), *self.tail]


def span_of(view: View, governor: Governor, trigger: str) -> Span:
    """What a compaction for this reason replaces, and what it leaves."""
    budget: Budget = governor.budget
    ratio = governor.calibration.ratio
    slots = view.slots()
    head = next((at for at, slot in enumerate(slots) if not slot.is_prompt), 0)
    tail_tokens = budget.share(budget.tail_share) / ratio
    if trigger == "auto":
        cut_at = tail_start(slots, tail_tokens)
    else:
        most = min(budget.reactive_keep_tokens / ratio, tail_tokens)
        cut_at = recovery.recent_start(slots, budget.reactive_keep_messages, most)
    older = slots[head:cut_at]
    keep = kept_words(view, older, budget.share(budget.user_share) / ratio)
    return Span(older=older, keep=keep, tail=slots[cut_at:])


def earlier(slots: Sequence[Slot]) -> str:
    """The prose of the newest summary among some slots."""
    found = (prose_of(slot.message) for slot in reversed(slots) if slot.made)
    return next((prose for prose in found if prose), "")


def shown_text(slots: Sequence[Slot]) -> str:
    """All that some slots show: texts, results, what calls were given."""
    parts: list[str] = []
    for slot in slots:
        for block in slot.message.blocks:
            if isinstance(block, Text):
                parts.append(block.text)
        parts += [result.text for result in slot.message.results]
        for call in slot.message.calls:
            parts += [value for value in call.input.values() if isinstance(value, str)]
    return "\n".join(parts)
