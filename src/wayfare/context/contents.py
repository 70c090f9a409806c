"""The table of contents of an archive: what was done, how large it is, where it stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from wayfare.context.slot import Slot
from wayfare.context.stubs import Addresses, cut

_MAIN_CHARS: Final = 40
_LINE_CHARS: Final = 4_000
"""Short messages that follow each other share a line until it stands for so many characters:
a table of short messages would else be as long as they are."""
_LINE_ENTRIES: Final = 20
_SAID: Final = 3
"""So much of what was done in a run is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An entry that the table does not list yet."""

    number: int
    chars: int
    said: tuple[str, ...]


class Contents:
    """What the table of contents does not list yet, in the order it entered."""

    def __init__(self, waiting: Iterable[Waiting] = (), listed: int = 0) -> None:
        self._waiting: deque[Waiting] = deque(waiting)
        self.listed = listed
        """The last entry the table lists."""

    @property
    def waiting(self) -> Sequence[Waiting]:
        """What it does not list yet."""
        return tuple(self._waiting)

    def add(self, slot: Slot) -> None:
        """Take note of a message."""
        message = slot.message
        said = tuple(
            f"{use.name} {cut(use.main, _MAIN_CHARS)}".strip()
            for call in message.calls
            if (use := slot.uses.get(call.id)) is not None
        )
        if not said and not message.results:
            said = (str(message.origin),)
        self._waiting.append(Waiting(number=slot.entry, chars=slot.load.chars, said=said))

    def lines(self, last: int, addresses: Addresses) -> list[str]:
        """Lines `entries, what, size in characters, address`, tab-separated, in order, for what
        stands up to entry `last` and is not listed yet.

        A line stands for one entry, or for a run of short ones; its address is one read.
        """
        due = [entry for entry in self._waiting if entry.number <= last]
        return [_printed(run, addresses) for run in _runs(due)]

    def list_up_to(self, last: int) -> None:
        """The lines up to entry `last` are written."""
        self.listed = max(self.listed, last)
        while self._waiting and self._waiting[0].number <= last:
            self._waiting.popleft()


def _runs(entries: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    run: list[Waiting] = []
    chars = 0
    for entry in entries:
        full = chars + entry.chars > _LINE_CHARS or len(run) == _LINE_ENTRIES
        if run and (full or entry.number - run[0].number >= 2 * _LINE_ENTRIES):
            yield run
            run, chars = [], 0
        run.append(entry)
        chars += entry.chars
    if run:
        yield run


def _printed(run: Sequence[Waiting], addresses: Addresses) -> str:
    first, last = run[0].number, run[-1].number
    said = list(dict.fromkeys(one for entry in run for one in entry.said))
    more = [f"{len(said) - _SAID} more"] if len(said) > _SAID else []
    what = " ".join("; ".join((*said[:_SAID], *more)).split()) or "results"
    chars = str(sum(entry.chars for entry in run))
    entries, address = str(first), addresses.entry(first)
    if first != last:
        entries, address = f"{first}-{last}", addresses.run(first, last)
    return "\t".join((entries, what, chars, address))
