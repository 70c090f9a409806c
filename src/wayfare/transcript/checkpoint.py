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

FORM: Final = 2
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
