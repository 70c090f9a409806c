"""What may be printed where: names and texts of strangers without their control characters."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import Any, Final, TextIO

from wayfare.errors import ConfigError, WayfareError

_STEERING: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
STEERING: Final = re.compile(f"[{_STEERING}\ud800-\udfff]")
"""Whatever moves a cursor, reverses the writing direction, or is no character; line ends and tabs
are not among it."""


_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0f71-\u0f84\u0f8d-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u2060-\u2064\u20d0-\u20ff"
    "\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U000e0000-\U000e01ef"
)
"""Characters without a column of their own: accents, vowel signs, joiners, selectors, tags."""
_MOST_MARKS: Final = 8
"""On one letter: Tibetan, which stacks the highest, has words with so many."""
_STORM: Final = re.compile(f"([{_MARKS}]{{{_MOST_MARKS}}})[{_MARKS}]+")


def plain(text: str) -> str:
    """`text` on one line, harmless for a terminal; what cannot be shown becomes U+FFFD.

    Line ends and tabs become blanks.
    """
    if text.isascii() and text.isprintable():
        return text
    return _tamed(text.replace("\r\n", " ").translate({9: " ", 10: " ", 13: " "}))


def _tamed(text: str) -> str:
    """What steers becomes U+FFFD, and of marks heaped on a letter as many stay as a script needs:
    more are drawn over the lines around."""
    text = STEERING.sub("\ufffd", text)
    return text if text.isascii() else _STORM.sub("\\1\ufffd", text)


def say(text: str) -> None:
    """One line for a person, on stderr."""
    sys.stderr.write(f"{_encodable(plain(text), sys.stderr)}\n")
    sys.stderr.flush()


def told(error: WayfareError) -> int:
    """Say what went wrong; the exit status: 2 for settings and arguments, 1 for the rest."""
    for number, line in enumerate(str(error).splitlines()):
        say(line if number else f"wayfare: {line}")
    return 2 if isinstance(error, ConfigError) else 1


def put(text: str) -> None:
    """Lines of output, on stdout, without what steers a terminal; the text ends with a line end of
    its own or none."""
    sys.stdout.write(_encodable(unsteering(text), sys.stdout))


def unsteering(text: str) -> str:
    """Text of several lines, harmless for a terminal; what steers one becomes U+FFFD."""
    return _tamed(text.replace("\r\n", "\n"))


def put_exact(text: str) -> None:
    """A text that may be needed as it is: so it goes into a pipe, and harmless to a terminal."""
    if sys.stdout.isatty():
        return put(text)
    write(text, sys.stdout)


def put_json(value: Any) -> None:
    """One line of JSON on stdout that a terminal may be shown, too."""
    write(json_line(value), sys.stdout)


def json_line(value: Any) -> str:
    """JSON and a line end; what steers a terminal is written as escapes, so nothing is lost."""
    from wayfare import json_text

    text = json_text.dumps(value).decode("utf-8", "replace")
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def write(text: str, stream: TextIO) -> None:
    """Text as it is, at once; what the stream cannot hold is replaced."""
    stream.write(_encodable(text, stream))
    stream.flush()


def unread() -> int:
    """Nobody reads standard output any more, nor standard error where that is the same pipe: what
    is still held must not be tried again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        sys.stderr.flush()
    except BrokenPipeError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    return 1


def note(text: str, stream: TextIO) -> None:
    """A remark under the output: on a terminal in lines that fit it, else in one."""
    width = columns(stream)
    lines = textwrap.wrap(plain(text), width) if width else [plain(text)]
    stream.write("".join(f"{_encodable(line, stream)}\n" for line in lines))


def _encodable(text: str, stream: TextIO) -> str:
    """`text` with what the stream cannot hold replaced."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding, "replace")


def is_live(stream: TextIO) -> bool:
    """Whether a stream is a terminal on which lines can be drawn anew."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def columns(stream: TextIO) -> int | None:
    """How wide the terminal behind a stream is; None when it is a file or a pipe."""
    if not stream.isatty():
        return None
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        found = 0
    return found or int(os.environ.get("COLUMNS", "80") or 80)


def short(number: float) -> str:
    """A count in three digits or so: 812, 9.87M, 141k."""
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= scale * 0.9995:
            shown = number / scale
            digits = 2 if shown < 9.995 else 1 if shown < 99.95 else 0
            return f"{shown:.{digits}f}{unit}"
    return f"{number:.0f}"


def percent(share: float) -> str:
    """A share of 0 to 1 in whole percent; only all is 100 % and only nothing 0 %."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    shown = min(max(share * 100, 0.1), 99.9)
    return f"{shown:.1f}%" if shown < 1 or shown > 99 else f"{shown:.0f}%"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
