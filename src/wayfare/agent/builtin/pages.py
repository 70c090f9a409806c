"""Pages of a text: some lines of it with their numbers, whatever its size.

The text is read from a stream, never whole: the lines before a page are counted, not kept.
Lines end at LF alone, so that a line has one number wherever it is shown.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import BinaryIO

LINE_CHARS = 2_000
"""A longer line is cut: minified code and data on one line would fill the page."""
_CHUNK_BYTES = 1 << 20
_INNER_BYTES = bytes(range(0x80, 0xC0))
"""Bytes that do not begin a character of UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some lines.

    Attributes:
        text: Lines with their numbers, or a piece of one line without.
        first: Number of the first line shown; 0 when there is none.
        last: Number of the last.
        lines: So many lines the whole text has.
        cut_lines: Numbers of lines that were cut.
        left_chars: Characters that follow the piece of one line.
    """

    text: str
    first: int
    last: int
    lines: int
    cut_lines: tuple[int, ...] = ()
    left_chars: int = 0


def page(
    stream: BinaryIO, *, first: int, count: int, most_chars: int, cut_chars: int = LINE_CHARS
) -> Page:
    """Up to `count` lines from line `first` on (counted from the end where negative).

    Args:
        stream: UTF-8 that can be read from its beginning again.
        most_chars: The page ends before it would be longer; one line is always shown.
        cut_chars: So much of a longer line is shown.
    """
    start, lines = _find(stream, max(first, 1) if first >= 0 else 1)
    if first < 0:
        first = max(lines + first + 1, 1)
        start, _ = _find(stream, first)
    first = max(first, 1)
    if first > lines:
        return Page(text="", first=0, last=0, lines=lines)
    stream.seek(start)
    shown: list[str] = []
    cut: list[int] = []
    used = 0
    for number in range(first, min(first + count, lines + 1)):
        text, more_chars = _line(stream, min(cut_chars, most_chars))
        if number == 1:
            text = text.removeprefix("\ufeff")
        if more_chars:
            text += f" [… {more_chars:,} more characters]"
        shown_line = f"{number}\t{text}"
        used += len(shown_line) + 1
        if shown and used > most_chars:
            break
        shown.append(shown_line)
        if more_chars:
            cut.append(number)
    return Page(
        text="\n".join(shown),
        first=first,
        last=first + len(shown) - 1,
        lines=lines,
        cut_lines=tuple(cut),
    )


def piece(stream: BinaryIO, *, line: int, column: int, most_chars: int) -> Page:
    """A piece of one long line, from character `column` (from 1) on."""
    start, lines = _find(stream, line)
    if line > lines:
        return Page(text="", first=0, last=0, lines=lines)
    stream.seek(start)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    skip, room = column - 1, most_chars
    taken: list[str] = []
    left = 0
    ended = False
    while not ended:
        raw = stream.readline(_CHUNK_BYTES)
        ended = not raw or raw.endswith(b"\n")
        text = decoder.decode(raw.rstrip(b"\r\n") if ended else raw, ended)
        here, skip = text[skip:], max(skip - len(text), 0)
        taken.append(here[:room])
        left += max(len(here) - room, 0)
        room = max(room - len(here), 0)
    return Page(text="".join(taken), first=line, last=line, lines=lines, left_chars=left)


def _find(stream: BinaryIO, line: int) -> tuple[int, int]:
    """Where a line begins, in bytes, and how many lines there are."""
    stream.seek(0)
    start = at = ends = 0
    last = b""
    while chunk := stream.read(_CHUNK_BYTES):
        count = chunk.count(b"\n")
        if ends < line - 1 <= ends + count:
            inside = -1
            for _ in range(line - 1 - ends):
                inside = chunk.index(b"\n", inside + 1)
            start = at + inside + 1
        ends += count
        at += len(chunk)
        last = chunk[-1:]
    return start, ends + (last not in (b"", b"\n"))


def _line(stream: BinaryIO, most_chars: int) -> tuple[str, int]:
    """The next line up to so many characters, and how many more it has."""
    raw = stream.readline(most_chars * 4 + 2)
    ended = raw.endswith(b"\n")
    text = (raw.rstrip(b"\r\n") if ended else raw).decode("utf-8", "replace")
    more = max(len(text) - most_chars, 0)
    while not ended and (rest := stream.readline(_CHUNK_BYTES)):
        ended = rest.endswith(b"\n")
        more += _chars(rest.rstrip(b"\r\n") if ended else rest)
    return text[:most_chars], more


def _chars(raw: bytes) -> int:
    return len(raw.translate(None, _INNER_BYTES))
