"""What memory tells watchers, and the one line the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wayfare.events import Event
from wayfare.memory.candidate import Verdict
from wayfare.memory.folder import Entry, Seen
from wayfare.memory.transaction import Written

_MINOR = frozenset({"no_type", "no_description", "wrong_type"})
"""Problems of reading that leave a record as good as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What the gate said to each candidate, in order, and what was written."""

    verdicts: tuple[Verdict, ...]
    written: Written

    def __str__(self) -> str:
        """One line for the terminal: `memory: 1 stored, 1 updated`."""
        return tally(self.verdicts, refused=True) or "memory: nothing new"


def tally(verdicts: Sequence[Verdict], *, refused: bool = False) -> str:
    """`memory: 1 stored, 1 updated`; empty when there is nothing to tell."""
    counts = {
        "stored": sum(v.outcome == "accept" for v in verdicts),
        "updated": sum(v.outcome == "update" and v.writes for v in verdicts),
        "waiting for review": sum(v.outcome == "quarantine" or v.proposal for v in verdicts),
        "refused": sum(v.outcome == "reject" for v in verdicts) if refused else 0,
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"memory: {told}" if told else ""


def offered_events(offered: Offered) -> Iterator[Event]:
    """What was stored, what was not and why, which kinds of secrets were replaced."""
    kinds = sorted({kind for v in offered.verdicts for kind in v.secrets})
    if kinds:
        yield Event(
            name="memory.secret_replaced",
            text=f"secrets were replaced before anything was stored: {', '.join(kinds)}",
            fields={"kinds": tuple(kinds)},
        )
    for verdict in offered.verdicts:
        if verdict.outcome in ("reject", "quarantine") or verdict.proposal:
            outcome = "review" if verdict.proposal else verdict.outcome
            yield Event(
                name=f"memory.{outcome}",
                text=f"memory not stored ({outcome}): {verdict.detail}",
                fields={"reason": verdict.reason},
            )
    if any(v.writes for v in offered.verdicts):
        yield Event(
            name="memory.stored",
            text=str(offered),
            fields={"files": offered.written.files, "tx": offered.written.tx},
        )


def unclear_events(seen: Seen, entries: Mapping[str, Entry]) -> Iterator[Event]:
    """Once for every new or changed file that could not be understood whole."""
    for file in (*seen.read, *seen.unreadable):
        entry = entries.get(file)
        serious = tuple(c for c in entry.problems if c not in _MINOR) if entry is not None else ()
        if serious:
            yield Event(
                name="memory.unclear",
                text=f"{file} is listed as well as it can be read: {', '.join(serious)}",
                fields={"file": file, "problems": serious},
            )


def rebuilt_event(known: int, lines: int) -> Event:
    """The journal is not the one that was known: cut, replaced or gone."""
    return Event(
        name="memory.journal_rebuilt",
        text=f"the memory journal has {lines} lines where {known} were known; "
        "it goes on from the files as they are",
        fields={"known": known, "lines": lines},
    )


def damaged_events(numbers: Iterable[int]) -> Iterator[Event]:
    """Lines of the journal that cannot be read; what they told is lost, the files are not."""
    for number in numbers:
        yield Event(
            name="memory.journal_damaged",
            text=f"line {number} of the memory journal cannot be read",
            fields={"line": number},
        )
