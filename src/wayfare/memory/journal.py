"""The journal: every change of memory, with the texts before and after, appended before it is
applied. What the store knows beside the files is a fold of it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

import msgspec

from wayfare.errors import NotFound
from wayfare.json_text import UNREADABLE
from wayfare.memory.record import INDEX_FILE
from wayfare.store import Log
from wayfare.store.ref import digest

JOURNAL_VERSION = 1

TEXT_BYTES = 1_048_576
"""A longer text is journalled by its hash alone: a file of megabytes is no record anybody wrote."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a change comes from: a session, entries of its transcript, who said it there."""

    session: str = ""
    entries: tuple[int, ...] = ()
    origin: str = ""


class Stone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a tombstone keeps: hashes and names, no text. `name` and `subject` are folded keys."""

    name: str
    subject: str = ""
    description_print: str = ""
    body_print: str = ""


class JournalLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. `op` says what it is:

    `begin`, `put`, `delete`, `commit`, `applied`, `rollback`: a transaction, by its `tx`; `begin`
    lists all its `files` with the hashes they shall have (empty: gone) and the `scope` written to.
    `external`: a file changed beside us (`after_hash` None: it is gone).
    `found`: a file that was there when the journal began.
    `verdict`: what the gate said; `outcome`, `reason`, `name`.
    `forget`: a tombstone; `lift`: it holds no longer.
    `redact`: texts of a file were taken out of earlier lines.

    `before` and `after` are texts (in base64 where `binary`), None where there is none or where it
    was taken out or too long; the hashes are always there.
    """

    v: int = 0
    op: str
    at: float
    tx: str = ""
    actor: str = ""
    file: str = ""
    before: str | None = None
    after: str | None = None
    before_hash: str | None = None
    after_hash: str | None = None
    binary: bool = False
    redacted: bool = False
    reason: str = ""
    detail: str = ""
    source: Source | None = None
    outcome: str = ""
    name: str = ""
    description: str = ""
    stone: Stone | None = None
    index_hash: str | None = None
    files: dict[str, str] = {}
    scope: str = ""


class Numbered(msgspec.Struct, frozen=True, kw_only=True):
    """A journal line with its number, by which people name a change."""

    number: int
    line: JournalLine


class Pending(msgspec.Struct, kw_only=True):
    """A transaction that is not known to be applied."""

    tx: str
    files: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    changes: list[JournalLine] = msgspec.field(default_factory=list[JournalLine])
    committed: bool = False
    index_hash: str | None = None


class JournalState(msgspec.Struct, kw_only=True):
    """What the journal says, up to line `lines`. `last` is the digest of that line.

    `known` is the hash each file should have; `changed`, `edited` and `corrected` say when a file
    was last written through the gate, changed by hand, corrected (unix seconds); `authors` who
    changed it last.
    """

    lines: int = 0
    size_bytes: int = 0
    last: str = ""
    damaged: list[int] = msgspec.field(default_factory=list[int])
    known: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    changed: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    edited: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    corrected: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    authors: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    stones: dict[str, tuple[float, Stone]] = msgspec.field(
        default_factory=dict[str, tuple[float, Stone]]
    )
    index_hash: str | None = None
    pending: Pending | None = None

    def take(self, number: int, content: bytes) -> JournalLine | None:
        """Fold one line in; None when it cannot be read."""
        self.lines = number
        self.size_bytes += len(content) + 1
        self.last = digest(content)[:16]
        try:
            line = _DECODER.decode(content)
        except UNREADABLE:
            self.damaged.append(number)
            return None
        self._fold(line)
        return line

    def _fold(self, line: JournalLine) -> None:
        if line.op == "begin":
            self.pending = Pending(tx=line.tx, files=line.files)
        elif line.op in ("put", "delete") and self.pending is not None:
            self.pending.changes.append(line)
        elif line.op == "commit" and self.pending is not None:
            self.pending.committed = True
            self.pending.index_hash = line.index_hash
        elif line.op == "applied":
            self._apply(line)
        elif line.op == "rollback":
            self.pending = None
        elif line.op in ("external", "found"):
            self._external(line)
        elif line.op == "forget" and line.stone is not None:
            self.stones[line.file] = (line.at, line.stone)
        elif line.op == "lift":
            self.stones.pop(line.file, None)

    def _apply(self, line: JournalLine) -> None:
        pending, self.pending = self.pending, None
        if line.index_hash is not None:
            self.index_hash = line.index_hash
        for change in pending.changes if pending is not None else ():
            file = change.file
            if change.after_hash is None:
                self._drop(file)
                continue
            self.known[file] = change.after_hash
            self.changed[file] = change.at
            self.authors[file] = change.actor
            if change.reason == "correction":
                self.corrected[file] = change.at

    def _external(self, line: JournalLine) -> None:
        if line.file == INDEX_FILE:
            self.index_hash = line.after_hash
            return
        if line.after_hash is None:
            self._drop(line.file)
            return
        self.known[line.file] = line.after_hash
        self.authors[line.file] = "external"
        if line.op == "external":
            self.edited[line.file] = line.at

    def _drop(self, file: str) -> None:
        self.known.pop(file, None)
        self.authors.pop(file, None)
        for times in (self.changed, self.edited, self.corrected):
            times.pop(file, None)


class Journal:
    """Reads and appends journal lines, and keeps their fold.

    Args:
        log: Where the lines stand; opened by whoever has the right to write.
        state: A fold of some of its first lines, to go on from.
    """

    def __init__(self, log: Log, state: JournalState | None = None) -> None:
        self.log = log
        self.state = state or JournalState()

    async def catch_up(self) -> list[Numbered] | None:
        """Fold in what others appended; their lines, or None when everything was read anew.

        A journal that was cut, replaced or taken away is folded from its beginning.
        """
        try:
            size = await self.log.size()
        except NotFound:
            size = 0
        known = self.state.lines
        if known and size == self.state.size_bytes:
            return []
        new: list[Numbered] = []
        first = True
        async for line in self.log.read(max(known, 1)):
            if first and known and digest(line.content)[:16] != self.state.last:
                return await self.reread()
            if not (first and known):
                folded = self.state.take(line.number, line.content)
                if folded is not None:
                    new.append(Numbered(number=line.number, line=folded))
            first = False
        if first and known:
            return await self.reread()
        return new

    async def reread(self) -> None:
        """Fold everything from the first line."""
        self.state = JournalState()
        async for line in self.log.read():
            self.state.take(line.number, line.content)

    async def append(self, lines: Sequence[JournalLine]) -> list[Numbered]:
        """Append lines durably, all or after a crash a prefix of them, and fold them in.

        Raises:
            WriteFailed: none of them counts as written.
        """
        contents = [encode(line) for line in lines]
        await self.log.append(contents)
        numbered: list[Numbered] = []
        for line, content in zip(lines, contents, strict=True):
            self.state.take(self.state.lines + 1, content)
            numbered.append(Numbered(number=self.state.lines, line=line))
        return numbered

    async def read(self, first: int = 1, last: int | None = None) -> list[Numbered]:
        """The lines that can be read, in order."""
        found: list[Numbered] = []
        async for line in self.log.read(first, last):
            try:
                decoded = _DECODER.decode(line.content)
            except UNREADABLE:
                continue
            found.append(Numbered(number=line.number, line=decoded))
        return found


def encode(line: JournalLine) -> bytes:
    """A line as it is stored."""
    return msgspec.json.encode(msgspec.structs.replace(line, v=JOURNAL_VERSION))


def change_line(
    op: str,
    file: str,
    before: bytes | None,
    after: bytes | None,
    *,
    at: float,
    tx: str = "",
    actor: str = "",
    reason: str = "",
    source: Source | None = None,
) -> JournalLine:
    """The line for a change of one file, with both texts and hashes."""
    before_text, before_binary = _text(before)
    after_text, after_binary = _text(after)
    if before_binary != after_binary:
        before_text = before_text if before_binary else _base64(before)
        after_text = after_text if after_binary else _base64(after)
    return JournalLine(
        op=op,
        at=at,
        tx=tx,
        actor=actor,
        file=file,
        before=before_text,
        after=after_text,
        before_hash=None if before is None else digest(before),
        after_hash=None if after is None else digest(after),
        binary=before_binary or after_binary,
        reason=reason,
        source=source,
    )


def content_of(line: JournalLine, *, before: bool) -> bytes | None:
    """The bytes a line holds for one side of its change; None when it holds none."""
    text = line.before if before else line.after
    if text is None:
        return None
    return base64.b64decode(text) if line.binary else text.encode()


def without_texts(line: JournalLine) -> JournalLine:
    """The line with its hashes and without what it quotes."""
    return msgspec.structs.replace(
        line, before=None, after=None, redacted=True, name="", description="", detail=""
    )


def changes_of(lines: Iterable[Numbered]) -> list[Numbered]:
    """Those lines that change a file."""
    return [n for n in lines if n.line.op in ("put", "delete", "external", "found")]


def _text(content: bytes | None) -> tuple[str | None, bool]:
    if content is None or len(content) > TEXT_BYTES:
        return None, False
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        return _base64(content), True


def _base64(content: bytes | None) -> str | None:
    if content is None or len(content) > TEXT_BYTES:
        return None
    return base64.b64encode(content).decode()


_DECODER = msgspec.json.Decoder(JournalLine)
