"""wayfare's own transcripts: `.transcripts/<session>/transcript.jsonl`.

Message entries carry the wire message as it came in; results too big for the log stand as
`{"$blob": {"path", "bytes", "sha256"}}` in its place and are read back from the archive, checked
against length and hash. What wayfare itself put into the context (notes, memory, summaries) is left
out: a replay makes its own. Summaries and digests that were committed are noted as compactions.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayfare.replay.readers.fields import (
    content_text,
    mapping,
    mappings,
    most_common,
    sequence,
    text,
    unix_time,
)
from wayfare.replay.readers.source import BadJson, Source, as_text, decode_json
from wayfare.replay.recording import Compaction, Recording, Wire
from wayfare.settings.plain_file import read_plain

KIND = "wayfare"

_RECORDED_ORIGINS = frozenset({"user", "assistant", "tool", "system"})
_HASH_CHARS = 16
"""Of a sha256, as many as a log holds at least."""
_CONTENT_KEYS = ("content", "output")
"""Where the wire formats keep the content of a result."""


def accepts(row: Wire) -> bool:
    """A versioned entry; a message is the kind that needs no name."""
    named = isinstance(row.get("kind"), str) or "wire" in row
    return isinstance(row.get("v"), int) and "id" in row and named


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The one session of the file."""
    log = _Log(source)
    for number, value in rows:
        row = mapping(value)
        if not accepts(row):
            source.problems.add(number, "no entry of a transcript")
        elif row.get("kind", "message") == "message":
            log.add_message(number, row)
        elif row["kind"] == "edit":
            log.add_edit(row)
        elif row["kind"] == "mark" and row.get("name") == "session":
            log.head = mapping(row.get("detail"))
        elif row["kind"] == "usage":
            log.models.append(text(row.get("model")) or None)
    return [log.recording()]


@dataclass(slots=True)
class _Log:
    source: Source
    head: Wire = field(default_factory=dict[str, Any])
    messages: list[Wire] = field(default_factory=list[Wire])
    times: list[float | None] = field(default_factory=list["float | None"])
    compactions: dict[str, Compaction] = field(default_factory=dict[str, Compaction])
    models: list[str | None] = field(default_factory=list["str | None"])
    _format: str = ""

    def add_message(self, number: int, row: Wire) -> None:
        # An entry without an origin has the one its message tells: never memory, notes or summary.
        if row.get("origin") is not None and text(row["origin"]) not in _RECORDED_ORIGINS:
            return
        wire = text(row.get("format")) or text(self.head.get("format")) or "anthropic"
        self._format = self._format or wire
        message = mapping(row.get("wire"))
        if wire != self._format or not message:
            said = f"a message in {wire}, the first is in {self._format}"
            self.source.problems.add(number, said if message else "a message entry without one")
            return
        self.messages.append(self._whole(number, message) if row.get("blobs") else message)
        self.times.append(unix_time(row.get("time")))

    def add_edit(self, row: Wire) -> None:
        for undone in sequence(row.get("undoes")):
            self.compactions.pop(str(undone), None)
        for op in sequence(row.get("ops")):
            # An operation is a list: its name, the run's first and last entry, the message, …
            parts = sequence(op)
            if parts and parts[0] == "collapse":
                before = row.get("before")
                self.compactions[str(row.get("id"))] = Compaction(
                    index=len(self.messages),
                    summary=content_text(
                        mapping(parts[3] if len(parts) > 3 else None).get("blocks")
                    ),
                    trigger=text(row.get("by")) or None,
                    tokens_before=before if isinstance(before, int) else None,
                )

    def recording(self) -> Recording:
        path = self.source.path
        system = self.head.get("system")
        return Recording(
            path=str(path),
            name=path.name,
            kind=KIND,
            format=self._format or "anthropic",
            messages=tuple(self.messages),
            times=tuple(self.times),
            system=(text(system) or sequence(system)) or None,
            tools=tuple(mappings(self.head.get("tools"))),
            model=text(self.head.get("model")) or most_common(self.models),
            compactions=tuple(self.compactions.values()),
            problems=self.source.problems.taken(),
        )

    def _whole(self, number: int, message: Wire) -> Wire:
        """The message with its archived results read back."""
        blocks = message.get("content")
        if isinstance(blocks, list):
            whole = [self._result(number, one) for one in sequence(blocks)]
            return {**message, "content": whole}
        return mapping(self._result(number, message))

    def _result(self, number: int, holder: Any) -> Any:
        given = mapping(holder)
        key = next((one for one in _CONTENT_KEYS if one in given), "")
        reference = mapping(mapping(given.get(key)).get("$blob"))
        return {**given, key: self._archived(number, reference)} if reference else holder

    def _archived(self, number: int, reference: Wire) -> Any:
        path, digest = text(reference.get("path")), text(reference.get("sha256"))
        found = self._bytes(path, reference.get("bytes"))
        if found is None:
            self.source.problems.add(number, f"the archived result {path} is missing")
            return f"[the archived result {path} is missing]"
        # The log may hold only the beginning of the hash. Other bytes are nobody's result: a log
        # from elsewhere could name any file of this machine, but not what is in it.
        given = len(digest) >= _HASH_CHARS
        if not given or not hashlib.sha256(found).hexdigest().startswith(digest):
            self.source.problems.add(number, f"the archived result {path} was changed")
            return f"[the archived result {path} was changed]"
        return _content(path, found)

    def _bytes(self, path: str, size: object) -> bytes | None:
        """The bytes at a path from the workspace root, two folders above the session's; never from
        outside of it, whatever a transcript from elsewhere says."""
        root = self.source.path.absolute().parent.parent.parent
        file = Path(root, path)
        try:
            if not path or not file.resolve().is_relative_to(root.resolve()):
                return None
            if not isinstance(size, int) or size < 0:
                return None
            # One byte too many is enough to see that it is another file.
            return read_plain(file, min(size, file.stat().st_size) + 1)
        except (OSError, ValueError):
            return None  # it cannot be read, or is no path


def _content(path: str, found: bytes) -> Any:
    kind = path.rpartition(".")[2]
    if kind in ("png", "jpeg", "gif", "webp"):
        packed = base64.b64encode(found).decode()
        source = {"type": "base64", "media_type": f"image/{kind}", "data": packed}
        return [{"type": "image", "source": source}]
    if kind == "json":
        try:
            return decode_json(found)[0]
        except BadJson:
            pass
    return as_text(found)[0]
