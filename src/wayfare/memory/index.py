"""The index: `MEMORY.md`, one line a record, best first, within its lines and bytes.

What does not fit stands in one page a type, and the last line says how many and where.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wayfare.memory.folder import Entry, natural
from wayfare.memory.journal import JournalState
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits
from wayfare.memory.record import TYPES, one_line

HEADING = "<!-- Made by wayfare from the files beside it; edit those, not this list. -->"
PAGES_FOLDER = ".wayfare/index"

_LINK_TEXT = re.compile(r"([\[\]\\])")
_TARGET_SAFE = re.compile(r"[^\s()<>]+")

Rank = tuple[int, int, float, float, tuple[str | int, ...], str]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A record's line in the index, the whole one for its page, and the page."""

    short: str
    whole: str
    type: str


class IndexOrder:
    """Records by rank with their lines, kept sorted as they come, change and go.

    Standing records first, then corrected ones, then by last use, then by change, newest first.
    """

    def __init__(self, description_chars: int = DEFAULT_LIMITS.index_description_chars) -> None:
        self.description_chars = description_chars
        self._lines: dict[str, Line] = {}
        self._ranks: dict[str, Rank] = {}
        self._sorted: list[Rank] = []

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
        self.remove(entry.file)
        file = entry.file
        changed = max(changed, journal.changed.get(file, 0.0), journal.edited.get(file, 0.0))
        rank: Rank = (
            0 if entry.always else 1,
            0 if corrected or file in journal.corrected else 1,
            -used.get(file, 0.0),
            -(changed or entry.written),
            natural(file),
            file,
        )
        whole = index_line(entry)
        cut = index_line(entry, self.description_chars)
        self._lines[file] = Line(short=cut, whole=whole, type=entry.type)
        self._ranks[file] = rank
        insort(self._sorted, rank)

    def remove(self, file: str) -> None:
        """Leave a file out; nothing happens when it is not there."""
        rank = self._ranks.pop(file, None)
        if rank is not None:
            del self._lines[file]
            self._sorted.pop(bisect_left(self._sorted, rank))

    def __iter__(self) -> Iterator[str]:
        return (rank[-1] for rank in self._sorted)

    def lines(self) -> list[Line]:
        """The lines, best first."""
        lines = self._lines
        return [lines[rank[-1]] for rank in self._sorted]

    def __len__(self) -> int:
        return len(self._sorted)


def index_line(entry: Entry, description_chars: int | None = None) -> str:
    """`- [name](file.md) — description`, on one line whatever the record holds."""
    name = _LINK_TEXT.sub(r"\\\1", one_line(entry.name)) or entry.file.removesuffix(".md")
    target = entry.file if _TARGET_SAFE.fullmatch(entry.file) else f"<{entry.file}>"
    description = one_line(entry.description)
    if description_chars is not None:
        description = shortened(description, description_chars)
    return f"- [{name}]({target}) — {description}"


def shortened(text: str, chars: int) -> str:
    """At most so many characters, with a mark where something is missing."""
    return text if len(text) <= chars else text[: max(chars - 1, 0)].rstrip() + "…"


def build_index(order: IndexOrder, limits: MemoryLimits = DEFAULT_LIMITS) -> Index:
    """Write the index of records in this order, within the lines and bytes of `limits`."""
    lines = order.lines()
    whole = _fill(lines, limits, reserve_lines=0, reserve_bytes=0)
    if len(whole) == len(lines):
        return _index(whole, {}, limits, left_out=0)
    # Room for the last line: its longest form names every type.
    last = _last_line({kind: len(lines) for kind in TYPES})
    listed = _fill(lines, limits, reserve_lines=1, reserve_bytes=len(last.encode()) + 1)
    pages: dict[str, list[str]] = {}
    for line in lines[len(listed) :]:
        pages.setdefault(line.type, []).append(line.whole)
    counts = {kind: len(pages[kind]) for kind in TYPES if kind in pages}
    texts = {
        kind: "\n".join([f"# Further records of type {kind}", *page]) + "\n"
        for kind, page in pages.items()
    }
    left_out = len(lines) - len(listed)
    return _index([*listed, _last_line(counts)], texts, limits, left_out=left_out)


def _fill(
    lines: Sequence[Line], limits: MemoryLimits, *, reserve_lines: int, reserve_bytes: int
) -> list[str]:
    listed: list[str] = []
    used = len(HEADING.encode()) + 1
    for line in lines[: limits.index_lines - 1 - reserve_lines]:
        size = len(line.short.encode()) + 1
        if used + size > limits.index_bytes - reserve_bytes:
            break
        listed.append(line.short)
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
