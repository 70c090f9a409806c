"""The one writer: alone with the journal, it settles, learns, appends, applies and indexes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import msgspec

from wayfare.clock import Clock
from wayfare.errors import NotFound, StoreError
from wayfare.events import Event, Watch
from wayfare.memory.folder import read_file
from wayfare.memory.index import HEADING, Index, build_index
from wayfare.memory.journal import Journal, JournalLine, Source, change_line
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.notices import damaged_events, rebuilt_event
from wayfare.memory.record import INDEX_FILE
from wayfare.memory.storage import MemoryStorage
from wayfare.memory.transaction import (
    Applied,
    Change,
    Written,
    apply_changes,
    settle,
    transaction_lines,
)
from wayfare.memory.view import MemoryView
from wayfare.store import Docs
from wayfare.store.ref import digest

LEASE = "memory"
"""Name of the lease a writer holds."""

INDEX_NAME = INDEX_FILE.removesuffix(".md")


class Writer:
    """Writes one memory; a `MemoryStore` has one.

    Args:
        view: Kept in step with everything written or learnt; replaced when the store opens anew.
    """

    def __init__(
        self,
        storage: MemoryStorage,
        journal: Journal,
        view: MemoryView,
        *,
        holder: str,
        scope: str,
        limits: MemoryLimits,
        clock: Clock,
        watch: Watch,
    ) -> None:
        self.view = view
        self._storage = storage
        self._journal = journal
        self._holder = holder
        self._scope = scope
        self._limits = limits
        self._clock = clock
        self._watch = watch
        self._turn = anyio.Lock()

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """Hold the right to write, with the journal open and everything in it known and settled.

        Raises:
            LeaseHeld: somebody else kept it for `lease_wait_seconds`.
            WriteFailed: the storage cannot be written.
        """
        async with self._turn:
            await self._storage.leases.acquire(
                LEASE,
                holder=self._holder,
                seconds=self._limits.lease_seconds,
                wait_seconds=self._limits.lease_wait_seconds,
            )
            try:
                opened = await self._journal.log.open()
                try:
                    if opened.torn_bytes:
                        self._tell(
                            "memory.journal_torn",
                            "the memory journal ended in the middle of a line; "
                            f"{opened.torn_bytes} bytes were set aside in {opened.torn_path}",
                        )
                    await self._learn()
                    yield
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._journal.log.close()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._storage.leases.release(LEASE, holder=self._holder)

    async def commit(
        self,
        changes: Sequence[Change],
        *,
        actor: str,
        reason: str,
        source: Source | None = None,
        notes: Sequence[JournalLine] = (),
        index_anyway: bool = False,
    ) -> Written:
        """Journal the changes, apply them, write the index. The view shows them already.

        Args:
            notes: Lines that belong with them, such as verdicts.
            index_anyway: Write the index even though nothing changes.

        Raises:
            WriteFailed: the storage refused; the records are as before.
        """
        now = self._clock.now()
        for change in changes:
            self.view.rank(change.file, self._journal.state, change=change, at=now)
        index = build_index(self.view.order, self._limits)
        if not changes and not index_anyway:
            if notes:
                await self._journal.append(notes)
            return Written(room=index.room)
        wanted = digest(index.text.encode())
        lines = [*await self._index_edit(wanted, now), *notes]
        tx = f"tx-{self._clock.token()}" if changes else ""
        if changes:
            lines += transaction_lines(
                tx,
                changes,
                at=now,
                actor=actor,
                reason=reason,
                source=source,
                index_hash=wanted,
                scope=self._scope,
            )
        if lines:
            await self._journal.append(lines)
        applied = await self._apply(tx, changes)
        problems = await self._write_index(index)
        if changes or self._journal.state.index_hash != wanted:
            await self._journal.append(
                [JournalLine(op="applied", at=now, tx=tx, index_hash=wanted)]
            )
        if applied.left:
            await self.view.reread(self._storage.records, applied.left, self._journal.state)
            self.view.suspects.update(applied.left)
        return Written(
            tx=tx, files=applied.written, left=applied.left, room=index.room, problems=problems
        )

    async def append(self, lines: Sequence[JournalLine]) -> None:
        """Add lines that change no file.

        Raises:
            WriteFailed: none of them counts as written.
        """
        await self._journal.append(lines)

    async def rewrite_journal(self, mended: Callable[[bytes], bytes | None]) -> int:
        """Replace every journal line for which `mended` gives another; returns how many.

        Raises:
            LeaseHeld: somebody else kept the right to write.
            WriteFailed: the storage refused; the journal is as before.
        """
        rewrite = self._storage.rewrite_journal
        if rewrite is None:
            return 0
        async with self.alone():
            lines = [line.content async for line in self._journal.log.read()]
            new = [mended(line) for line in lines]
            count = sum(line is not None for line in new)
            if count:
                whole = [fresh or line for fresh, line in zip(new, lines, strict=True)]
                await self._journal.log.close()
                try:
                    await rewrite(b"".join(line + b"\n" for line in whole))
                finally:
                    await self._journal.reread()
            return count

    async def _apply(self, tx: str, changes: Sequence[Change]) -> Applied:
        try:
            return await apply_changes(self._storage.records, changes)
        except StoreError:
            line = JournalLine(op="rollback", at=self._clock.now(), tx=tx, reason="refused")
            await self._journal.append([line])
            raise

    async def _learn(self) -> None:
        """Take in what others wrote, settle what a crash left, journal what was edited by hand."""
        state = self._journal.state
        had, damaged = state.lines, len(state.damaged)
        new = await self._journal.catch_up()
        state = self._journal.state
        if new is None:
            self._watch(rebuilt_event(had, state.lines))
            self.view.suspect_all(state)
            damaged = 0
        touched = {n.line.file for n in new or () if n.line.op in ("put", "delete", "external")}
        await self.view.reread(self._storage.records, touched - {INDEX_FILE}, state)
        for event in damaged_events(state.damaged[damaged:]):
            self._watch(event)
        await self._settle()
        await self._journal_edits(began=had == 0 and state.lines == 0)

    async def _settle(self) -> None:
        pending = self._journal.state.pending
        if pending is None:
            return
        op = await settle(self._storage.records, pending)
        hashed = pending.index_hash if op == "applied" else None
        line = JournalLine(op=op, at=self._clock.now(), tx=pending.tx, index_hash=hashed)
        await self._journal.append([line])
        files = [change.file for change in pending.changes]
        await self.view.reread(self._storage.records, files, self._journal.state)
        index = build_index(self.view.order, self._limits)
        await self._write_index(index)
        word = "finished" if op == "applied" else "taken back"
        self._tell("memory.recovered", f"an interrupted change of memory was {word}")

    async def _journal_edits(self, *, began: bool) -> None:
        lines: list[JournalLine] = []
        known = self._journal.state.known
        for file in sorted(self.view.suspects):
            content = await read_file(self._storage.records, file)
            found = None if content is None else digest(content)
            if found == known.get(file):
                continue
            op = "found" if began else "external"
            line = change_line(op, file, None, content, at=self._clock.now(), actor="external")
            lines.append(msgspec.structs.replace(line, before_hash=known.get(file)))
            self.view.show(file, content, self._journal.state)
        self.view.suspects.clear()
        if not lines:
            return
        await self._journal.append(lines)
        edited = [line.file for line in lines]
        for file in edited:
            self.view.rank(file, self._journal.state)
        if not began:
            shown = ", ".join(edited[:5]) + (" …" if len(edited) > 5 else "")
            self._tell("memory.edited", f"changed by hand: {shown}", files=tuple(edited))

    async def _index_edit(self, wanted: str, now: float) -> list[JournalLine]:
        """A journal line for an index that is not as it was written, before it is written over."""
        try:
            present = await self._storage.index.read(INDEX_NAME)
        except NotFound:
            return []
        known = self._journal.state.index_hash
        if present is None or digest(present) in (known, wanted):
            return []
        line = change_line("external", INDEX_FILE, None, present, at=now, actor="external")
        text = present.decode(errors="replace")
        foreign = sum(bool(part.strip()) for part in text.splitlines())
        if known is not None or not text.startswith(HEADING):  # else one of a journal that is lost
            self._tell(
                "memory.index_edited",
                f"{INDEX_FILE} was written by hand ({foreign} lines); its text is kept in the "
                "journal and the index is made anew",
            )
        return [msgspec.structs.replace(line, before_hash=known)]

    async def _write_index(self, index: Index) -> tuple[str, ...]:
        """Write what differs; the records stand whether this works or not."""
        try:
            await _put(self._storage.index, INDEX_NAME, index.text.encode())
            for kind, text in index.pages.items():
                await _put(self._storage.pages, kind, text.encode())
            for kind in await self._storage.pages.names():
                if kind not in index.pages:
                    await _drop(self._storage.pages, kind)
        except StoreError as error:
            problem = f"the index could not be written: {error}"
            self._tell("memory.index_failed", problem)
            return (problem,)
        return ()

    def _tell(self, name: str, text: str, **fields: object) -> None:
        self._watch(Event(name=name, text=text, fields=fields))


async def _put(docs: Docs, name: str, content: bytes) -> None:
    present = await docs.read(name)
    if present != content:
        expected = None if present is None else digest(present)
        await docs.write(name, content, expected=expected)


async def _drop(docs: Docs, name: str) -> None:
    present = await docs.read(name)
    if present is not None:
        await docs.delete(name, expected=digest(present))
