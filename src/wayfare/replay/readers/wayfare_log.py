"""wayfare's own transcripts: `.transcripts/<session>/transcript.jsonl`.

Message entries carry the wire message as it came in; results too big for the log stand as
`{"$blob": {"path", "bytes", "sha256"}}` in its place and are read back from the archive, checked
against length and hash. Messages that wayfare itself put into the context (its notes, memory,
summaries) are left out: a replay makes its own. Edits, usage and marks are skipped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayfare.replay.readers.fields import mapping, sequence, text, unix_time
from wayfare.replay.readers.source import BadJson, Source, decode_json
from wayfare.replay.recording import Recording, Wire

KIND = "wayfare"

_RECORDED_ORIGINS = frozenset({"user", "assistant", "tool", "system"})


def accepts(row: Wire) -> bool:
    """A versioned entry."""
    return isinstance(row.get("v"), int) and "id" in row and isinstance(row.get("kind"), str)


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The one session of the file."""
    log = _Log(source)
    for number, value in rows:
        row = mapping(value)
        if not row:
            source.problems.add(number, "not an object")
        elif row.get("kind") == "message":
            log.add(number, row)
    return [log.recording()]


@dataclass(slots=True)
class _Log:
    source: Source
    wire: str = ""
    messages: list[Wire] = field(default_factory=list[Wire])
    times: list[float | None] = field(default_factory=list["float | None"])

    def add(self, number: int, row: Wire) -> None:
        if row.get("origin", "user") not in _RECORDED_ORIGINS:
            return
        wire = text(row.get("format"))
        self.wire = self.wire or wire
        if wire != self.wire:
            self.source.problems.add(number, f"a message in {wire}, the first is in {self.wire}")
            return
        given = row.get("wire")
        items = sequence(given) if isinstance(given, list) else [given]
        for item in items:
            message = mapping(self._whole(number, item))
            if not message:
                self.source.problems.add(number, "a message entry without its message")
                continue
            self.messages.append(message)
            self.times.append(unix_time(row.get("at") or row.get("time")))

    def recording(self) -> Recording:
        path = self.source.path
        return Recording(
            path=str(path),
            name=path.name,
            kind=KIND,
            format=self.wire or "anthropic",
            messages=tuple(self.messages),
            times=tuple(self.times),
            problems=self.source.problems.taken(),
        )

    def _whole(self, number: int, value: Any) -> Any:
        """The value with its blobs read back."""
        if isinstance(value, list):
            return [self._whole(number, one) for one in sequence(value)]  # fmt: skip
        if not isinstance(value, dict):
            return value
        given = mapping(value)
        if len(given) == 1 and "$blob" in given:
            return self._blob(number, mapping(given["$blob"]))
        return {key: self._whole(number, one) for key, one in given.items()}

    def _blob(self, number: int, reference: Wire) -> Any:
        path = text(reference.get("path"))
        found = self._archived(path)
        if found is None:
            self.source.problems.add(number, f"archived text {path} is not there")
            return f"[archived text missing: {path}, {reference.get('bytes')} bytes]"
        digest = text(reference.get("sha256"))
        if reference.get("bytes") not in (None, len(found)) or (
            digest and digest != hashlib.sha256(found).hexdigest()
        ):
            self.source.problems.add(number, f"archived text {path} is not what was archived")
        if path.endswith(".json"):
            try:
                return decode_json(found)[0]
            except BadJson:
                pass
        return found.decode("utf-8", "surrogatepass")

    def _archived(self, path: str) -> bytes | None:
        """The bytes at a path from the workspace root, two folders above the session's; never from
        outside of it, whatever a transcript from elsewhere says."""
        root = self.source.path.absolute().parent.parent.parent
        file = Path(root, path)
        if not path or not file.resolve().is_relative_to(root.resolve()) or not file.is_file():
            return None
        return file.read_bytes()
