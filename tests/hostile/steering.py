"""Texts that steer a terminal, and how to tell whether any of it got through."""

from __future__ import annotations

import unicodedata
from typing import Final

STEERING: Final = (
    "\x1b]0;owned\x07"  # a window title
    "\x1b]52;c;bHMK\x07"  # the clipboard
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\"
    "\x1b[2J\x1b[1;1H\x1b[8m"  # clear, home, hidden
    "\x1bP+q544e\x1b\\"  # a question the terminal answers by typing
    "\x9b31m\x9d0;owned\x9c\x90q\x9c"  # the same as single C1 characters
    "\x08\x08\x0b\x0c\x00\x7f"
    "\u202egpj.exe\u202c\u2066\u2069\u061c\u200f"  # right to left
    "\u2028\u2029"
)
"""Whatever terminals do on being told; no line end among it."""
_TURNING: Final = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
                            "\u2066\u2067\u2068\u2069")  # fmt: skip


def steering(printed: str) -> list[str]:
    """The characters of a text that would steer a terminal, named; none in a harmless one."""
    return sorted(
        {
            f"U+{ord(char):04X}"
            for char in printed
            if char in _TURNING or (unicodedata.category(char) == "Cc" and char not in "\n\t")
        }
    )


def unsteered(printed: str) -> None:
    """Fails when a text would steer a terminal; says by which characters."""
    found = steering(printed)
    assert not found, (found, printed[:2_000])
