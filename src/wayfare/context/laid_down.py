"""What the user laid down, ranked by how firmly it holds.

Where room is short the firmest stays. A rule the user typed by itself comes before one in a longer
text, which may well be pasted; a short wish in words that no form marks comes before a sentence of
a document that is no rule; talk of the moment comes last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from wayfare.context import statements
from wayfare.context.facts import Ledger, Said


class Rank(IntEnum):
    """How firmly words of the user hold, the firmest first."""

    RULE = 0
    RULE_IN_A_TEXT = 1
    STATEMENT = 2
    WISH = 3
    CLAUSE = 4
    TALK = 5
    ASIDE = 6
    CLAUSE_IN_PASSING = 7


@dataclass(frozen=True, slots=True)
class LaidDown:
    """Words of the user and their rank."""

    rank: Rank
    said: Said

    @property
    def later(self) -> bool:
        """Whether other kinds of facts find room before it."""
        return self.rank > Rank.WISH


def laid_down(ledger: Ledger) -> list[LaidDown]:
    """All of it, the firmest first and of one rank the newest."""
    return sorted(_all(ledger), key=lambda one: one.rank)


def _all(ledger: Ledger) -> Iterator[LaidDown]:
    for said in reversed(ledger.rules.values()):
        rank = Rank.STATEMENT if _holds(said) else Rank.TALK
        yield LaidDown(Rank.RULE if _firm(said) else rank, said)
    for said in reversed(ledger.asides.values()):
        yield LaidDown(Rank.ASIDE if statements.talks(said.text) else Rank.WISH, said)
    for said in reversed(ledger.clauses.values()):
        rank = Rank.CLAUSE if _holds(said) else Rank.CLAUSE_IN_PASSING
        yield LaidDown(Rank.RULE_IN_A_TEXT if _firm(said) else rank, said)


def _firm(said: Said) -> bool:
    return statements.strength(said.text) == statements.FIRM


def _holds(said: Said) -> bool:
    return not statements.in_passing(said.text)
