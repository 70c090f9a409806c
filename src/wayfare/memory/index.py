"""The index: `MEMORY.md`, one line a record, best first, within its lines and bytes.

What does not fit stands in one page a type, and the last line says how many and where.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

from wayfare.memory.folder import Entry, natural
from wayfare.memory.journal import JournalState
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits
from wayfare.memory.record import TYPES, one_line

HEADING = "<!-- Made by wayfare from the files beside it; edit those, not this list. -->"
PAGES_FOLDER = ".wayfare/index"

_LINK_TEXT = re.compile(r"([\[\]\\])")
_TARGET_SAFE = re.compile(r"[^\s()<>\x00-\x1f\x7f]+")
_TARGET_BREAKS = re.compile(r"[<>\x00-\x1f\x7f\x85\u2028\u2029]")

Rank: TypeAlias = tuple[int, int, float, float, tuple[str | int, ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRoom:
    """How full the index is: lines and bytes still free, records that did not fit."""

    lines_left: int
    bytes_left: int
    left_out: int = 0

    def __str__(self) -> str:
        if self.left_out:
            return f"index full: {self.left_out} records on its further pages"
        return f"index: room for {self.lines_left} lines, {self.bytes_left / 1_024:.1f} KB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The text of `MEMORY.md`, the pages by type for what it left out, and its room."""

    text: str
    pages: Mapping[str, str]
    room: IndexRoom


class _Page:
    """The records of one type by rank, with their whole lines, made when first asked for.

    A change then moves one line: writing the index of ten thousand records must not make ten
    thousand lines anew.
    """

    def __init__(self) -> None:
        self.ranks: list[Rank] = []
        self._lines: list[str] | None = None

    def put(self, rank: Rank, entry: Entry) -> None:
        at = bisect_left(self.ranks, rank)
        self.ranks.insert(at, rank)
        if self._lines is not None:
            self._lines.insert(at, index_line(entry))

    def remove(self, rank: Rank) -> None:
        at = bisect_left(self.ranks, rank)
        self.ranks.pop(at)
        if self._lines is not None:
            self._lines.pop(at)

    def after(self, rank: Rank | None, entries: Mapping[str, Entry]) -> list[str]:
        """The lines of what ranks behind `rank`; all where it is None."""
        if self._lines is None:
            self._lines = [index_line(entries[each[-1]]) for each in self.ranks]
        return self._lines[0 if rank is None else bisect_right(self.ranks, rank) :]


class IndexOrder:
    """Records by rank, kept sorted as they come, change and go.

    Standing records first, then corrected ones, then by last use, then by change, newest first.
    """

    def __init__(self, description_chars: int = DEFAULT_LIMITS.index_description_chars) -> None:
        self.description_chars = description_chars
        self._entries: dict[str, Entry] = {}
        self._ranks: dict[str, Rank] = {}
        self._sorted: list[Rank] = []
        self._pages: dict[str, _Page] = {kind: _Page() for kind in TYPES}

    def fill(
        self, entries: Mapping[str, Entry], journal: JournalState, used: Mapping[str, float]
    ) -> None:
        """Rank all of these at once, and nothing else."""
        self._entries = dict(entries)
        self._ranks = {
            file: _rank(entry, journal, used, changed=0.0, corrected=False)
            for file, entry in entries.items()
        }
        self._sorted = sorted(self._ranks.values())
        self._pages = {kind: _Page() for kind in TYPES}
        for rank in self._sorted:
            self._pages[self._entries[rank[-1]].type].ranks.append(rank)

    def put(
        self,
        entry: Entry,
        journal: JournalState,
        used: Mapping[str, float],
        *,
        changed: float = 0.0,
        corrected: bool = False,
    ) -> None:
        """Rank a record, or rank it anew; `changed` and `corrected` are what the journal does not
        know yet."""
        rank = _rank(entry, journal, used, changed=changed, corrected=corrected)
        if self._ranks.get(entry.file) == rank and self._entries[entry.file] is entry:
            return
        self.remove(entry.file)
        self._entries[entry.file] = entry
        self._ranks[entry.file] = rank
        insort(self._sorted, rank)
        self._pages[entry.type].put(rank, entry)

    def remove(self, file: str) -> None:
        """Leave a file out; nothing happens when it is not there."""
        rank = self._ranks.pop(file, None)
        if rank is not None:
            self._sorted.pop(bisect_left(self._sorted, rank))
            self._pages[self._entries.pop(file).type].remove(rank)

    def __iter__(self) -> Iterator[str]:
        return (rank[-1] for rank in self._sorted)

    def first(self, count: int) -> list[str]:
        """The lines of the best, as `MEMORY.md` has them."""
        best = self._sorted[:count]
        return [index_line(self._entries[rank[-1]], self.description_chars) for rank in best]

    def pages(self, listed: int) -> dict[str, list[str]]:
        """By type the whole lines of all but the best so many."""
        if not self._sorted:
            return {}
        last = self._sorted[listed - 1] if listed else None
        found = {kind: page.after(last, self._entries) for kind, page in self._pages.items()}
        return {kind: lines for kind, lines in found.items() if lines}

    def __len__(self) -> int:
        return len(self._sorted)


def _rank(
    entry: Entry,
    journal: JournalState,
    used: Mapping[str, float],
    *,
    changed: float,
    corrected: bool,
) -> Rank:
    file = entry.file
    changed = max(changed, journal.changed.get(file, 0.0), journal.edited.get(file, 0.0))
    return (
        0 if entry.always else 1,
        0 if corrected or file in journal.corrected else 1,
        -used.get(file, 0.0),
        -(changed or entry.written),
        natural(file),
        file,
    )


def index_line(entry: Entry, description_chars: int | None = None) -> str:
    """`- [name](file.md) — description`, on one line whatever the record holds."""
    name = one_line(entry.name) or entry.file.removesuffix(".md")
    if "[" in name or "]" in name or "\\" in name:
        name = _LINK_TEXT.sub(r"\\\1", name)
    target = entry.file
    if not _TARGET_SAFE.fullmatch(target):
        target = f"<{_TARGET_BREAKS.sub(lambda found: quote(found[0]), target)}>"
    description = one_line(entry.description)
    if description_chars is not None:
        description = shortened(description, description_chars)
    return f"- [{name}]({target}) — {description}"


def shortened(text: str, chars: int) -> str:
    """At most so many characters, with a mark where something is missing."""
    return text if len(text) <= chars else text[: max(chars - 1, 0)].rstrip() + "…"


def build_index(order: IndexOrder, limits: MemoryLimits = DEFAULT_LIMITS) -> Index:
    """Write the index of records in this order, within the lines and bytes of `limits`."""
    best = order.first(limits.index_lines - 1)
    whole = _fill(best, limits, reserve_lines=0, reserve_bytes=0)
    if len(whole) == len(order):
        return _index(whole, {}, limits, left_out=0)
    # Room for the last line: its longest form names every type.
    last = _last_line({kind: len(order) for kind in TYPES})
    listed = _fill(best, limits, reserve_lines=1, reserve_bytes=len(last.encode()) + 1)
    pages = order.pages(len(listed))
    counts = {kind: len(lines) for kind, lines in pages.items()}
    texts = {
        kind: "\n".join([f"# Further records of type {kind}", *page]) + "\n"
        for kind, page in pages.items()
    }
    left_out = len(order) - len(listed)
    return _index([*listed, _last_line(counts)], texts, limits, left_out=left_out)


def _fill(
    lines: Sequence[str], limits: MemoryLimits, *, reserve_lines: int, reserve_bytes: int
) -> list[str]:
    listed: list[str] = []
    used = len(HEADING.encode()) + 1
    for line in lines[: limits.index_lines - 1 - reserve_lines]:
        size = len(line.encode()) + 1
        if used + size > limits.index_bytes - reserve_bytes:
            break
        listed.append(line)
        used += size
    return listed


def _index(
    lines: Sequence[str], pages: Mapping[str, str], limits: MemoryLimits, *, left_out: int
) -> Index:
    text = "\n".join([HEADING, *lines]) + "\n"
    room = IndexRoom(
        lines_left=limits.index_lines - len(lines) - 1,
        bytes_left=limits.index_bytes - len(text.encode()),
        left_out=left_out,
    )
    return Index(text=text, pages=pages, room=room)


def _last_line(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    where = ", ".join(f"{PAGES_FOLDER}/{kind}.md ({count})" for kind, count in counts.items())
    return f"*{total} more records are not listed here: {where}*"
