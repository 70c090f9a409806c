"""`MemoryStore`: records in files, every change in the journal first, one writer at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import anyio

from wayfare.clock import Clock, SystemClock
from wayfare.errors import RecordConflict
from wayfare.events import Event, Watch, ignore
from wayfare.memory.candidate import Actor, Candidate, Verdict
from wayfare.memory.folder import Entry, Folder, Seen, read_file
from wayfare.memory.gate import (
    Check,
    Existing,
    GateContext,
    check_secrets,
    judge,
    kept_out_by_hook,
)
from wayfare.memory.index import Index, build_index
from wayfare.memory.journal import Journal, JournalLine, JournalState, Source
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits
from wayfare.memory.notices import (
    Offered,
    damaged_events,
    offered_events,
    rebuilt_event,
    unclear_events,
)
from wayfare.memory.planning import Draft, verdict_line
from wayfare.memory.record import RecordFile, read_record
from wayfare.memory.slug import free_file
from wayfare.memory.snapshots import load_snapshot, save_snapshot
from wayfare.memory.storage import MemoryStorage
from wayfare.memory.transaction import Change, Written
from wayfare.memory.view import MemoryView
from wayfare.memory.waiting import keep_waiting
from wayfare.memory.writer import INDEX_NAME, Writer
from wayfare.redaction import Scanner
from wayfare.store.ref import digest

AskFirst: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Told what would be written (`tool`, `operation`, `files`, `name`, `type`, `description`, `body`);
says why it is kept out, or nothing when it may be written."""
_ASKED: Mapping[str, str] = {
    "extractor": "extraction",
    "consolidator": "consolidation",
    "dream": "dream",
}
"""Who writes without anybody's word at that moment, and what those who are asked know it as."""

Likely: TypeAlias = Callable[[str], Sequence[str]]
"""The files whose records share most words with a text, best first."""


class MemoryStore:
    """One memory: its records, their index, and everything that ever happened to them.

    Reading never locks. A writer holds a lease, learns from the journal what others did since,
    settles what a crash left, appends its own change and only then touches files.

    Args:
        storage: Where it stands.
        holder: Who writes, as others are told; must differ between sessions.
        scope: `project` or `user`; stamped on every transaction.
        limits: See `MemoryLimits`.
        scanner: Additional search for secrets.
        watch: Told what happens (`memory.stored`, `memory.edited`, `memory.recovered`, ...).
        likely: Which records share a text's words; without it near-twins are found by their
            description alone.
        gate: Decides what may be written; for tests that show what it keeps out.

    Attributes:
        ask_first: Asked before extraction, consolidation or a dream writes a record.
    """

    def __init__(
        self,
        storage: MemoryStorage,
        *,
        holder: str,
        scope: str = "project",
        limits: MemoryLimits = DEFAULT_LIMITS,
        clock: Clock | None = None,
        scanner: Scanner | None = None,
        watch: Watch = ignore,
        likely: Likely | None = None,
        gate: Check = judge,
    ) -> None:
        self.storage = storage
        self.holder = holder
        self.limits = limits
        self.clock = clock or SystemClock()
        self.likely = likely
        self.ask_first: AskFirst | None = None
        self._gate = gate
        self.journal = Journal(storage.journal)
        self._scanner = scanner
        self._watch = watch
        self._is_open = False
        self._unsaved = 0
        self._writer = Writer(
            storage,
            self.journal,
            MemoryView(),
            holder=holder,
            scope=scope,
            limits=limits,
            clock=self.clock,
            watch=watch,
        )

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every record by file, without bodies, as of the last look."""
        return self._view.entries

    @property
    def folder(self) -> Folder:
        """The entries with their look-ups."""
        return self._view.folder

    @property
    def state(self) -> JournalState:
        """What the journal says, as of the last look."""
        return self.journal.state

    @property
    def used(self) -> Mapping[str, float]:
        """When records were last put before the model (unix seconds)."""
        return self._view.used

    async def open(self) -> Seen:
        """Read the folder, from its caches where they agree with it. Writes nothing.

        Raises:
            NotFound: the folder is there and cannot be read, or leads out of its place.
        """
        snapshot = await load_snapshot(self.storage.state)
        self.journal.state = snapshot.journal
        view = MemoryView(snapshot.entries, snapshot.used)
        self._writer.view = view
        await self._catch_up()
        seen = await view.open(self.storage.records, self.state)
        self._unsaved += len(seen.read) + len(seen.gone)
        self._tell(unclear_events(seen, self.entries))
        self._is_open = True
        return seen

    async def refresh(self) -> Seen:
        """Look again: new journal lines, stamps of all files, the files that differ.

        Raises:
            NotFound: as for `open`.
        """
        if not self._is_open:
            return await self.open()
        if not await self._catch_up():
            self._view.suspect_all(self.state)
        seen = await self._view.look(self.storage.records, self.state)
        self._unsaved += len(seen.read) + len(seen.gone)
        self._tell(unclear_events(seen, self.entries))
        return seen

    async def read(self, name: str) -> RecordFile | None:
        """One record with its body, by name or file, as it stands now; None when there is none.

        Raises:
            NotFound: the file is there and cannot be read.
        """
        entry = self.folder.find(name)
        stem = (entry.file if entry is not None else name).removesuffix(".md")
        content = await self.storage.records.read(stem)
        return None if content is None else read_record(f"{stem}.md", content)

    def changed_at(self, entry: Entry) -> float:
        """When a record was last changed (unix seconds; 0: nobody knows)."""
        state = self.state
        known = max(state.changed.get(entry.file, 0.0), state.edited.get(entry.file, 0.0))
        return known or entry.written

    def index(self) -> Index:
        """The index as it should stand now."""
        return build_index(self._view.order, self.limits)

    async def index_text(self) -> str:
        """`MEMORY.md` as it stands, or as it should stand when there is none.

        Raises:
            NotFound: it is there and cannot be read.
        """
        content = await self.storage.index.read(INDEX_NAME)
        return self.index().text if content is None else content.decode(errors="replace")

    async def offer(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        source: Source | None = None,
        reason: str = "",
        insist: bool = False,
        expected: Mapping[str, str | None] | None = None,
    ) -> Offered:
        """Bring candidates to the gate and write what it lets pass, as one transaction.

        Args:
            candidates: Each sees the ones accepted before it.
            actor: Who writes.
            source: Session and entries, for the journal.
            reason: For the journal.
            insist: The owner wants it although the gate refused; see `GateContext`.
            expected: Hashes some files must still have (None: not be there), for callers who
                computed from them.

        Raises:
            RecordConflict: a file of `expected` has another text now; nothing was written.
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: the storage refused; the records are as before.
        """
        context = GateContext(
            actor=actor,
            limits=self.limits,
            scanner=self._scanner,
            insist=insist,
            now=self.clock.now(),
        )
        await self._opened()
        kept_out = [
            await self.why_kept_out(actor, candidate, operation="write") for candidate in candidates
        ]
        async with self._writer.alone():
            await self._check_expected(expected or {}, candidates)
            now = self.clock.now()
            draft = Draft(now)
            verdicts: list[Verdict] = []
            try:
                for candidate, reason in zip(candidates, kept_out, strict=True):
                    verdicts.append(
                        kept_out_by_hook(candidate, reason)
                        if reason
                        else await self._judge(candidate, context, draft)
                    )
                lines = [verdict_line(v, at=now, actor=actor, source=source) for v in verdicts]
                lines += self._lifted(verdicts, now)
                written = await self._writer.commit(
                    draft.changes, actor=actor, reason=reason, source=source, notes=lines
                )
            except BaseException:
                await self._forget_view(draft.files)
                raise
            hashes = {e.file: e.sha256 for v in verdicts if (e := self.entries.get(v.file))}
            problems = await keep_waiting(
                self.storage, verdicts, hashes=hashes, source=source, at=now
            )
        self._unsaved += len(written.files)
        offered = Offered(
            verdicts=tuple(verdicts),
            written=replace(written, problems=(*written.problems, *problems)),
        )
        self._tell(offered_events(offered))
        return offered

    async def why_kept_out(
        self,
        actor: Actor,
        candidate: Candidate | None,
        *,
        operation: str,
        files: Sequence[str] = (),
    ) -> str:
        """What `ask_first` has against a write; empty when nothing, or when it is not asked.

        It is shown the texts without their secrets, and nobody holds the right to write meanwhile.
        """
        if self.ask_first is None or actor not in _ASKED:
            return ""
        write: dict[str, Any] = {
            "tool": _ASKED[actor],
            "operation": operation,
            "files": list(files),
        }
        if candidate is not None:
            context = GateContext(actor=actor, scanner=self._scanner)
            shown = check_secrets(candidate, Existing(), context).candidate
            write |= {
                "name": shown.name,
                "type": shown.type,
                "description": shown.description,
                "body": shown.body,
            }
        return await self.ask_first(write)

    async def transact(
        self,
        changes: Sequence[Change],
        *,
        actor: Actor,
        reason: str = "",
        source: Source | None = None,
        notes: Sequence[JournalLine] = (),
        skip_conflicts: bool = False,
    ) -> Written:
        """Apply changes that passed the gate already (or undo one), all or none.

        Args:
            notes: Journal lines that belong with them.
            skip_conflicts: Leave out files that are not as they were, instead of refusing all.

        Raises:
            RecordConflict: a file is not as it was, and `skip_conflicts` is not set.
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: the storage refused; the records are as before.
        """
        await self._opened()
        async with self._writer.alone():
            fresh: list[Change] = []
            left: list[str] = []
            for change in changes:
                present = await read_file(self.storage.records, change.file)
                if present == change.before:
                    fresh.append(change)
                elif skip_conflicts:
                    left.append(change.file)
                else:
                    raise _conflict(change.file, change.before, present, change.after)
            try:
                for change in fresh:
                    self._view.show(change.file, change.after, self.state)
                written = await self._writer.commit(
                    fresh, actor=actor, reason=reason, source=source, notes=notes
                )
            except BaseException:
                await self._forget_view([c.file for c in fresh])
                raise
        self._unsaved += len(written.files)
        return replace(written, left=(*written.left, *left))

    async def append(self, lines: Sequence[JournalLine]) -> None:
        """Add journal lines that change no file.

        Raises:
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: none of them counts as written.
        """
        await self._opened()
        async with self._writer.alone():
            await self._writer.append(lines)

    async def rewrite_journal(self, mended: Callable[[bytes], bytes | None]) -> int:
        """Replace lines of the journal; only redaction does. Returns how many were replaced.

        Args:
            mended: The new line, or None for one that stays.

        Raises:
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: the storage refused; the journal is as before.
        """
        await self._opened()
        count = await self._writer.rewrite_journal(mended)
        self._unsaved += 1
        return count

    async def sync(self) -> Written:
        """Journal what was edited beside us, settle what a crash left and, where there is an
        index already, bring it up to date.

        Raises:
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: the storage refused.
        """
        await self.refresh()
        async with self._writer.alone():
            there = self.state.index_hash is not None
            return await self._writer.commit(
                [], actor="external", reason="sync", index_anyway=there
            )

    async def rebuild_index(self) -> Written:
        """Write the index anew from the records.

        Raises:
            LeaseHeld: somebody else kept writing for `lease_wait_seconds`.
            WriteFailed: the storage refused.
        """
        await self.refresh()
        async with self._writer.alone():
            return await self._writer.commit(
                [], actor="user", reason="index rebuilt", index_anyway=True
            )

    def note_use(self, files: Sequence[str]) -> None:
        """Remember that records were put before the model; ranks the index at its next change."""
        now = self.clock.now()
        for file in files:
            if file in self.entries:
                self._view.used[file] = now
                self._view.rank(file, self.state)
        self._unsaved += len(files)

    async def close(self) -> None:
        """Save the caches. What cannot be saved is made again."""
        if self._unsaved:
            await save_snapshot(
                self.storage.state, self.state, self.entries, self._view.used, self.clock
            )
            self._unsaved = 0

    @property
    def _view(self) -> MemoryView:
        return self._writer.view

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            self._watch(event)

    async def _catch_up(self) -> bool:
        """Take in new journal lines; False when the journal was read anew."""
        had, damaged = self.state.lines, len(self.state.damaged)
        whole = await self.journal.catch_up() is not None
        if not whole:
            self._tell([rebuilt_event(had, self.state.lines)])
            damaged = 0
        self._tell(damaged_events(self.state.damaged[damaged:]))
        return whole

    async def _opened(self) -> None:
        if not self._is_open:
            await self.open()

    async def _judge(self, candidate: Candidate, context: GateContext, draft: Draft) -> Verdict:
        similar = await self._similar(candidate, draft)
        verdict = self._gate(candidate, self.folder.existing(self.state, similar), context)
        if not verdict.writes:
            return verdict
        file = verdict.file
        entry = self.entries.get(file)
        if entry is None or not entry.rewritable:
            # What cannot be written over without loss stays; the news gets a file of its own.
            file = free_file(verdict.candidate.name, self.folder.folded)
        present = await read_file(self.storage.records, file)
        text = draft.write(file, present, verdict)
        self._view.show(file, text, self.state)
        return replace(verdict, file=file)

    async def _similar(self, candidate: Candidate, draft: Draft) -> dict[str, str]:
        if self.likely is None:
            return {}
        texts: dict[str, str] = {}
        for file in self.likely(f"{candidate.description}\n{candidate.body}"):
            content = draft.text(file) or await read_file(self.storage.records, file)
            if content is not None and file in self.entries:
                record = read_record(file, content).record
                texts[file] = f"{record.description}\n{record.body}"
        return texts

    def _lifted(self, verdicts: Sequence[Verdict], now: float) -> list[JournalLine]:
        """Tombstones of what was now said anew."""
        written = {v.file for v in verdicts if v.writes}
        return [
            JournalLine(op="lift", at=now, file=file)
            for file in self.state.stones
            if file in written
        ]

    async def _check_expected(
        self, expected: Mapping[str, str | None], candidates: Sequence[Candidate]
    ) -> None:
        for file, version in expected.items():
            present = await read_file(self.storage.records, file)
            if (None if present is None else digest(present)) != version:
                wanted = next((c.body for c in candidates if c.file == file), None)
                raise RecordConflict(
                    f"{file} was changed since it was read; read it again",
                    expected=version,
                    found=None if present is None else digest(present),
                    wanted=wanted,
                    present=_shown(present),
                )

    async def _forget_view(self, files: Sequence[str]) -> None:
        """What was shown in advance did not come to pass: look at the files."""
        with anyio.CancelScope(shield=True):
            await self._view.reread(self.storage.records, files, self.state)


def _conflict(
    file: str, before: bytes | None, present: bytes | None, after: bytes | None
) -> RecordConflict:
    return RecordConflict(
        f"{file} was changed since it was read; read it again",
        expected=None if before is None else digest(before),
        found=None if present is None else digest(present),
        wanted=_shown(after),
        present=_shown(present),
    )


def _shown(content: bytes | None) -> str | None:
    return None if content is None else content.decode(errors="replace")
