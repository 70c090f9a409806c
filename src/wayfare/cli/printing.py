"""What may be printed where: names and texts of strangers without their control characters."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import Final, TextIO

from wayfare.errors import ConfigError, WayfareError

_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Whatever moves a cursor, reverses the writing direction, ends a line, or is no character."""


def plain(text: str) -> str:
    """`text` on one line, harmless for a terminal; what cannot be shown becomes U+FFFD.

    Line ends and tabs become blanks.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", " ").translate({9: " ", 10: " ", 13: " "}))


def harmless(text: str) -> str:
    """Lines of a stranger's text: on a terminal without what would steer it, else as they are."""
    if not sys.stdout.isatty():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(plain(cell) for cell in line.split("\t")) for line in lines)


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
    """Lines of output, on stdout; the text ends with a line end of its own or none."""
    sys.stdout.write(_encodable(text, sys.stdout))


def write(text: str, stream: TextIO) -> None:
    """Text as it is, at once; what the stream cannot hold is replaced."""
    stream.write(_encodable(text, stream))
    stream.flush()


def unread() -> int:
    """Nobody reads standard output any more: what is still held must not be tried again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
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
