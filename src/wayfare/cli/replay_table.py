"""The table of a replay: as wide as there is room for, all of it where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.cells import cell_len, set_cell_size

from wayfare.cli.printing import counted, percent, plain, short
from wayfare.replay.rows import Row

_GAP: Final = 2
_NARROW_GAP: Final = 1
_FLAT_COLUMNS: Final = 110
"""Narrower terminals show a session's name on a line of its own, above its budgets."""
_NAME_COLUMNS: Final = 18
"""A session's name is cut to no less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One column; those with the highest `rank` go first when there is too little room."""

    title: str
    cell: Callable[[Row], str]
    rank: int = 0
    left: bool = False


def _times(row: Row) -> str:
    if not row["cost_ungoverned"]:
        return "–"
    return f"{row['cost'] / row['cost_ungoverned']:.2f}×"


def _milliseconds(row: Row) -> str:
    found: Any = row.get("governance_ms")
    return f"{found['median']:.1f}" if found else ""


def _by_pass(row: Row) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in row["edits"].items()) or "none"


_COLUMNS: Final = (
    _Column(title="budget", cell=lambda r: r["budget"], left=True),
    _Column(title="requests", cell=lambda r: f"{r['requests']:,}", rank=4),
    _Column(title="sent", cell=lambda r: short(r["tokens_sent"]), rank=1),
    _Column(title="cost", cell=_times),
    _Column(title="edits", cell=lambda r: f"{sum(r['edits'].values()):,}", rank=2),
    _Column(title="files", cell=lambda r: percent(r["needed_files"])),
    _Column(title="idents", cell=lambda r: percent(r["needed_identifiers"]), rank=3),
    _Column(title="content", cell=lambda r: percent(r["needed_content"]), rank=3),
    _Column(title="recoverable", cell=lambda r: percent(r["recoverable"])),
    _Column(title="invalid", cell=lambda r: f"{r['invalid']:,}"),
    _Column(title="refused", cell=lambda r: f"{r['refused']:,}"),
    _Column(title="ms", cell=_milliseconds, rank=5),
    _Column(title="edits by pass", cell=_by_pass, rank=6, left=True),
)
LEGEND: Final = (
    "cost: against sending the whole history each time; files, idents, content: of what the "
    "recording uses next, the share in sight"
)


def table(rows: Sequence[Row], sums: Sequence[Row], width: int | None) -> list[str]:
    """The lines of the table: title, rows, and sums where there are several sessions.

    Args:
        rows: One a session and budget, in order.
        sums: One a budget; left out where there is one session.
        width: Columns of the terminal; None: as wide as it gets.
    """
    several = len(rows) > len(sums)
    feet = [(_sum_name(row), row) for row in sums] if several else []
    lines = [(plain(str(row["file"])), row) for row in rows]
    if width is None or width >= _FLAT_COLUMNS:
        return _flat(lines, feet, width)
    return _grouped(lines, feet, width)


def _sum_name(row: Row) -> str:
    return f"sum of {row['sessions']}"


def _flat(
    lines: Sequence[tuple[str, Row]], feet: Sequence[tuple[str, Row]], width: int | None
) -> list[str]:
    """Each row begins with its session's name."""
    every = [*lines, *feet]
    name_columns = max(len("session"), *(cell_len(name) for name, _ in every))
    room = None if width is None else width - min(name_columns, 40)
    shown = _fitting([row for _, row in every], room, _GAP)
    if width is not None:
        name_columns = max(min(name_columns, width - shown.columns), _NAME_COLUMNS)
    made = [_sized("session", name_columns) + shown.head()]
    made += [_short_name(name, name_columns) + shown.row(row) for name, row in every]
    return [line.rstrip() for line in made]


def _grouped(
    lines: Sequence[tuple[str, Row]], feet: Sequence[tuple[str, Row]], width: int
) -> list[str]:
    """A session's name stands above the rows of its budgets."""
    every = [*lines, *feet]
    shown = _fitting([row for _, row in every], width - 1, _NARROW_GAP)
    made = [" " + shown.head()]
    before: tuple[str, set[str]] = ("", set())
    for name, row in every:
        if name != before[0] or row["budget"] in before[1]:
            made.append(_short_name(name, width))
            before = (name, set())
        before[1].add(row["budget"])
        made.append(" " + shown.row(row))
    return [line.rstrip() for line in made]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The columns there is room for, how wide each is, and the blanks before each."""

    chosen: Sequence[_Column]
    widths: Sequence[int]
    gap: int

    @property
    def columns(self) -> int:
        """How wide all of them are."""
        return sum(self.widths) + self.gap * len(self.widths)

    def head(self) -> str:
        """Their titles."""
        return self._line([column.title for column in self.chosen])

    def row(self, row: Row) -> str:
        """Their cells."""
        return self._line([plain(column.cell(row)) for column in self.chosen])

    def _line(self, cells: Sequence[str]) -> str:
        made: list[str] = []
        for column, width, cell in zip(self.chosen, self.widths, cells, strict=True):
            blank = " " * (width - cell_len(cell))
            made.append(" " * self.gap + (cell + blank if column.left else blank + cell))
        return "".join(made)


def _fitting(rows: Sequence[Row], room: int | None, gap: int) -> _Shown:
    chosen = list(_COLUMNS)
    while True:
        widths = [
            max(cell_len(c.title), *(cell_len(plain(c.cell(row))) for row in rows)) for c in chosen
        ]
        shown = _Shown(chosen=chosen, widths=widths, gap=gap)
        least = max(column.rank for column in chosen)
        if room is None or not least or shown.columns <= room:
            return shown
        chosen.remove(next(c for c in reversed(chosen) if c.rank == least))


def _sized(text: str, columns: int) -> str:
    return set_cell_size(text, columns)


def _short_name(name: str, columns: int) -> str:
    """A name of exactly so many columns; of one that is too long the middle is left out."""
    if cell_len(name) <= columns:
        return _sized(name, columns)
    head = (columns - 1) // 2
    end = name
    while cell_len(end) > columns - 1 - head:
        end = end[1:]
    return _sized(f"{_sized(name, head)}…{end}", columns)


def side_chains_line(count: int) -> str:
    """The footer about sub-agents that were not replayed."""
    what = counted(count, "side chain")
    return f"{what} (sessions of sub-agents) left out; --side-chains replays them too"
