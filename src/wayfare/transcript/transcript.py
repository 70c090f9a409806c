"""`Transcript`: the append-only log of one session, with the files that hold its big results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from wayfare.clock import Clock
from wayfare.errors import NotFound, WriteFailed
from wayfare.events import Event, Watched
from wayfare.formats import codec
from wayfare.messages import Message, ToolResult
from wayfare.model import Usage
from wayfare.store import Blobs, Docs, Log, Opened, Ref
from wayfare.transcript import checkpoint, stored
from wayfare.transcript import entries as en
from wayfare.transcript.checkpoint import Checkpoints, Kept, Part, Running
from wayfare.transcript.entries import Edit, EditEntry, Entry, MarkEntry, MessageEntry, UsageEntry

HEAD: Final = "session"
CONTEXT: Final = "context"
"""The part of a checkpoint that hangs on edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A message that stands in the log: its entry's number, the message as it can be read, and
    for each result (by block) that has a file of its own the address of that file."""

    id: int
    time: float
    message: Message
    refs: Mapping[int, Ref] = field(default_factory=dict[int, Ref])
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What opening found: entries read, and what had to be set aside."""

    entries: int
    torn_bytes: int = 0
    torn_path: str = ""
    unreadable_lines: tuple[int, ...] = ()


class Transcript:
    """The log of one session. One writer; every append is durable before it returns.

    Args:
        log: Where the lines stand.
        blobs: Where big results stand.
        contents: The table of contents of what was archived.
        path: The log's printed address, from the workspace root.
        contents_path: The table's printed address.
        format: Wire format of the session's messages.
        blob_chars: Results longer than this get a file of their own. Default 2,000.
        unsaved: Why the session cannot be saved, if it lives in memory alone.
        checkpoints: Where checkpoints of the fold are kept; None: nowhere.

    Attributes:
        followers: Told each entry that is appended.
    """

    def __init__(
        self,
        *,
        log: Log,
        blobs: Blobs,
        contents: Log,
        path: str,
        contents_path: str,
        clock: Clock,
        format: str = "anthropic",
        blob_chars: int = 2_000,
        unsaved: str = "",
        checkpoints: Docs | None = None,
        watch: Watched,
    ) -> None:
        self._checkpoints = Checkpoints(checkpoints, watch)
        self._unreadable: tuple[int, ...] = ()
        self._writes = False
        self.followers: list[Callable[[Entry], None]] = []
        self.last_folding = 0
        """The newest entry that says what the context is: a message or an edit."""
        self._log = log
        self._blobs = blobs
        self._contents = contents
        self._clock = clock
        self._watch = watch
        self._blob_chars = blob_chars
        self._next = 1
        self._undone: frozenset[int] = frozenset()
        self.path = path
        self.contents_path = contents_path
        self.format = format
        self.unsaved = unsaved
        self.head: Mapping[str, Any] = {}

    async def open(self) -> Resumed:
        """Ready the log: set a torn tail aside, count entries, note which edits were undone.

        Raises:
            LeaseHeld: another process writes this session; names it.
            WriteFailed: the storage is not writable.
        """
        opened = await self._log.open()
        await self._contents.open()
        self._writes = True
        count, unreadable = await self._scan()
        self._report(opened, unreadable)
        return Resumed(
            entries=count,
            torn_bytes=opened.torn_bytes,
            torn_path=opened.torn_path,
            unreadable_lines=tuple(unreadable),
        )

    async def look(self) -> Resumed:
        """Ready the log for reading only: takes no lock, changes nothing."""
        count, unreadable = await self._scan()
        return Resumed(entries=count, unreadable_lines=tuple(unreadable))

    async def _scan(self) -> tuple[int, list[int]]:
        """Take in the log: by its checkpoint as far as that goes, the rest entry by entry."""
        kept = await self._checkpoints.read()
        found = None if kept is None else await self._scan_from(kept)
        return found or await self._scan_from(None) or (0, [])

    async def _scan_from(self, kept: Kept | None) -> tuple[int, list[int]] | None:
        """Entries and unreadable lines; None when the log does not begin as `kept` says."""
        running = Running()
        covered = 0 if kept is None else kept.prefix.lines
        unreadable: list[int] = []
        count = 0
        async for line in self._log.read():
            running.take(line.content)
            if line.number < covered:
                continue
            if kept is not None and line.number == covered:
                if running.prefix != kept.prefix:
                    return None
                self._take_over(kept)
                unreadable += kept.unreadable
                count = covered - len(unreadable)
                continue
            try:
                entry = en.decode(line.content)
            except ValueError:
                unreadable.append(line.number)
                self._next = max(self._next, line.number + 1)
                continue
            count += 1
            self._next = max(self._next, entry.id + 1)
            self._note(entry)
        if running.lines < covered:
            return None
        self._checkpoints.begin(running, kept)
        self._unreadable = tuple(unreadable)
        return count, unreadable

    def _take_over(self, kept: Kept) -> None:
        self._checkpoints.take_over(kept)
        self._next = kept.upto + 1
        self._undone = frozenset(kept.undone)
        self.last_folding = kept.last_folding
        self.head = kept.head
        self.format = str(kept.head.get("format", self.format))

    def part(self, name: str) -> tuple[int, Any] | None:
        """What a checkpoint held for `name` when the log was opened, once: the last entry that is
        in it, and the value. None: fold from the first entry."""
        return self._checkpoints.part(name)

    def remember(self, name: str, part: Part) -> None:
        """Let checkpoints hold what `part` says under `name`."""
        self._checkpoints.remember(name, part)

    async def keep(
        self,
        *,
        after_entries: int = checkpoint.EVERY_ENTRIES,
        log_bytes_a_byte: int = checkpoint.LOG_BYTES_A_BYTE,
    ) -> None:
        """Write a checkpoint when so many entries came since the last and the log grew by so many
        times what it takes, files of its big results included; one that cannot be written is told
        of and missed by nobody."""
        checkpoints = self._checkpoints
        if checkpoints.is_due(self.last_id, after_entries, log_bytes_a_byte):
            await checkpoints.write(self._known(), log_bytes_a_byte)

    def _known(self) -> Kept:
        """What the transcript itself knows from its entries so far."""
        return Kept(
            form=checkpoint.FORM,
            prefix=self._checkpoints.prefix,
            upto=self.last_id,
            last_folding=self.last_folding,
            unreadable=self._unreadable,
            undone=tuple(sorted(self._undone)),
            head=dict(self.head),
        )

    def _report(self, opened: Opened, unreadable: Sequence[int]) -> None:
        if opened.torn_bytes:
            text = f"the last write was cut: {opened.torn_bytes} bytes set aside in "
            self._watch(Event(name="transcript.torn", text=text + opened.torn_path))
        if unreadable:
            text = f"{len(unreadable)} lines of {self.path} are not entries and were passed over"
            self._watch(
                Event(name="transcript.unreadable", text=text, fields={"lines": list(unreadable)})
            )

    def _note(self, entry: Entry) -> None:
        if isinstance(entry, MessageEntry | EditEntry):
            self.last_folding = entry.id
        if isinstance(entry, EditEntry) and entry.undoes:
            self._undone |= frozenset(entry.undoes)
            # What was folded with edits that count no longer is folded anew.
            self._checkpoints.part(CONTEXT)
        elif isinstance(entry, MarkEntry) and entry.name == HEAD:
            self.head = entry.detail
            self.format = str(entry.detail.get("format", self.format))

    @property
    def last_id(self) -> int:
        """Number of the newest entry; 0 for an empty log."""
        return self._next - 1

    @property
    def undone(self) -> frozenset[int]:
        """Edits that count no longer."""
        return self._undone

    def address(self, first: int, last: int | None = None) -> Ref:
        """The address of one entry, or of a run of entries."""
        return Ref(path=self.path, first=first, last=first if last is None else last)

    async def begin(self, detail: Mapping[str, Any]) -> None:
        """Write the head of a new session."""
        await self.mark(HEAD, {"format": self.format, **detail})

    async def mark(self, name: str, detail: Mapping[str, Any] | None = None) -> MarkEntry:
        """Note that something happened."""
        entry = MarkEntry(**self._stamp(), name=name, detail=dict(detail or {}))
        await self._append([entry])
        return entry

    async def add_usage(self, purpose: str, model: str, usage: Usage) -> UsageEntry:
        """Note the usage of a call that added no message."""
        entry = UsageEntry(**self._stamp(), purpose=purpose, model=model, usage=usage)
        await self._append([entry])
        return entry

    async def add(
        self, messages: Sequence[Message], *, usage: Usage | None = None, time: float | None = None
    ) -> tuple[Entered, ...]:
        """Append messages, their big results first, all in one write.

        A message of another format, or one made here, is stored in the session's format (which
        may take several entries for one message). `usage` belongs to the last of them.

        Raises:
            WriteFailed: nothing counts as written.
        """
        made: list[tuple[MessageEntry, Entered]] = []
        at = self._clock.now() if time is None else time
        for message in messages:
            for whole in self._in_session_format(message):
                made.append(await self._prepare(whole, self._next + len(made), at))
        if made and usage is not None:
            entry, entered = made[-1]
            made[-1] = (
                msgspec.structs.replace(entry, usage=en.counts(usage)),
                Entered(
                    id=entered.id, time=at, message=entered.message, refs=entered.refs, usage=usage
                ),
            )
        await self._append([entry for entry, _ in made])
        return tuple(entered for _, entered in made)

    def _in_session_format(self, message: Message) -> Sequence[Message]:
        if message.wire is not None and not message.edited and message.format == self.format:
            return (message,)
        own = codec(self.format)
        return tuple(
            msgspec.structs.replace(own.decode(wire), origin=message.origin)
            for wire in own.encode_one(message)
        )

    async def _prepare(self, message: Message, id: int, at: float) -> tuple[MessageEntry, Entered]:
        wire, refs = await stored.put_results(message, self._blobs, self._blob_chars, self._watch)
        blocks = message.blocks
        self._checkpoints.grew(
            sum(len(block.text) for at in refs if isinstance(block := blocks[at], ToolResult))
        )
        entry = MessageEntry(
            v=en.VERSION,
            id=id,
            time=_milliseconds(at),
            origin=None if message.origin is stored.told_origin(message) else message.origin,
            wire=wire,
            blobs=len(refs),
        )
        return entry, Entered(id=id, time=at, message=message, refs=refs)

    async def commit(
        self, edits: Sequence[Edit], *, before: int, after: int
    ) -> tuple[EditEntry, ...]:
        """Append a batch of edits, in one write. `before` and `after` are context tokens."""
        batch = self._next
        made = tuple(
            EditEntry(
                v=en.VERSION,
                id=batch + at,
                time=_milliseconds(self._clock.now()),
                by=edit.by,
                reason=edit.reason,
                ops=edit.ops,
                batch=batch,
                before=before,
                after=after,
            )
            for at, edit in enumerate(edits)
        )
        await self._append(made)
        return made

    async def undo(self, edits: Sequence[int], reason: str) -> EditEntry:
        """Take edits back, as an entry of its own; the caller folds again."""
        entry = EditEntry(**self._stamp(), by="undo", reason=reason, undoes=tuple(edits))
        await self._append([entry])
        return entry

    async def archive(self, lines: Sequence[str]) -> None:
        """Add lines to the table of contents, durable when it returns."""
        await self._contents.append([line.encode("utf-8", "surrogatepass") for line in lines])

    async def copy(self, source: Transcript, *, before: int) -> None:
        """Begin as another log did: take over its entries numbered below `before`, and what its
        table of contents says of them. For a log that is open and empty.

        Raises:
            WriteFailed: nothing counts as written.
        """
        lines = [en.encode(entry) async for entry in source.entries(1, before - 1)]
        told = [
            line.content
            async for line in source._contents.read()
            if int(line.content.partition(b"\t")[0].partition(b"-")[0]) < before
        ]
        await self._contents.append(told)
        await self._log.append(lines)
        await self._scan()

    async def entries(self, first: int = 1, last: int | None = None) -> AsyncIterator[Entry]:
        """Entries by number, in order, read from the log; unreadable lines are passed over.

        Entry numbers and line numbers agree unless a torn or unreadable line came between.
        """
        async for line in self._log.read(max(first, 1), None):
            try:
                entry = en.decode(line.content)
            except ValueError:
                continue
            if last is not None and entry.id > last:
                return
            if entry.id >= first:
                yield entry

    async def entered(self, entry: MessageEntry) -> Entered:
        """A message entry with its big results read back.

        A result whose file is gone reads as a text that says so; the loss is reported.
        """
        wire, refs, lost = await stored.get_results(entry, self._blobs)
        if lost:
            text = f"entry {entry.id}: the archived result {lost[0]} is missing"
            self._watch(Event(name="archive.missing", text=text, fields={"paths": list(lost)}))
        message = codec(entry.format or self.format).decode(wire)
        if entry.origin:
            message = msgspec.structs.replace(message, origin=entry.origin)
        return Entered(
            id=entry.id, time=entry.time, message=message, refs=refs, usage=en.usage_of(entry.usage)
        )

    async def read(self, ref: Ref) -> bytes:
        """The exact bytes an address leads to: a blob, the table of contents, or the text of
        one entry or a run of entries.

        Raises:
            NotFound: it leads nowhere; the text says what was looked for.
        """
        if ref.path == self.contents_path:
            return b"".join([line.content + b"\n" async for line in self._contents.read()])
        if ref.path != self.path:
            return await self._blobs.get(ref)
        first = ref.first or 1
        last = ref.last if ref.first is not None else None
        texts: list[str] = []
        async for entry in self.entries(first, last):
            if isinstance(entry, MessageEntry):
                texts.append(stored.readable((await self.entered(entry)).message))
            elif ref.first is not None and first == last:
                texts.append(en.encode(entry).decode("utf-8", "surrogatepass"))
        if not texts:
            raise NotFound(f"no entry {ref.first} in {self.path}", ref=str(ref))
        return "\n".join(texts).encode("utf-8", "surrogatepass")

    async def close(self) -> None:
        """Flush and let go."""
        if self._writes:
            self._writes = False
            await self.keep(after_entries=self._checkpoints.least_entries)
        await self._log.close()
        await self._contents.close()

    def _stamp(self) -> dict[str, Any]:
        return {"v": en.VERSION, "id": self._next, "time": _milliseconds(self._clock.now())}

    async def _append(self, made: Sequence[Entry]) -> None:
        if not made:
            return
        try:
            lines = [en.encode(entry) for entry in made]
            await self._log.append(lines)
        except WriteFailed as error:
            self._watch(Event(name="transcript.write_failed", text=str(error)))
            raise
        self._next += len(made)
        for line, entry in zip(lines, made, strict=True):
            self._checkpoints.take(line)
            self._note(entry)
            for follower in self.followers:
                follower(entry)


def _milliseconds(seconds: float) -> float:
    """A time as the log stores it: no digits that say nothing."""
    rounded = round(seconds, 3)
    return int(rounded) if rounded == int(rounded) else rounded


__all__ = ["CONTEXT", "HEAD", "Entered", "Resumed", "Transcript"]
