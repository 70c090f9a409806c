"""Condense: the older history becomes one digest; what is likely needed again stays as text.

The open step and the newest steps stay, the user's words stay verbatim up to their share, and of
the rest, shortened, what ranks highest by likely need. Everything else is behind one address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.budget import Budget, Goal
from wayfare.context.groups import Group, groups, open_step
from wayfare.context.need import Candidate, chosen, worth
from wayfare.context.shortening import (
    Shortening,
    reasoning_tokens,
    replacements,
    shortenings,
    superseded,
)
from wayfare.context.slot import Slot
from wayfare.context.stubs import Addresses
from wayfare.context.view import View
from wayfare.context.words import Words, users_words
from wayfare.transcript import Collapse, DropBlocks, Edit, Op

_FRAME_CHARS: Final = 800
"""What a digest's frame takes: the request's beginning, addresses; a digest made again that would
be no shorter is left alone."""
CHARS_A_TOKEN: Final = 2.5
"""Of lists of names, which are most of a digest."""


def plan(
    view: View,
    budget: Budget,
    goal: Goal,
    addresses: Addresses,
    *,
    ratio: float,
    tail_tokens: int | None = None,
    room_share: float = 1.0,
    keep_steps: int | None = None,
) -> list[Edit]:
    """One edit that collapses all of the view that need not stay; none where it would save nothing.

    Args:
        view: What there is.
        budget: Its numbers.
        goal: Where to stop.
        addresses: Where texts stand.
        ratio: Actual tokens for a raw one.
        tail_tokens: Raw tokens of steps that stay, the open one among them; None: as many as the
            goal's target leaves beside the user's words and the digest.
        room_share: Shrinks the digest, and the user's share, below their usual length.
        keep_steps: So many of the newest steps stay in any case; None: as the budget says.
    """
    slots = view.slots()
    words = users_words(view, slots, budget.share(budget.user_share) * room_share / ratio)
    room = digest_room(budget, goal, room_share)
    if tail_tokens is None:
        beside = sum(s.load.tokens for s in slots if s.is_prompt or s.entry in words.entries)
        tail_tokens = goal.target.tokens - beside - int(room[0] / CHARS_A_TOKEN)
    newest = budget.keep_steps if keep_steps is None else keep_steps
    chosen_ones = _Choice(view, slots, words, addresses, budget).made(tail_tokens, newest)
    return _edit(slots, chosen_ones, room)


def digest_room(budget: Budget, goal: Goal, share: float) -> tuple[int, int, int]:
    """Characters for the digest in all, for file names in it, for identifiers in it."""
    most = int(goal.limit.tokens * budget.digest_share * CHARS_A_TOKEN)
    wanted = budget.digest_chars + budget.file_name_chars + budget.identifier_chars
    part = min(most / wanted, 1.0) * share
    return (
        max(int(wanted * part), 200),
        int(budget.file_name_chars * part),
        int(budget.identifier_chars * part),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Short:
    """A group as it would stay: what shortens it, its tokens then, those that are text of files."""

    group: Group
    ops: tuple[Op, ...]
    tokens: int
    file_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """Positions that stay; those of them, prompts and words, that may stand in front of the
    digest; what shortens the rest."""

    staying: frozenset[int]
    leading: frozenset[int]
    ops: tuple[Op, ...]


class _Choice:
    """Chooses what stays of one view."""

    def __init__(
        self,
        view: View,
        slots: Sequence[Slot],
        words: Words,
        addresses: Addresses,
        budget: Budget,
    ) -> None:
        self._view = view
        self._limit_tokens = budget.limit_tokens
        self._slots = slots
        self._words = words
        self._addresses = addresses
        self._superseded = superseded(slots)

    def made(self, room_tokens: float, keep_steps: int) -> _Chosen:
        """The choice, with so much room for steps."""
        slots, words = self._slots, self._words
        at_open = open_step(slots)
        stay = set(range(at_open, len(slots)))
        room_tokens -= sum(slot.load.tokens for slot in slots[at_open:])
        held = [group for group in groups(slots[:at_open]) if self._may_stay(group)]
        steps = [group.start for group in held if group.is_step]
        newest = frozenset(steps[max(len(steps) - keep_steps, 0) :])
        found = self._newest([g for g in held if g.start in newest], room_tokens)
        room_tokens -= sum(one.tokens for one in found)
        found += self._older([g for g in held if g.start not in newest], room_tokens)
        found.sort(key=lambda one: one.group.start)
        ops = [op for one in found for op in one.ops]
        for one in found:
            stay.update(range(one.group.start, one.group.stop))
        leading: set[int] = set()
        for at, slot in enumerate(slots):
            if at not in stay and (slot.is_prompt or slot.entry in words.entries):
                leading.add(at)
                if slot.entry in words.parting:
                    ops.append(words.parting[slot.entry])
        return _Chosen(
            staying=frozenset(stay | leading), leading=frozenset(leading), ops=tuple(ops)
        )

    def _may_stay(self, group: Group) -> bool:
        """Markers of ours never stay, and the user's words are chosen apart."""
        slot = self._slots[group.start]
        return group.is_step or not (slot.is_prompt or slot.is_users or slot.made)

    def _newest(self, found: Sequence[Group], room_tokens: float) -> list[_Short]:
        """The newest steps stay in any case: whole while they fit, else shortened."""
        taken: list[_Short] = []
        for group in reversed(found):
            one = self._short(group, lambda _: False)
            if one.tokens > room_tokens:
                one = self._short(group, lambda _: True)
            room_tokens -= one.tokens
            taken.append(one)
        return taken

    def _older(self, found: Sequence[Group], room_tokens: float) -> list[_Short]:
        """What is likely needed again, without what only says how things were done."""
        shorts = {group.start: self._short(group, self._spent, edited=True) for group in found}
        candidates = [
            Candidate(
                start=start,
                age_steps=self._view.step - self._slots[start].step + 1,
                tokens=one.tokens,
                file_tokens=one.file_tokens,
            )
            for start, one in shorts.items()
        ]
        stay = chosen(candidates, room_tokens, self._limit_tokens)
        return [shorts[candidate.start] for candidate in stay]

    def _spent(self, one: Shortening) -> bool:
        return not one.of_files or one.call_id in self._superseded

    def _short(
        self, group: Group, wanted: Callable[[Shortening], bool], *, edited: bool = False
    ) -> _Short:
        """A group with everything `wanted` shortened, and the reasoning gone that a cut unbinds;
        `edited` also takes out the text that its edits replaced."""
        ops: list[Op] = []
        tokens = 0
        files = 0.0
        meter = self._view.meter
        for slot in group.of(self._slots):
            tokens += slot.load.tokens - reasoning_tokens(slot, meter)
            found = list(shortenings(slot, meter, self._addresses))
            taken = [one for one in found if one.compactable and wanted(one)]
            ids = {one.call_id for one in taken}
            if edited:
                replaced = replacements(slot, meter, self._addresses)
                taken += [one for one in replaced if one.call_id not in ids]
            taken = [one for one in taken if one.saved.tokens > 0]
            files += sum(
                one.saved.tokens * worth(slot.uses.get(one.call_id))
                for one in found
                if one.of_files and one not in taken
            )
            tokens -= sum(one.saved.tokens for one in taken)
            ops += [one.op for one in taken]
        return _Short(group=group, ops=tuple(ops), tokens=tokens, file_tokens=files)


def _edit(slots: Sequence[Slot], choice: _Chosen, room: tuple[int, int, int]) -> list[Edit]:
    gone = [at for at in range(len(slots)) if at not in choice.staying]
    saved = sum(slots[at].load.tokens for at in gone)
    # A digest in the place of nothing but an older one has to be a much shorter one.
    least = 1.0 if any(not slots[at].made for at in gone) else 2.0
    if saved <= least * room[0] / CHARS_A_TOKEN:
        return []
    if (
        len(gone) == 1
        and slots[gone[0]].made
        and slots[gone[0]].load.chars <= room[0] + _FRAME_CHARS
    ):
        return []
    # Results beside words that stay have left, too: the address of what left must lead to them.
    parted = {op.entry for op in choice.ops if isinstance(op, DropBlocks)}
    left = [*gone, *(at for at in choice.leading if slots[at].entry in parted)]
    first, last = min(left), max(left)
    inside = [at for at in range(first, last + 1) if at in choice.staying]
    collapse = Collapse(
        slots[first].entry,
        slots[last].entry,
        # In front, where the next cut need not move them again.
        front=tuple(slots[at].entry for at in inside if at in choice.leading),
        keep=tuple(slots[at].entry for at in inside if at not in choice.leading),
        room=room,
    )
    reason = f"{len(gone)} messages, over the limit"
    return [Edit(by="digest", reason=reason, ops=(*choice.ops, collapse))]
