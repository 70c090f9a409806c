"""Markdown that streams in: whole blocks are drawn for good, the last one as far as it goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from wayfare.cli.printing import unsteering
from wayfare.cli.screen.spans import neutral

if TYPE_CHECKING:
    from rich.console import Console

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_THEME: Final = {
    "markdown.code": "cyan",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.block_quote": "dim",
    "markdown.link": "underline",
    "markdown.link_url": "dim",
}
_WIDEST: Final = 110
"""Columns; longer lines of prose are hard to read."""


def split(text: str) -> tuple[str, str]:
    """What of a text can be drawn for good, and the rest that may still change.

    A block ends at a blank line outside a code fence, when what follows has begun and is not
    indented (an indented line may belong to the list item before the blank one).
    """
    done = 0
    position = 0
    fence = ""
    blank = False
    for line in text.splitlines(keepends=True):
        whole = line.endswith("\n")
        if blank and not fence and line.strip() and not line[0].isspace():
            done = position
        found = _FENCE.match(line.rstrip("\n"))
        if fence:
            closes = found is not None and found[1].startswith(fence) and not found[2].strip()
            if closes and whole:
                fence = ""
                done = position + len(line)
        elif found is not None:
            fence = found[1]
        blank = whole and not line.strip()
        position += len(line)
    return text[:done], text[done:]


def last_lines(text: str, most: int) -> str:
    """The end of a text that still grows, short enough to be drawn again and again.

    Cut inside a code fence, the fence is opened again, so that it is drawn as code.
    """
    lines = text.splitlines()
    if len(lines) <= most:
        return text
    opened = ""
    for line in lines[:-most]:
        found = _FENCE.match(line)
        if found is None:
            continue
        if not opened:
            opened = line
        elif found[1].startswith(_FENCE.match(opened)[1]) and not found[2].strip():  # pyright: ignore
            opened = ""
    kept = lines[-most:]
    return "\n".join([opened, *kept] if opened else kept)


def rendered(text: str, columns: int, *, color: bool) -> str:
    """Markdown as a terminal shows it; without colour as it was written."""
    text = neutral(text)
    if not color:
        return text.strip("\n") + "\n"
    from io import StringIO

    from rich.console import Console
    from rich.theme import Theme

    target = StringIO()
    console = Console(
        file=target,
        force_terminal=True,
        color_system="standard",
        width=max(min(columns, _WIDEST), 10),
        highlight=False,
        legacy_windows=False,
        theme=Theme(_THEME),
    )
    _print(console, text)
    # Once more: an entity such as `&#x202e;` is a character only now.
    drawn = _OWN_SEQUENCE.split(target.getvalue())
    safe = "".join(part if at % 2 else unsteering(part) for at, part in enumerate(drawn))
    lines = [_without_padding(line) for line in safe.split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return "\n".join(lines) + "\n"


def _print(console: Console, text: str) -> None:
    from wayfare.cli.screen.rich_markdown import SessionMarkdown

    console.print(SessionMarkdown(text, code_theme="ansi_dark", hyperlinks=False))


_OWN_SEQUENCE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
_PADDING: Final = re.compile(r"( |\x1b\[[0-9;]*m)+$")


def _without_padding(line: str) -> str:
    """A line without the blanks that fill it up: they would wrap in a terminal made narrower."""
    found = _PADDING.search(line)
    if found is None or found.start() == 0:
        return line if found is None else ""
    resets = "\x1b[0m" if "\x1b[" in found[0] else ""
    return line[: found.start()] + resets
