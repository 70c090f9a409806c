"""Offload: results too large for the context stand in a file, a preview in their place.

Runs when a batch of results arrives: every single result over its limit, then, largest first,
the batch until it fits its budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from wayfare.context.budget import Budget
from wayfare.context.stubs import result_text
from wayfare.context.view import Slot, View
from wayfare.messages import Media, ToolResult
from wayfare.tokens import media_tokens
from wayfare.transcript import Edit, Preview

_FRAME_CHARS: Final = 200
"""What the frame and the address of a preview take, at most, as a rule."""


class _Found(NamedTuple):
    slot: Slot
    block: int
    text: str
    tokens: int


def plan(view: View, budget: Budget, start: int) -> list[Edit]:
    """Offloads among the results from position `start` on."""
    found = [f for slot in view.slots(start) for f in _results(view, slot)]
    single_tokens = int(budget.window_tokens * budget.single_window_share)
    batch_tokens = int(budget.window_tokens * budget.batch_window_share)
    large = [f for f in found if len(f.text) > budget.single_chars or f.tokens > single_tokens]
    rest = sorted((f for f in found if f not in large), key=lambda f: -len(f.text))
    chars = sum(len(f.text) for f in rest) + len(large) * budget.preview_chars
    tokens = sum(f.tokens for f in rest)
    for one in rest:
        if chars <= budget.batch_chars and tokens <= batch_tokens:
            break
        if len(one.text) <= max(budget.batch_floor_chars, budget.preview_chars):
            break
        large.append(one)
        chars -= len(one.text) - budget.preview_chars
        tokens -= one.tokens
    ops = tuple(
        Preview(f.slot.entry, f.block, budget.preview_chars)
        for f in sorted(large, key=lambda f: (f.slot.entry, f.block))
        if len(f.text) > budget.preview_chars + _FRAME_CHARS
    )
    return [Edit(by="offload", reason=f"{len(ops)} large results", ops=ops)] if ops else []


def _results(view: View, slot: Slot) -> Iterator[_Found]:
    for at, block in enumerate(slot.message.blocks):
        if isinstance(block, ToolResult):
            number = slot.block_number(at)
            text = result_text(block.content)
            tokens = view.meter.text(text) + sum(
                media_tokens(b) for b in block.content if isinstance(b, Media)
            )
            yield _Found(slot, number, text, tokens)
