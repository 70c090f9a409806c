"""Checkpoints: what a log folds to up to an entry, kept beside it so that opening stays quick.

Never the truth. A checkpoint names the prefix of the log it stands for by length and hash; one that
is damaged, of another form, of other bytes, or older than an undo it knows nothing of is passed
over, and the log is folded from its first entry, as it would be without any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from wayfare import json_text
from wayfare.errors import StoreError
from wayfare.events import Event, Watched
from wayfare.store import Docs
from wayfare.store.ref import digest

FORM: Final = 3
"""Of what is stored; raised with every change of it or of what edits fold to."""
EVERY_ENTRIES: Final = 1_000
"""A checkpoint follows the last one after so many entries: a second of folding on a slow machine.
A log of fewer folds fast enough without any."""
LEAST_ENTRIES: Final = 200
"""At the end of a session fewer new ones are not worth a file."""
LOG_BYTES_A_BYTE: Final = 8
"""The log, with the files of its big results, grows by so many bytes for each byte of a checkpoint before it is written: however
large the fold is and however often a session ends, all checkpoints of a log together come to an
eighth of it at most."""

_NAME: Final = "transcript"

Part: TypeAlias = Callable[[], Any]
"""Says what somebody folded the log to, as a value JSON can hold; None: nothing just now."""


class Prefix(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a log: how many lines and bytes, and their hash."""

    lines: int
    bytes: int
    sha256: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint as it is stored: the log's prefix, its last entry, what the transcript itself
    knows from it, and the parts of those who folded it."""

    form: int
    prefix: Prefix
    upto: int
    last_folding: int = 0
    unreadable: tuple[int, ...] = ()
    undone: tuple[int, ...] = ()
    head: dict[str, Any] = {}
    parts: dict[str, Any] = {}


class Running:
    """The prefix of a log as it grows."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.lines = 0
        self.bytes = 0

    def take(self, line: bytes) -> None:
        """One more line."""
        self._hash.update(line)
        self._hash.update(b"\n")
        self.lines += 1
        self.bytes += len(line) + 1

    @property
    def prefix(self) -> Prefix:
        """What was taken so far."""
        return Prefix(lines=self.lines, bytes=self.bytes, sha256=self._hash.hexdigest())


def written(kept: Kept) -> bytes:
    """A checkpoint as bytes: a hash of the rest, then the rest."""
    body = json_text.dumps(kept)
    return hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def read(content: bytes) -> Kept | None:
    """A checkpoint from its bytes; None for anything else."""
    claimed, _, body = content.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode("ascii") != claimed:
        return None
    try:
        kept = msgspec.convert(json_text.loads(body), Kept)
    except (ValueError, msgspec.ValidationError):
        return None
    return kept if kept.form == FORM else None


class Checkpoints:
    """The checkpoint of one log: what it held, and when the next is worth its bytes.

    Args:
        docs: Where it is kept; None: nowhere.
        watch: Told when one cannot be written; no other is tried then.
    """

    def __init__(self, docs: Docs | None, watch: Watched) -> None:
        self._docs = docs
        self._watch = watch
        self._version: str | None = None
        self._upto = 0
        self._running = Running()
        self._grown_bytes = 0
        self._last_bytes = 0
        self._parts: dict[str, Part] = {}
        self._held: dict[str, Any] = {}

    async def read(self) -> Kept | None:
        """The checkpoint that is there, if it is whole and of this form."""
        if self._docs is None:
            return None
        try:
            content = await self._docs.read(_NAME)
        except StoreError:
            return None
        self._version = None if content is None else digest(content)
        return None if content is None else read(content)

    def take_over(self, kept: Kept) -> None:
        """The log begins as `kept` says: hand out what it holds."""
        self._upto = kept.upto
        self._held = dict(kept.parts)

    def begin(self, running: Running, kept: Kept | None) -> None:
        """The log was read to its end; `kept` stands for its beginning."""
        self._running = running
        self._grown_bytes = running.bytes - (0 if kept is None else kept.prefix.bytes)

    def take(self, line: bytes) -> None:
        """The log has one more line."""
        self._running.take(line)
        self.grew(len(line) + 1)

    def grew(self, bytes: int) -> None:
        """So much was stored, in the log or beside it."""
        self._grown_bytes += bytes

    @property
    def prefix(self) -> Prefix:
        """The log as it is now."""
        return self._running.prefix

    @property
    def least_entries(self) -> int:
        """So many new entries are worth a checkpoint when the session ends."""
        return LEAST_ENTRIES if self._upto else EVERY_ENTRIES

    def part(self, name: str) -> tuple[int, Any] | None:
        """What was held for `name`, once: the last entry in it, and the value."""
        value = self._held.pop(name, None)
        return None if value is None else (self._upto, value)

    def remember(self, name: str, part: Part) -> None:
        """Hold what `part` says under `name` from now on."""
        self._parts[name] = part

    def is_due(self, last: int, after_entries: int, log_bytes_a_byte: int) -> bool:
        """Whether one is worth making, as far as can be told without making it."""
        return (
            self._docs is not None
            and bool(self._parts)
            and last - self._upto >= after_entries
            and self._grown_bytes >= self._last_bytes * log_bytes_a_byte
        )

    async def write(self, known: Kept, log_bytes_a_byte: int) -> None:
        """Write `known` with all parts, unless one of them has nothing to say just now, or it
        turns out larger than the log's growth is worth."""
        parts = {name: part() for name, part in self._parts.items()}
        if self._docs is None or None in parts.values():
            return
        content = written(msgspec.structs.replace(known, parts=parts))
        self._last_bytes = len(content)
        if self._grown_bytes < self._last_bytes * log_bytes_a_byte:
            return
        self._upto, self._grown_bytes = known.upto, 0
        try:
            self._version = await self._docs.write(_NAME, content, expected=self._version)
        except StoreError as error:
            self._docs = None
            text = f"no checkpoint of the session was kept: {error}"
            self._watch(Event(name="transcript.checkpoint_failed", text=text))
