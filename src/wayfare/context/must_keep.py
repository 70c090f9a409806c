"""Must-keep facts: what a summary may not lose, taken from the log in code.

User directives as quotations with their entry, paths written, errors that stand, figures and
identifiers the user gave, open todo items, what the assistant concluded or said of an error. What a summary misses is
put behind it as it stands in the log; what has no room there is still had by its address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context import statements
from wayfare.context.facts import Ledger
from wayfare.context.laid_down import laid_down

_TITLES: Final = {
    "rule": "The user laid down (verbatim):",
    "todo": "Task list:",
    "error": "Errors that stand:",
    "figure": "The user gave:",
    "path": "Files written:",
    "conclusion": "The assistant concluded:",
}
_SHARES: Final = {
    "rule": 0.4,
    "todo": 0.13,
    "error": 0.09,
    "figure": 0.13,
    "path": 0.13,
    "conclusion": 0.12,
}
"""Of the room, as much each kind may take; what one leaves is shared the same way by the others."""
_ENDED: Final = re.compile(r"exit(?:ed)?(?: with)?(?: code| status)?:?\s*-?\d+", re.I)
_LEAST_SHARE_ALIKE: Final = 0.6
"""A line says a fact in other words when it holds so much of the fact's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: its kind, the words that say it, the shortest text whose presence keeps it, the
    entry that holds it (0: the ledger alone), and whether it finds room only after the others."""

    kind: str
    text: str
    probe: str
    entry: int = 0
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What became of the must-keep facts in one compaction: those the summary and what stays
    verbatim hold, those put behind it, those that only an address leads to."""

    kept: int = 0
    added: int = 0
    by_address: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.kept + self.added + self.by_address


def must_keep(ledger: Ledger) -> tuple[Fact, ...]:
    """The facts of a session so far, the weightiest kind first; of a kind the newest first, of
    what the user laid down the firmest."""
    return tuple(_facts(ledger))


def _facts(ledger: Ledger) -> Iterator[Fact]:
    for one in laid_down(ledger):
        said = one.said
        text = f'"{said.text}"'
        yield Fact(kind="rule", text=text, probe=said.text, entry=said.entry, later=one.later)
    for todo in ledger.todos:
        content = str(todo.get("content", todo.get("text", ""))).strip()
        status = str(todo.get("status", "?"))
        if content and status not in ("completed", "done", "cancelled"):
            yield Fact(kind="todo", text=f"[{status}] {content}", probe=content)
    for error in reversed(ledger.errors.values()):
        text, probe = f"{error.use[:80]}: {error.text}", error.text[:80] or error.use
        later = _bare(error.text)
        yield Fact(kind="error", text=text, probe=probe, entry=error.entry, later=later)
    for figure, around in reversed(ledger.figures.items()):
        text, later = f'"{around.text}"', not statements.given(figure, around.text)
        yield Fact(kind="figure", text=text, probe=figure, entry=around.entry, later=later)
    for file in reversed(ledger.files.values()):
        if file.written:
            yield Fact(kind="path", text=file.path, probe=file.path, entry=file.written)
    for said in reversed(ledger.conclusions.values()):
        yield Fact(kind="conclusion", text=f'"{said.text}"', probe=said.text, entry=said.entry)
    for said in reversed(ledger.remarks.values()):
        text = f'"{said.text}"'
        yield Fact(kind="conclusion", text=text, probe=said.text, entry=said.entry, later=True)


def _bare(error: str) -> bool:
    """Whether an error says no more than how a command ended: a search without a hit, mostly."""
    return len(error) < 60 and _ENDED.search(error) is not None


def holds(text: str, fact: Fact) -> bool:
    """Whether a flattened, lower-case text (see `flat`) shows the fact as it is."""
    return flat(fact.probe) in text


def flat(text: str) -> str:
    """A text in which line breaks, runs of blanks and case make no difference."""
    return " ".join(text.split()).casefold()


def missing(facts: Iterable[Fact], shown: str) -> tuple[Fact, ...]:
    """The facts that `shown` does not hold, in their order."""
    seen = flat(shown)
    return tuple(fact for fact in facts if not holds(seen, fact))


def share_mentioned(facts: Sequence[Fact], text: str) -> float:
    """The share of the facts that a text mentions at least in other words; 1 without facts."""
    if not facts:
        return 1.0
    seen = flat(text)
    lines = [frozenset(words(line)) for line in text.splitlines() if line.strip()]
    mentioned = sum(1 for fact in facts if holds(seen, fact) or alike(fact.probe, lines))
    return mentioned / len(facts)


def alike(text: str, lines: Iterable[frozenset[str]]) -> bool:
    """Whether one of some lines, each a set of words, holds most of the words of a text."""
    wanted = frozenset(words(text))
    return bool(wanted) and any(
        len(wanted & line) / len(wanted) >= _LEAST_SHARE_ALIKE for line in lines
    )


def words(text: str) -> list[str]:
    """The words of a text as search sees them, stop words left out; pairs of CJK characters."""
    from wayfare.lexical.words import tokens

    return tokens(text)


def listed(facts: Sequence[Fact], *, room_chars: int) -> tuple[str, tuple[Fact, ...]]:
    """The facts as text by kind, with their entries, within so many characters, and those that
    found room. Two facts of the same words share a line."""
    taken: dict[str, list[Fact]] = {kind: [] for kind in _TITLES}
    lines: dict[str, list[str]] = {kind: [] for kind in _TITLES}
    for later in (False, True):
        waiting = {
            kind: [fact for fact in facts if fact.kind == kind and fact.later == later]
            for kind in _TITLES
        }
        room_chars = _share_out(waiting, taken, lines, room_chars)
    text = "\n".join("\n".join([_TITLES[kind], *own]) for kind, own in lines.items() if own)
    return text, tuple(fact for own in taken.values() for fact in own)


def _share_out(
    waiting: dict[str, list[Fact]],
    taken: dict[str, list[Fact]],
    lines: dict[str, list[str]],
    left: int,
) -> int:
    """Let each kind take its share, until nothing more fits; returns the room left."""
    used = 1
    while used:
        used, room = 0, left
        whole = sum(_SHARES[kind] for kind, own in waiting.items() if own)
        for kind, own in waiting.items():
            share = min(int(room * _SHARES[kind] / whole), left) if own else 0
            took = _take(own, taken[kind], lines[kind], share)
            used, left = used + took, left - took
    return left


def _take(waiting: list[Fact], taken: list[Fact], lines: list[str], room_chars: int) -> int:
    """Move facts from `waiting` to `taken` while their lines find room; returns what they use."""
    used = 0
    while waiting:
        fact = waiting[0]
        line = f"- {fact.text}" + (f" (#{fact.entry})" if fact.entry else "")
        said = any(fact.text == one.text for one in taken)
        cost = 0 if said else len(line) + 1 + (0 if lines else len(_TITLES[fact.kind]) + 1)
        if used + cost > room_chars:
            break
        used += cost
        if not said:
            lines.append(line)
        taken.append(waiting.pop(0))
    return used
