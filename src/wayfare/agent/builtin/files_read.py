"""What the model read: which files, as they were then, and which pages of them it was shown."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from wayfare.agent.ports import Sight

FILES_KEPT = 1_000
"""Files of longer ago count as not read: the model is told to look at one again before it changes
it. So many are 300 kB."""
_PAGES_KEPT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as it was when it was read or written last: its time, size and, unless it is huge,
    the hash of its content."""

    mtime_ns: int
    size: int
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    call_id: str
    digest: str


class FilesRead:
    """The session's memory of files read; `context.kept.of(FilesRead)`.

    A file counts as read once any page of it was shown, for as long as the process lives and it
    is among the last `FILES_KEPT`.
    """

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._shown: dict[tuple[str, int, int, int], _Shown] = {}

    def note(self, place: Path, stat: os.stat_result, content: bytes | None = None) -> None:
        """Remember a file as it is now; `content` is all of it, or None for a huge file."""
        hashed = "" if content is None else digest(content)
        self._seen.pop(str(place), None)
        self._seen[str(place)] = Seen(mtime_ns=stat.st_mtime_ns, size=stat.st_size, digest=hashed)
        if len(self._seen) > FILES_KEPT:
            del self._seen[next(iter(self._seen))]

    def was_read(self, place: Path) -> bool:
        """Whether the model saw the file at all."""
        return str(place) in self._seen

    def changed(self, place: Path, stat: os.stat_result, content: bytes) -> bool:
        """Whether somebody else changed a file since the model last read or wrote it."""
        seen = self._seen[str(place)]
        if seen.digest:
            return seen.digest != digest(content)
        return (seen.mtime_ns, seen.size) != (stat.st_mtime_ns, stat.st_size)

    def show(self, place: str, page: tuple[int, int, int], text: str, call_id: str) -> None:
        """Remember that a call showed a page: its first line, count of lines, column."""
        self._shown.pop((place, *page), None)
        self._shown[place, *page] = _Shown(
            call_id=call_id, digest=digest(text.encode("utf-8", "replace"))
        )
        if len(self._shown) > _PAGES_KEPT:
            del self._shown[next(iter(self._shown))]

    def still_shown(
        self, place: str, page: tuple[int, int, int], text: str, sight: Sight
    ) -> str | None:
        """The call whose result shows this very page and stands whole in the context; or None."""
        shown = self._shown.get((place, *page))
        if shown is None or shown.digest != digest(text.encode("utf-8", "replace")):
            return None
        return shown.call_id if sight.shows(shown.call_id) else None


def digest(content: bytes) -> str:
    """A hash that tells contents apart; not for security."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
