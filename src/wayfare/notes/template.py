"""The template of session notes: nine headings, a budget for each, and how an update is merged.

Whatever a reply does to the headings, the file has all nine in their order. What stands under
Errors & Corrections is never dropped by an update.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

HEADINGS: Final = (
    "Current State",
    "Task specification",
    "Files and Functions",
    "Workflow",
    "Errors & Corrections",
    "Codebase and System Documentation",
    "Learnings",
    "Key results",
    "Worklog",
)
ERRORS: Final = "Errors & Corrections"
_NEWEST_LAST: Final = frozenset(("Worklog", "Key results"))
_TITLE: Final = re.compile(r"^\s{0,3}(?:#{1,6}\s*(.+?)\s*#*|\*\*(.+?)\*\*:?)\s*$")
_COVERS: Final = re.compile(r"^<!-- covers entry (\d+) -->$", re.M)
_LINE_CHARS: Final = 400

Sections = Mapping[str, str]


def parsed(text: str) -> dict[str, str]:
    """The sections a text has, by heading; what stands under none, or an unknown one, is left to
    the section before it."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        heading = _heading(line)
        if heading is not None:
            current = heading
            found.setdefault(current, [])
        elif current and not _COVERS.match(line):
            found[current].append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in found.items()}


def _heading(line: str) -> str | None:
    match = _TITLE.match(line)
    if match is None:
        return None
    return heading_of(match[1] or match[2])


def heading_of(text: str) -> str | None:
    """The heading a text names, whatever its case and marks; None where it names none."""
    said = _letters(text)
    return next((heading for heading in HEADINGS if _letters(heading) == said), None)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower().replace("&", "and"))


def rendered(sections: Sections, covers_entry: int) -> str:
    """The file: every heading in its order, and which entries it covers."""
    parts = [f"<!-- covers entry {covers_entry} -->"]
    for heading in HEADINGS:
        parts.append(f"# {heading}\n{sections.get(heading, '').strip()}".rstrip() + "\n")
    return "\n".join(parts)


def covers(text: str) -> int:
    """The last entry a file of notes covers; 0 when it does not say."""
    found = _COVERS.search(text)
    return int(found[1]) if found else 0


def without_empty(text: str) -> str:
    """The notes as the context shows them: only headings with something under them."""
    sections = parsed(text)
    return "\n".join(
        f"# {heading}\n{sections[heading]}" for heading in HEADINGS if sections.get(heading)
    )


def merged(
    old: Sections, new: Sections, *, count: Callable[[str], int], most_tokens: int
) -> dict[str, str]:
    """The old sections with those of an update in their place, each within its budget."""
    made: dict[str, str] = {}
    share = max(most_tokens // len(HEADINGS), 40)
    for heading in HEADINGS:
        before, after = old.get(heading, ""), new.get(heading, "").strip()
        text = after or before
        if heading == ERRORS:
            text = joined((before, after))
        else:
            text = within(text, count, share, newest_last=heading in _NEWEST_LAST)
        made[heading] = text
    return made


def joined(texts: Iterable[str]) -> str:
    """The lines of several texts, each once, in order, long ones cut."""
    lines: dict[str, None] = {}
    for text in texts:
        for line in text.splitlines():
            if line.strip():
                lines[line.rstrip()[:_LINE_CHARS]] = None
    return "\n".join(lines)


def within(text: str, count: Callable[[str], int], most_tokens: int, *, newest_last: bool) -> str:
    """A section within its budget: of a running list the newest lines, else the first ones."""
    if count(text) <= most_tokens:
        return text
    lines = text.splitlines()
    if newest_last:
        lines.reverse()
    taken: list[str] = []
    for line in lines:
        line = line[:_LINE_CHARS]
        most_tokens -= count(line) + 1
        if most_tokens < 0:
            break
        taken.append(line)
    return "\n".join(reversed(taken) if newest_last else taken)
