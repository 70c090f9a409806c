"""Patterns for file names: `*.py`, `src/**/test_*.{ts,tsx}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRACES = re.compile(r"\{([^{}]*)\}")
_WILDCARD = re.compile(r"[*?\[{]")
_MOST_PATTERNS = 200
"""What braces may expand to."""


def compiled(pattern: str) -> re.Pattern[str] | None:
    """An expression that finds a path below the walked folder when the pattern covers it.

    A pattern without a slash covers that name in every folder; one that names a folder covers all
    below it. `**` crosses folders, `{a,b}` is either. None when it is no pattern.
    """
    from pathspec import GitIgnoreSpec  # takes longer to import than all of wayfare

    from wayfare.agent.builtin.walk import combined

    patterns = [_escaped(one) for one in _expanded(pattern.strip())]
    try:
        return combined(GitIgnoreSpec.from_lines(patterns))
    except ValueError:
        return None


def split(pattern: str) -> tuple[str, str]:
    """The folder an absolute pattern begins with, and the rest; no folder for any other."""
    if not pattern.startswith(("/", "~/")):
        return "", pattern
    found = _WILDCARD.search(pattern)
    fixed = pattern if found is None else pattern[: found.start()]
    folder, _, _ = fixed.rpartition("/")
    return folder or "/", pattern[len(folder) + 1 :]


def _expanded(pattern: str) -> Iterator[str]:
    waiting = [pattern]
    given = 0
    while waiting and given < _MOST_PATTERNS:
        one = waiting.pop()
        found = _BRACES.search(one)
        if found is None:
            given += 1
            yield one
            continue
        waiting += [
            one[: found.start()] + part + one[found.end() :] for part in found[1].split(",")
        ]


def _escaped(pattern: str) -> str:
    """Without what would negate or comment a line of an ignore file."""
    return "\\" + pattern if pattern.startswith(("!", "#")) else pattern
