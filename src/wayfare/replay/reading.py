"""Reading a file that some agent wrote, whichever it was.

`read_recordings` finds out by content which tool wrote a file and hands it to that tool's reader
(`wayfare.replay.readers`). A reader keeps strings exactly as they were recorded; where a tool's own
log has another shape than a provider's wire format, it builds the wire messages and says so in its
docstring. Nothing here repairs a history: a call without a result stays one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wayfare.errors import RecordingError
from wayfare.replay.readers.sniff import KNOWN_FORMATS, read_sessions
from wayfare.replay.readers.source import Unreadable
from wayfare.replay.recording import Recording


def read_recordings(path: str | Path) -> list[Recording]:
    """Every session recorded in a file, in file order; at least one.

    The format is found by content, never by name. A line that cannot be read becomes a `Problem`
    of the recording and the rest is read. JSONL is streamed: only the messages are held.

    Raises:
        RecordingError: nothing in the file is readable as a session; `.path`, `.line`, `.reason`
            say where and why (line 0: the file could not be opened), the text names the formats
            that are known.
    """
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
