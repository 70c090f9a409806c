"""The pages slash commands show: context, permissions, sessions, notes, memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from wayfare.cli.screen.spans import Line, fitted, one_line, wrapped
from wayfare.settings.plain_file import read_plain

if TYPE_CHECKING:
    from wayfare.cli.screen.conversation import Conversation
    from wayfare.session.session import Session

_FILE_LINES: Final = 60
_MOST_BYTES: Final = 1 << 18
"""Of a file of which some lines are shown."""


async def context_lines(session: Session, columns: int) -> list[Line]:
    """What fills the window."""
    from wayfare.cli.context_command import look
    from wayfare.cli.context_page import page

    found = await look(session.places, session.name)
    return [fitted((("", line),), columns) for line in page(found, [], columns)]


def permission_lines(talk: Conversation) -> list[Line]:
    """The mode and every rule."""
    from wayfare.cli.session_setup import rules_of

    columns = talk.front.columns
    session = talk.session
    rules = session.consent.policy.rules if session is not None else rules_of(talk.read.loaded)
    lines = wrapped(f"mode {talk.status.mode}; another: /permissions MODE", columns)
    if not rules:
        return [*lines, *wrapped("no rules of your own", columns, style="dim")]
    return [*lines, *(fitted((("dim", f"  {one_line(str(rule))}"),), columns) for rule in rules)]


def session_lines(talk: Conversation, present: str) -> list[Line]:
    """The other sessions of the workspace, the newest first."""
    from wayfare.cli.session_list import lines, listed
    from wayfare.cli.session_setup import places_of
    from wayfare.session import session_names

    places = places_of(talk.read)
    names = [name for name in reversed(session_names(places)) if name != present][:10]
    if not names:
        return wrapped("no other sessions here", talk.front.columns, style="dim")
    rows = lines([listed(places, name) for name in names], talk.front.columns)
    return [*((("", row),) for row in rows), (("dim", "go on with one: /resume SESSION"),)]


def memory_lines(talk: Conversation) -> list[Line]:
    """The index of what is remembered in this workspace."""
    columns = talk.front.columns
    path = talk.read.workspace / talk.read.settings.folders.memory / "MEMORY.md"
    text = "\n".join(row for row in _text(path).splitlines() if not row.startswith("<!--"))
    if not text.strip():
        return wrapped("nothing is remembered in this workspace yet", columns, style="dim")
    return [*_shown(text, columns), *wrapped("more: wayfare memory --help", columns, style="dim")]


async def notes_lines(session: Session, columns: int) -> list[Line]:
    """The session's notes; where there are none yet, what the log alone says."""
    from wayfare.cli.notes_command import notes_text

    text, told = await notes_text(session.places, session.name)
    return [*_shown(text, columns), *wrapped(told, columns, style="dim")]


def _shown(text: str, columns: int) -> list[Line]:
    lines = wrapped(text.strip("\n"), columns)
    if len(lines) <= _FILE_LINES:
        return lines
    more = wrapped(f"… {len(lines) - _FILE_LINES} more lines", columns, style="dim")
    return [*lines[:_FILE_LINES], *more]


def _text(path: Path) -> str:
    try:
        return read_plain(path, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
