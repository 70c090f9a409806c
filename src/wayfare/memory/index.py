"""The index: `MEMORY.md`, one line a record, best first, within its lines and bytes.

What does not fit stands in one page a type, and the last line says how many and where.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping
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


class IndexOrder:
    """Files by rank, kept sorted as records come, change and go.

    Standing records first, then corrected ones, then by last use, then by change, newest first.
    """

    def __init__(self) -> None:
        self._ranks: dict[str, Rank] = {}
        self._sorted: list[Rank] = []

    def put(self, entry: Entry, journal: JournalState, used: Mapping[str, float]) -> None:
        """Rank a record, or rank it anew."""
        self.remove(entry.file)
        file = entry.file
        changed = max(journal.changed.get(file, 0.0), journal.edited.get(file, 0.0))
        rank: Rank = (
            0 if entry.always else 1,
            0 if file in journal.corrected else 1,
            -used.get(file, 0.0),
            -(changed or entry.written),
            natural(file),
            file,
        )
        self._ranks[file] = rank
        insort(self._sorted, rank)

    def remove(self, file: str) -> None:
        """Leave a file out; nothing happens when it is not there."""
        rank = self._ranks.pop(file, None)
        if rank is not None:
            self._sorted.pop(bisect_left(self._sorted, rank))

    def __iter__(self) -> Iterator[str]:
        return (rank[-1] for rank in self._sorted)

    def __len__(self) -> int:
        return len(self._sorted)


def index_line(entry: Entry, description_chars: int) -> str:
    """`- [name](file.md) — description`, on one line whatever the record holds."""
    name = _LINK_TEXT.sub(r"\\\1", one_line(entry.name)) or entry.file.removesuffix(".md")
    target = entry.file if _TARGET_SAFE.fullmatch(entry.file) else f"<{entry.file}>"
    return f"- [{name}]({target}) — {shortened(one_line(entry.description), description_chars)}"


def shortened(text: str, chars: int) -> str:
    """At most so many characters, with a mark where something is missing."""
    return text if len(text) <= chars else text[: max(chars - 1, 0)].rstrip() + "…"


def build_index(
    order: Iterable[str],
    entries: Mapping[str, Entry],
    limits: MemoryLimits = DEFAULT_LIMITS,
) -> Index:
    """Write the index.

    Args:
        order: Files by rank, best first.
        entries: Their entries.
        limits: Lines, bytes and description length.
    """
    files = list(order)
    head = [HEADING]
    whole = _fill(files, entries, limits, head, reserve_lines=0, reserve_bytes=0)
    if len(whole) == len(files):
        return _index(whole, {}, head, limits, left_out=0)
    # Room for the last line: its longest form names every type.
    last = _last_line({kind: len(files) for kind in TYPES})
    lines = _fill(
        files, entries, limits, head, reserve_lines=1, reserve_bytes=len(last.encode()) + 1
    )
    left = files[len(lines) :]
    pages: dict[str, list[str]] = {}
    for file in left:
        entry = entries[file]
        pages.setdefault(entry.type, []).append(index_line(entry, limits.description_chars))
    counts = {kind: len(pages[kind]) for kind in TYPES if kind in pages}
    texts = {
        kind: "\n".join([f"# Further records of type {kind}", *page]) + "\n"
        for kind, page in pages.items()
    }
    return _index([*lines, _last_line(counts)], texts, head, limits, left_out=len(left))


def _fill(
    files: list[str],
    entries: Mapping[str, Entry],
    limits: MemoryLimits,
    head: list[str],
    *,
    reserve_lines: int,
    reserve_bytes: int,
) -> list[str]:
    lines: list[str] = []
    used = sum(len(line.encode()) + 1 for line in head)
    most_lines = limits.index_lines - len(head) - reserve_lines
    for file in files[:most_lines]:
        line = index_line(entries[file], limits.index_description_chars)
        size = len(line.encode()) + 1
        if used + size > limits.index_bytes - reserve_bytes:
            break
        lines.append(line)
        used += size
    return lines


def _index(
    lines: list[str], pages: Mapping[str, str], head: list[str], limits: MemoryLimits, left_out: int
) -> Index:
    text = "\n".join([*head, *lines]) + "\n"
    room = IndexRoom(
        lines_left=limits.index_lines - len(lines) - len(head),
        bytes_left=limits.index_bytes - len(text.encode()),
        left_out=left_out,
    )
    return Index(text=text, pages=pages, room=room)


def _last_line(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    where = ", ".join(f"{PAGES_FOLDER}/{kind}.md ({count})" for kind, count in counts.items())
    return f"*{total} more records are not listed here: {where}*"
