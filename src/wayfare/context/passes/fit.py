"""Fit: still over the limit, so results are cut to a preview largest first, unread ones and the
newest message too; and, last, a user's text too large for the window to a head and a tail."""

from __future__ import annotations

from typing import NamedTuple

from wayfare.context.budget import Budget, Goal
from wayfare.context.stubs import Addresses, head_and_tail, persisted, preview_of, result_text
from wayfare.context.view import Slot, View
from wayfare.messages import Text, ToolResult
from wayfare.tokens import Load
from wayfare.transcript import Edit, SetText


class _Found(NamedTuple):
    slot: Slot
    block: int
    text: str
    shown: str
    is_result: bool


def plan(view: View, budget: Budget, goal: Goal, addresses: Addresses) -> list[Edit]:
    """Cut the largest texts until the view is within the limit."""
    edits: list[Edit] = []
    left = view.total
    found = _results(view, budget, addresses)
    found.sort(key=lambda f: len(f.shown) - len(f.text))
    for one in [*found, *_texts(view, budget, goal, addresses)]:
        if not goal.over(left):
            break
        tokens = view.meter.text(one.text) - view.meter.text(one.shown)
        if tokens <= 0:
            continue
        left -= Load(tokens, len(one.text) - len(one.shown), len(one.text) - len(one.shown))
        what = "a result" if one.is_result else "a message"
        edits.append(
            Edit(
                by="fit",
                reason=f"{what} of {len(one.text):,} characters, over the limit",
                ops=(SetText(one.slot.entry, one.block, one.shown),),
            )
        )
    return edits


def _results(view: View, budget: Budget, addresses: Addresses) -> list[_Found]:
    found: list[_Found] = []
    for slot in view:
        for at, block in enumerate(slot.message.blocks):
            if not isinstance(block, ToolResult):
                continue
            number = slot.block_number(at)
            text = result_text(block.content)
            whole = preview_of(text) if number in slot.shortened else text
            shown = persisted(addresses.of(slot, number), whole, budget.fit_preview_chars)
            if len(shown) < len(text):
                found.append(_Found(slot, number, text, shown, True))
    return found


def _texts(view: View, budget: Budget, goal: Goal, addresses: Addresses) -> list[_Found]:
    """Texts that by themselves take more than their share of the limit: users' pastes, mostly."""
    found: list[_Found] = []
    most = max(int(goal.limit.tokens * budget.request_share), 1)
    for slot in view:
        for at, block in enumerate(slot.message.blocks):
            if not isinstance(block, Text) or slot.made or at in slot.shortened:
                continue
            tokens = slot.load.tokens
            if tokens <= most and slot.entry == view.active_request:
                continue
            room = max(int(len(block.text) * most / max(tokens, 1) / 2), budget.fit_preview_chars)
            address = f"{addresses.transcript}#{slot.entry}"
            shown = head_and_tail(block.text, address, room)
            if len(shown) < len(block.text):
                found.append(_Found(slot, slot.block_number(at), block.text, shown, False))
    found.sort(key=lambda f: len(f.shown) - len(f.text))
    return found
