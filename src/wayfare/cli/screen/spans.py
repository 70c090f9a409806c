"""Lines as spans of text with a style each: drawn with colours on a terminal, plain anywhere else.

Text of models and tools is made harmless here: whatever could move a cursor, change a colour, set
a title or reverse the writing direction is taken out or shown as a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from wayfare.cli.printing import plain, unsteering

Span: TypeAlias = tuple[str, str]
"""A style of `STYLES` (or nothing) and a text without line ends."""
Line: TypeAlias = tuple[Span, ...]

STYLES: Final = {
    "": "",
    "dim": "2",
    "bold": "1",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "accent": "36",
    "user": "1;36",
}
"""SGR parameters: the sixteen colours of the terminal's own theme, so that every theme is readable."""

_SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links, the clipboard
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_TAB: Final = "    "
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that show nothing: two commands that differ in one of them look alike."""
_NARROW: Final = dict.fromkeys(map(ord, "·…›█░✓✗▾│→×“”’–⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), "x")
"""Marks wayfare draws itself: one column each, known without a table of all characters."""


def harmless(text: str) -> str:
    """Text of several lines without what steers a terminal: sequences go, stray controls become
    U+FFFD. Line ends and tabs stay."""
    return unsteering(_SEQUENCE.sub("", text))


def neutral(text: str) -> str:
    """The same with four blanks for a tab, for texts that are laid out in columns."""
    return harmless(text.replace("\t", _TAB))


def whole(text: str) -> str:
    """Text of several lines, harmless, with nothing taken out of it: for what a person decides
    about. A sequence that goes unseen could take the rest of a command with it."""
    return unsteering(text.replace("\t", _TAB))


def invisible(text: str) -> str:
    """The same with U+FFFD also for what is no control and still cannot be seen."""
    return _UNSEEN.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The same on one line; of a line drawn over and over only the last drawing stays."""
    text = _SEQUENCE.sub("", text).rstrip("\r\n")
    return plain(text.rpartition("\r")[2] if "\n" not in text else text)


def width_of(text: str) -> int:
    """Columns a text takes; wide characters take two."""
    if text.isascii() or text.translate(_NARROW).isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, columns: int) -> str:
    """The text in at most so many columns, with `…` at the end if something is left out."""
    if width_of(text) <= columns:
        return text
    if columns <= 1:
        return "…"[:columns]
    if text.isascii():
        return text[: columns - 1] + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, columns - 1).rstrip() + "…"


def cut_middle(text: str, columns: int) -> str:
    """The same with the middle left out: the end of a path says more than its middle."""
    if width_of(text) <= columns or columns < 12 or not text.isascii():
        return cut(text, columns)
    tail = (columns - 1) * 2 // 3
    return f"{text[: columns - 1 - tail]}…{text[-tail:]}"


def line_width(line: Line) -> int:
    """Columns a line takes."""
    return sum(width_of(text) for _, text in line)


def fitted(line: Sequence[Span], columns: int) -> Line:
    """A line in at most so many columns; what is beyond is cut."""
    kept: list[Span] = []
    room = columns
    for style, text in line:
        if room <= 0:
            break
        wide = width_of(text)
        if wide > room:
            kept.append((style, cut(text, room)))
            break
        kept.append((style, text))
        room -= wide
    return tuple(kept)


def text_of(line: Line) -> str:
    """A line without styles."""
    return "".join(plain(text) for _, text in line)


def ansi_of(line: Line) -> str:
    """A line with styles as a terminal takes them.

    Here texts become what is written: whoever made them, none steers.
    """
    return "".join(
        f"\x1b[{STYLES[style]}m{plain(text)}\x1b[0m" if STYLES[style] else plain(text)
        for style, text in line
    )


def wrapped(text: str, columns: int, *, style: str = "", lead: str = "") -> list[Line]:
    """A text of several lines in lines that fit, each with `lead` before it."""
    return wrapped_as_is(neutral(text), columns, style=style, lead=lead)


def wrapped_as_is(text: str, columns: int, *, style: str = "", lead: str = "") -> list[Line]:
    """The same for a text that is harmless already."""
    import textwrap

    room = max(columns - width_of(lead), 8)
    lines: list[Line] = []
    for given in text.splitlines() or [""]:
        parts = textwrap.wrap(given, room, break_on_hyphens=False) if given.strip() else [""]
        lines += [((style, lead + part),) for wide in parts for part in _chopped(wide, room)]
    return lines


def _chopped(text: str, columns: int) -> list[str]:
    """A text in pieces of at most so many columns: wrapping counts characters, not columns."""
    if width_of(text) <= columns:
        return [text]
    from rich.cells import chop_cells

    return chop_cells(text, columns)


def joined(lines: Iterable[Line], *, color: bool) -> str:
    """Lines as one text, each with its line end."""
    draw = ansi_of if color else text_of
    return "".join(draw(line) + "\n" for line in lines)
