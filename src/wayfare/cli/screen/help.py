"""What `/help` shows: slash commands and keys."""

from __future__ import annotations

from typing import Final

from wayfare.cli.screen.slash import COMMANDS
from wayfare.cli.screen.spans import Line, fitted

_KEYS: Final = (
    ("Enter", "send; while a turn runs: queue"),
    ("Alt-Enter", "a new line; so does \\ at the end"),
    ("@", "complete a file name"),
    ("Ctrl-C", "interrupt; twice: leave"),
    ("Ctrl-R", "search what was typed before"),
)


def help_lines(columns: int) -> list[Line]:
    """Slash commands and keys."""
    rows = [(f"/{one.name} {one.argument}".strip(), one.text) for one in COMMANDS]
    return [_row(left, right, columns) for left, right in (*rows, *_KEYS)]


def _row(left: str, right: str, columns: int) -> Line:
    if columns < 44:
        return fitted((("bold", left), ("dim", f" {right}")), columns)
    return fitted((("bold", f"  {left:<20}"), ("dim", f" {right}")), columns)
