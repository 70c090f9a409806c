"""What the terminal can do: colours, drawing, how wide and high it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import TextIO

_LEAST_COLUMNS = 10


def is_dumb(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal understands no control sequences."""
    environ = os.environ if environ is None else environ
    return environ.get("TERM", "") in ("", "dumb", "unknown")


def shows_color(
    stream: TextIO, *, wanted: str = "auto", environ: Mapping[str, str] | None = None
) -> bool:
    """Whether colours may be written to a stream.

    Args:
        stream: Where to.
        wanted: `auto`, `always` or `never`, as the settings say.
        environ: NO_COLOR (any text) switches `auto` off, as TERM=dumb does.
    """
    environ = os.environ if environ is None else environ
    if wanted != "auto":
        return wanted == "always"
    return stream.isatty() and not environ.get("NO_COLOR") and not is_dumb(environ)


def size() -> tuple[int, int]:
    """Columns and rows of the terminal now; COLUMNS and LINES, or 80 and 24, where there is none.

    The terminal itself is asked first: variables do not follow when a window is resized.
    """
    found = shutil.get_terminal_size((80, 24))
    for descriptor in (1, 2, 0):
        try:
            asked = os.get_terminal_size(descriptor)
        except OSError:
            continue
        if asked.columns > 0:
            found = asked
            break
    return max(found.columns, _LEAST_COLUMNS), max(found.lines, 4)
