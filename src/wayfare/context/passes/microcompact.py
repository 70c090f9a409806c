"""Microcompact: consumed results become one line that says what they were and where they stand.

*Consumed* means that the model has answered after seeing them. Long string arguments of consumed
calls, the bodies of writes and edits, are shortened the same way. What is superseded goes first
(the same call again, the file written anew), then the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.budget import Budget, Goal
from wayfare.context.scheduler import CachePolicy, Pace
from wayfare.context.shortening import Shortening, shortenings, superseded
from wayfare.context.slot import Slot
from wayfare.context.stubs import Addresses
from wayfare.context.view import View
from wayfare.messages import Thinking, ToolResult
from wayfare.transcript import Edit, Stub

_LOOKED_AT: Final = 200
"""So many of the newest messages are looked at for what pays to shorten: behind more than these
there is always too much to write again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    position: int
    one: Shortening


def plan(view: View, budget: Budget, goal: Goal, addresses: Addresses) -> list[Edit]:
    """Shorten until the goal's target is met or nothing consumed is left."""
    slots = view.slots()
    gone = superseded(slots)
    found = _consumed(view, slots, budget, addresses)
    found.sort(key=lambda f: (f.one.call_id not in gone, f.position))
    left = view.total
    taken: list[_Found] = []
    for one in found:
        if goal.met(left):
            break
        taken.append(one)
        left -= one.one.saved
    old = sum(1 for f in taken if f.one.call_id in gone)
    return _edit(taken, f"{len(taken)} consumed results and arguments, {old} of them superseded")


def plan_paying(
    view: View,
    budget: Budget,
    addresses: Addresses,
    *,
    cache: CachePolicy,
    pace: Pace,
    sent: int,
) -> list[Edit]:
    """Shorten what commands printed where that saves more than writing the cache again costs.

    Only what is no text of files, so that nothing leaves that an edit may quote, and never in
    front of signed reasoning, which the edit would drop. `sent` are the leading messages the
    provider has seen.
    """
    start = max(len(view) - _LOOKED_AT, 0)
    slots = view.slots(start)
    stop = _consumed_before(slots, budget)
    best: list[_Found] = []
    most = 0.0
    removed = 0
    taken: list[_Found] = []
    for at in range(len(slots) - 1, -1, -1):
        if _is_bound(slots[at]):
            break
        if at >= stop or slots[at].load.tokens <= budget.shorten_over_tokens:
            continue
        if not _has_output(slots[at]):
            continue
        found = [
            _Found(position=start + at, one=one)
            for one in shortenings(slots[at], view.meter, addresses)
            if isinstance(one.op, Stub) and _is_spent(one, budget)
        ]
        if not found:
            continue
        taken = [*found, *taken]
        removed += sum(f.one.saved.tokens for f in found)
        behind = view.tokens_from(start + at) - view.tokens_from(max(sent, start + at)) - removed
        gain = cache.gain(removed_tokens=removed, behind_tokens=max(behind, 0), pace=pace)
        if gain > most:
            best, most = taken, gain
    return _edit(best, f"{len(best)} consumed results, pays")


def _has_output(slot: Slot) -> bool:
    """Whether a result in it may be what a command printed; cheaper to ask than what it saves."""
    for at, block in enumerate(slot.message.blocks):
        if isinstance(block, ToolResult):
            use = slot.uses.get(block.call_id)
            if use is None or not use.shows_files or slot.block_number(at) in slot.shortened:
                return True
    return False


def _is_spent(one: Shortening, budget: Budget) -> bool:
    return one.compactable and not one.of_files and one.saved.tokens > budget.shorten_over_tokens


def _is_bound(slot: Slot) -> bool:
    return any(isinstance(block, Thinking) and block.bound for block in slot.message.blocks)


def _edit(found: Sequence[_Found], reason: str) -> list[Edit]:
    ops = tuple(f.one.op for f in sorted(found, key=lambda f: f.position))
    return [Edit(by="microcompact", reason=reason, ops=ops)] if ops else []


def _consumed(
    view: View, slots: Sequence[Slot], budget: Budget, addresses: Addresses
) -> list[_Found]:
    """Everything that is consumed and worth shortening, oldest first."""
    found = [
        _Found(position=at, one=one)
        for at, slot in enumerate(slots[: _consumed_before(slots, budget)])
        for one in shortenings(slot, view.meter, addresses)
        if one.compactable and one.saved.chars > 0 and _is_worth(one, budget)
    ]
    if not budget.keep_results:
        return found
    newest = [f for f in found if isinstance(f.one.op, Stub)][-budget.keep_results :]
    return [f for f in found if f not in newest]


def _is_worth(one: Shortening, budget: Budget) -> bool:
    if not isinstance(one.op, Stub):
        return one.saved.tokens > 0
    return one.chars > budget.shorten_over_chars and one.saved.tokens > budget.shorten_over_tokens


def _consumed_before(slots: Sequence[Slot], budget: Budget) -> int:
    """The position from which results are not consumed, or too new to touch."""
    last_reply = next(
        (at for at in range(len(slots) - 1, -1, -1) if slots[at].message.role == "assistant"), 0
    )
    if not budget.keep_steps or not slots:
        return last_reply
    old_step = slots[-1].step - budget.keep_steps
    for at in range(len(slots) - 1, -1, -1):
        if slots[at].step <= old_step:
            return min(last_reply, at + 1)
    return 0
