"""Invariants: the providers' rules, each a named object that says whether a run of slots is legal.

They run on what is about to be sent, in production too. A violation raises `BrokenView`: it is a
bug of ours, since what came in broken is repaired by edits first (see `passes.repair`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from wayfare.context.groups import carries_results, groups
from wayfare.context.slot import Slot
from wayfare.context.unicode_text import has_surrogates
from wayfare.context.view import View
from wayfare.errors import BrokenView
from wayfare.messages import Message, Opaque, Text, Thinking, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A rule that a run of slots breaks, and the entries where."""

    rule: str
    text: str
    entries: tuple[int, ...]


class Invariant(Protocol):
    """One rule."""

    name: str

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        """What is broken in whole step groups; `front` says that the first slot opens the view."""
        ...


class StartsWithUser:
    """The first message that is not a system prompt is a user's."""

    name = "starts-with-user"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        if not front:
            return
        for slot in slots:
            if slot.message.role in ("system", "developer"):
                continue
            if slot.message.role != "user" or carries_results(slot):
                text = f"the first message is {slot.message.role}'s"
                yield Violation(rule=self.name, text=text, entries=(slot.entry,))
            return


class PairsWhole:
    """Every call has exactly one result, right after its step, and every result its call."""

    name = "pairs-whole"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        for group in groups(slots):
            members = group.of(slots)
            asked = Counter(call.id for slot in members for call in slot.message.calls)
            given = Counter(r.call_id for slot in members for r in slot.message.results)
            if asked == given:
                continue
            entries = tuple(slot.entry for slot in members)
            for id in (asked - given).elements():
                yield Violation(
                    rule=self.name, text=f"no result for the call {id!r}", entries=entries
                )
            for id in (given - asked).elements():
                text = f"a result for {id!r}, which no open call asks for"
                yield Violation(rule=self.name, text=text, entries=entries)


class NothingEmpty:
    """No empty message, no blank text block."""

    name = "nothing-empty"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        for slot in slots:
            if is_empty(slot.message):
                yield Violation(rule=self.name, text="an empty message", entries=(slot.entry,))
            elif blank_blocks(slot.message):
                yield Violation(rule=self.name, text="a blank text block", entries=(slot.entry,))
            elif silent_results(slot.message):
                yield Violation(rule=self.name, text="a silent result", entries=(slot.entry,))


def blank_blocks(message: Message) -> tuple[int, ...]:
    """Positions of text blocks that hold nothing but blanks."""
    return tuple(
        at for at, b in enumerate(message.blocks) if isinstance(b, Text) and not b.text.strip()
    )


def silent_results(message: Message) -> tuple[int, ...]:
    """Positions of results that say nothing at all, which some providers refuse."""
    return tuple(
        at
        for at, b in enumerate(message.blocks)
        if isinstance(b, ToolResult)
        and all(isinstance(inner, Text) and not inner.text.strip() for inner in b.content)
    )


def is_empty(message: Message) -> bool:
    """Whether nothing of the message could be sent."""
    if any(isinstance(b, Opaque) for b in message.blocks):
        return False
    sent = [b for b in message.blocks if not isinstance(b, Text) or b.text.strip()]
    return all(isinstance(b, Thinking) and not b.bound and not b.text for b in sent)


class ValidUnicode:
    """No lone surrogate: the request must be UTF-8."""

    name = "valid-unicode"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        for slot in slots:
            if has_surrogates(slot.message):
                text = "text that is no valid Unicode"
                yield Violation(rule=self.name, text=text, entries=(slot.entry,))


class ResultsFirst:
    """In a message that answers calls, the results stand before anything else."""

    name = "results-first"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        for slot in slots:
            if results_first(slot.message) is not None:
                text = "a result behind another block"
                yield Violation(rule=self.name, text=text, entries=(slot.entry,))


def results_first(message: Message) -> tuple[int, ...] | None:
    """The order of blocks that puts results first, or None when they stand so already."""
    if not message.results or message.role == "assistant":
        return None
    numbers = range(len(message.blocks))
    order = sorted(numbers, key=lambda at: not isinstance(message.blocks[at], ToolResult))
    return None if order == list(numbers) else tuple(order)


class NoTrailingReasoning:
    """An assistant message of the Anthropic format does not end in reasoning."""

    name = "no-trailing-reasoning"

    def violations(self, slots: Sequence[Slot], *, front: bool) -> Iterable[Violation]:
        for slot in slots:
            if trailing_reasoning(slot.message):
                text = "reasoning at the end of a message"
                yield Violation(rule=self.name, text=text, entries=(slot.entry,))


def trailing_reasoning(message: Message, without: Sequence[int] = ()) -> tuple[int, ...]:
    """Positions of the reasoning that an assistant message of the Anthropic format ends in once
    the blocks at `without` are gone."""
    if message.role != "assistant" or message.format not in ("", "anthropic"):
        return ()
    left = [at for at in range(len(message.blocks)) if at not in without]
    found: list[int] = []
    while left and isinstance(message.blocks[left[-1]], Thinking):
        found.insert(0, left.pop())
    return tuple(found)


RULES: Final[tuple[Invariant, ...]] = (
    StartsWithUser(),
    PairsWhole(),
    NothingEmpty(),
    ResultsFirst(),
    NoTrailingReasoning(),
    ValidUnicode(),
)


def violations(view: View, start: int = 0) -> list[Violation]:
    """Every rule the view breaks from position `start` on (the start of a step group)."""
    slots = view.slots(start)
    return [found for rule in RULES for found in rule.violations(slots, front=start == 0)]


def check(view: View, start: int = 0) -> None:
    """Raise for the first rule that is broken from position `start` on.

    Raises:
        BrokenView: names the rule and the entries.
    """
    for found in violations(view, start):
        raise BrokenView(
            f"{found.rule}: {found.text} (entries {found.entries})",
            rule=found.rule,
            entry_ids=found.entries,
        )
