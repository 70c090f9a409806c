"""Offload: results too large for the context stand in a file, a preview in their place.

Runs when a batch of results arrives: every single result over its limit, then, largest first,
the batch until it fits its budget. Text of files has a wider limit than what commands print: it was
read to be worked on. A tool may declare a limit of its own, narrower or wider.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wayfare.context.budget import Budget
from wayfare.context.groups import open_step
from wayfare.context.slot import Slot
from wayfare.context.stubs import result_text
from wayfare.context.view import View
from wayfare.messages import Media, ToolResult
from wayfare.tokens import media_tokens
from wayfare.transcript import Edit, Preview

_FRAME_CHARS: Final = 200
"""What the frame and the address of a preview take, at most, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    entry: int
    block: int
    chars: int
    tokens: int
    of_files: bool
    most_chars: int | None

    def shown_chars(self, budget: Budget) -> int:
        """What stays of it when it is offloaded."""
        shown = budget.shown_chars
        return shown if self.most_chars is None else min(shown, max(self.most_chars, 0))


def plan(view: View, budget: Budget, start: int) -> list[Edit]:
    """Offloads among the results from position `start` on."""
    slots = view.slots(start)
    # Only what is unread together is a batch; results that came with their replies are none.
    unread = {slot.entry for slot in slots[open_step(slots) :]}
    found = [f for slot in slots for f in _results(slot)]
    large = [f for f in found if _is_large(f, budget)]
    batch = [f for f in found if f.entry in unread]
    rest = sorted((f for f in batch if f not in large), key=lambda f: (f.of_files, -f.chars))
    batch_tokens = int(budget.window_tokens * budget.batch_window_share)
    previews = sum(1 for f in batch if f in large)
    chars = sum(f.chars for f in rest) + previews * budget.shown_chars
    tokens = sum(f.tokens for f in rest)
    for one in rest:
        if chars <= budget.batch_chars and tokens <= batch_tokens:
            break
        if one.chars <= max(budget.batch_floor_chars, budget.shown_chars):
            continue
        large.append(one)
        chars -= one.chars - budget.shown_chars
        tokens -= one.tokens
    ops = tuple(
        Preview(f.entry, f.block, f.shown_chars(budget))
        for f in sorted(large, key=lambda f: (f.entry, f.block))
        if f.chars > f.shown_chars(budget) + _FRAME_CHARS
    )
    return [Edit(by="offload", reason=f"{len(ops)} large results", ops=ops)] if ops else []


def _is_large(found: _Found, budget: Budget) -> bool:
    """A tool's own limit stands in place of the budget's; the share of the window still holds."""
    wide = found.of_files or found.most_chars is not None
    share = budget.file_window_share if wide else budget.single_window_share
    most_chars = budget.single_chars if found.most_chars is None else found.most_chars
    return found.chars > most_chars or found.tokens > budget.window_tokens * share


def _results(slot: Slot) -> Iterator[_Found]:
    for at, block in enumerate(slot.message.blocks):
        if isinstance(block, ToolResult):
            text = result_text(block.content)
            use = slot.uses.get(block.call_id)
            media = sum(media_tokens(b) for b in block.content if isinstance(b, Media))
            yield _Found(
                entry=slot.entry,
                block=slot.block_number(at),
                chars=len(text),
                tokens=slot.tokens_of(len(text), media) + media,
                of_files=use is not None and use.shows_files,
                most_chars=None if use is None else use.max_result_chars,
            )
