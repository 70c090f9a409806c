"""Fit: still over the limit, so texts are cut to a preview, largest first.

Results first, unread ones and the newest message too; then the arguments of calls; then texts that
take more than their share by themselves (the active request last, and only beyond its share). The
system prompt in front, where it is a message, is never cut: its rules hold whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from wayfare.context.budget import Budget, Goal
from wayfare.context.shortening import LONG_ARGUMENT_CHARS
from wayfare.context.slot import Slot
from wayfare.context.stubs import (
    Addresses,
    head_and_tail,
    preview,
    preview_of,
    result_text,
    short_input,
)
from wayfare.context.view import View, prompts
from wayfare.messages import Text, ToolCall, ToolResult
from wayfare.tokens import Load, Meter
from wayfare.transcript import Edit, HeadTail, Preview, ShortInput

_DOUBT: Final = 1.2
"""An estimate of one message may be so much too high: what is within its share stays for sure."""
_AGAIN_SHARE: Final = 0.75
"""A text that was cut before is cut again to this share of what is left of it, or not at all."""


class _Cut(NamedTuple):
    op: Preview | ShortInput | HeadTail
    saved: Load


def plan(
    view: View,
    budget: Budget,
    goal: Goal,
    addresses: Addresses,
    *,
    preview_chars: int,
    requests: bool = False,
) -> list[Edit]:
    """Cut the largest texts until the view is within the limit.

    Args:
        view: What there is.
        budget: Its numbers.
        goal: Where to stop.
        addresses: Where texts stand.
        preview_chars: What stays of a result; 0 leaves its address alone.
        requests: Whether the user's words that hold now may be cut though they are within their
            share, when nothing else is left.
    """
    ops: list[Preview | ShortInput | HeadTail] = []
    left = view.total
    others = [slot for slot in view.slots()[prompts(view) :] if slot.entry not in view.active]
    active = [slot for slot in view if slot.entry in view.active]
    least_tokens = goal.limit.tokens * budget.request_share * _DOUBT
    if not requests and _words(active, view.meter) <= least_tokens:
        active = []
    for cuts in (
        _results(view, addresses, preview_chars),
        _arguments(view, addresses),
        _texts(others, budget.request_share / 8, view.meter, goal, addresses, preview_chars),
        _texts(active, budget.request_share / 2, view.meter, goal, addresses, preview_chars),
    ):
        for one in sorted(cuts, key=lambda c: -c.saved.tokens):
            if not goal.over(left):
                return _edits(ops)
            if one.saved.tokens > 0:
                left -= one.saved
                ops.append(one.op)
    return _edits(ops)


def _words(slots: Iterable[Slot], meter: Meter) -> int:
    """Tokens of the texts beside calls and results."""
    blocks = (block for slot in slots for block in slot.message.blocks)
    return sum(meter.text(block.text) for block in blocks if isinstance(block, Text))


def _edits(ops: list[Preview | ShortInput | HeadTail]) -> list[Edit]:
    reason = f"{len(ops)} texts cut, over the limit"
    return [Edit(by="fit", reason=reason, ops=tuple(ops))] if ops else []


def saved(meter: Meter, old: str, new: str) -> Load:
    """What showing `new` in the place of `old` saves."""
    chars = len(old) - len(new)
    return Load(meter.text(old) - meter.text(new), chars, chars)


def _results(view: View, addresses: Addresses, preview_chars: int) -> Iterator[_Cut]:
    for slot in view:
        for at, block in enumerate(slot.message.blocks):
            if not isinstance(block, ToolResult):
                continue
            number = slot.block_number(at)
            address = addresses.where(slot.entry, slot.refs).block(number)
            text = result_text(block.content)
            whole = preview_of(text) if number in slot.shortened else text
            shown = preview(address, whole, preview_chars)
            yield _Cut(Preview(slot.entry, number, preview_chars), saved(view.meter, text, shown))


def _arguments(view: View, addresses: Addresses) -> Iterator[_Cut]:
    for slot in view:
        for at, block in enumerate(slot.message.blocks):
            number = slot.block_number(at)
            if not isinstance(block, ToolCall) or number in slot.shortened:
                continue
            shorter = short_input(block.input, addresses.entry(slot.entry), LONG_ARGUMENT_CHARS)
            if shorter is not None:
                old, new = (sum(len(str(v)) for v in i.values()) for i in (block.input, shorter))
                share = (old - new) / max(slot.load.chars, 1)
                load = Load(int(slot.load.tokens * share), old - new, old - new)
                yield _Cut(ShortInput(slot.entry, number, LONG_ARGUMENT_CHARS), load)


def _texts(
    slots: Iterable[Slot],
    share: float,
    meter: Meter,
    goal: Goal,
    addresses: Addresses,
    least_chars: int,
) -> Iterator[_Cut]:
    """Texts of these messages, cut to so large a share of the limit."""
    for slot in slots:
        if slot.made:
            continue
        taken = max(_share(slot.load, goal.limit), 1e-9)
        for at, block in enumerate(slot.message.blocks):
            number = slot.block_number(at)
            if not isinstance(block, Text):
                continue
            chars = max(int(len(block.text) * share / taken), least_chars, 200)
            address = addresses.where(slot.entry, slot.refs).block(number)
            whole = number not in slot.shortened
            if not whole and chars > len(block.text) * _AGAIN_SHARE:
                continue
            shown = head_and_tail(block.text, address, chars, whole=whole)
            load = saved(meter, block.text, shown)
            yield _Cut(HeadTail(slot.entry, number, chars), load)


def _share(load: Load, limit: Load) -> float:
    """The share of the limit that a load takes, in the unit that is scarcest."""
    return max(
        load.tokens / max(limit.tokens, 1),
        load.chars / max(limit.chars, 1),
        load.bytes / max(limit.bytes, 1),
    )
