"""What somebody else's agent recorded, as wire messages that can be fed through the runtime again.

`read_recordings` finds out by content which tool wrote a file and hands it to that tool's reader
(`wayfare.replay.readers`). A reader keeps strings exactly as they were recorded; where a tool's own
log has another shape than a provider's wire format, it builds the wire messages and says so in its
docstring. Nothing here repairs a history: a call without a result stays one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wayfare.errors import RecordingError

Wire = dict[str, Any]
"""One message (or, for openai-responses, one item) in its provider's wire format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the file that could not be read, or was left out, while the rest was read."""

    line: int
    """Line of the file, from 1; 0 where the whole file is meant."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A place where the recording tool itself shortened its context; not part of `messages`."""

    index: int
    """Index into `Recording.messages` of the first message after it (may equal their number)."""
    summary: str
    """What took the place of the history; empty where the tool did not record it."""
    trigger: str | None = None
    """`auto` or `manual`, where recorded; in wayfare's own transcripts the name of the pass."""
    tokens_before: int | None = None
    """Size of the context before it in tokens, as the tool measured it."""
    replacement: tuple[Wire, ...] = ()
    """The wire messages that replaced the history, where the tool recorded them whole (Codex)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recorded session."""

    path: str
    name: str
    """File name, with `#n` (from 1) where the file holds several sessions."""
    kind: str
    """The reader that read it: `claude-code`, `codex`, `swe-agent`, `openai-chat`, …"""
    format: str
    """Wire format of `messages`: `anthropic`, `openai-chat` or `openai-responses`."""
    messages: tuple[Wire, ...]
    times: tuple[float | None, ...]
    """Unix time at which each message was complete, in seconds; None where not recorded."""
    system: str | list[Any] | None = None
    """System prompt where the format keeps it apart from the messages and it was recorded. In
    openai-chat it stays what it is on the wire: a message."""
    tools: tuple[Wire, ...] = ()
    """Tool definitions in the wire format, where recorded."""
    model: str | None = None
    compactions: tuple[Compaction, ...] = ()
    side_chains: tuple[Recording, ...] = ()
    """Sessions of sub-agents; their calls and results are not in `messages`."""
    problems: tuple[Problem, ...] = ()


def read_recordings(path: str | Path) -> list[Recording]:
    """Every session recorded in a file, in file order; at least one.

    The format is found by content, never by name. A line that cannot be read becomes a `Problem`
    of the recording and the rest is read. JSONL is streamed: only the messages are held.

    Raises:
        RecordingError: nothing in the file is readable as a session; `.path`, `.line`, `.reason`
            say where and why (line 0: the file could not be opened), the text names the formats
            that are known.
    """
    # The readers build the values declared above, so they can only be imported once those exist.
    from wayfare.replay.readers.sniff import KNOWN_FORMATS, read_sessions
    from wayfare.replay.readers.source import Unreadable

    try:
        found = read_sessions(Path(path))
    except Unreadable as error:
        text = f"{path}: {error.reason}"
        if error.line:
            text = f"{path}, line {error.line}: {error.reason}. Known formats: {KNOWN_FORMATS}."
        raise RecordingError(
            text, path=str(path), line=error.line, reason=error.reason
        ) from error.__cause__
    if len(found) == 1:
        return found
    return [replace(one, name=f"{one.name}#{n}") for n, one in enumerate(found, start=1)]
