"""What happened to memory, read from the journal, and what the owner may do about it: look at it,
undo it, have a record forgotten, have its text taken out of the journal as well.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from wayfare.errors import ConfigError, NotFound, RecordConflict, RecordError
from wayfare.json_text import UNREADABLE
from wayfare.memory.candidate import Actor
from wayfare.memory.folder import read_file
from wayfare.memory.journal import (
    JournalLine,
    Numbered,
    Stone,
    changes_of,
    content_of,
    encode,
    without_texts,
)
from wayfare.memory.likeness import fingerprint
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import INDEX_FILE, read_record
from wayfare.memory.slug import name_key, slug
from wayfare.memory.transaction import Change, Written
from wayfare.memory.waiting import drop_waiting, waiting
from wayfare.store.ref import digest

_CHANGES = ("put", "delete", "external", "found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One line of the log for people: a change or a verdict.

    `number` names it in `undo` and `diff`, `tx` its transaction. `what` is `added`, `changed`,
    `deleted`, `edited by hand`, `found`, or a verdict's outcome. `taken_back`: it was undone by a
    crash or a refusing storage and never took effect.
    """

    number: int
    at: float
    actor: str
    what: str
    file: str
    name: str = ""
    tx: str = ""
    reason: str = ""
    detail: str = ""
    session: str = ""
    entries: tuple[int, ...] = ()
    origin: str = ""
    taken_back: bool = False


async def log(
    store: MemoryStore, *, last: int | None = None, rejected: bool = False
) -> list[Happening]:
    """Changes, newest first; with `rejected` what the gate refused or put aside instead."""
    lines = await store.journal.read()
    void = _taken_back(lines)
    if rejected:
        chosen = [
            n
            for n in lines
            if n.line.op == "verdict" and n.line.outcome in ("reject", "quarantine", "review")
        ]
    else:
        chosen = changes_of(lines)
    chosen.reverse()
    return [_happening(n, void) for n in (chosen if last is None else chosen[:last])]


async def history(store: MemoryStore, name: str) -> list[Happening]:
    """Everything that happened to one record, oldest first, what was refused included."""
    entry = store.folder.find(name)
    lines = await store.journal.read()
    file = entry.file if entry is not None else _former_file(lines, name)
    void = _taken_back(lines)
    return [
        _happening(n, void)
        for n in lines
        if n.line.file == file and n.line.op in (*_CHANGES, "verdict", "forget", "redact")
    ]


async def diff(store: MemoryStore, change: str) -> str:
    """The lines a change or transaction took out and put in, as a unified diff.

    Raises:
        NotFound: there is no such change or transaction.
    """
    lines = await store.journal.read()
    parts: list[str] = []
    for found in _chosen(lines, change):
        before, after = _sides(lines, found)
        parts.append(_unified(found.line, before, after))
    return "\n".join(parts)


async def undo(
    store: MemoryStore, change: str, *, actor: Actor = "user", force: bool = False
) -> Written:
    """Bring back what stood before a change, or before each change of a transaction.

    Args:
        change: A number from the log, or a transaction's id.
        force: Also where the record was changed since; what stands now is then lost from the
            folder, not from the journal.

    Raises:
        NotFound: there is no such change or transaction.
        RecordConflict: a record was changed since, and `force` is not set.
        RecordError: the text that stood before was redacted or never journalled.
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused; the records are as before.
    """
    await store.refresh()
    lines = await store.journal.read()
    changes: list[Change] = []
    for found in reversed(_chosen(lines, change)):
        line = found.line
        before, after = _sides(lines, found)
        if before is None and line.before_hash is not None:
            raise RecordError(
                f"what {line.file} held before change {found.number} is not in the journal",
                path=line.file,
                field="before",
            )
        present = await read_file(store.storage.records, line.file)
        now = present if force else after
        if not force and after is None and line.after_hash is not None:
            now = present if present is not None and digest(present) == line.after_hash else b""
        changes.append(Change(file=line.file, before=now, after=before, reason=f"undo {change}"))
    lifted = [
        JournalLine(op="lift", at=store.clock.now(), file=c.file)
        for c in changes
        if c.after is not None and c.file in store.state.stones
    ]
    try:
        return await store.transact(changes, actor=actor, reason=f"undo {change}", notes=lifted)
    except RecordConflict as error:
        files = ", ".join(dict.fromkeys(c.file for c in changes))
        raise RecordConflict(
            f"{files} was changed after {change}; nothing was undone. Look at wayfare memory history, "
            "or undo with --force, which takes the later text from the folder, not from the log",
            expected=error.expected,
            found=error.found,
            wanted=error.wanted,
            present=error.present,
        ) from error


async def forget(
    store: MemoryStore, name: str, *, actor: Actor = "user", reason: str = ""
) -> Written:
    """Delete a record and leave a tombstone, so that nobody but the user brings it back.

    Raises:
        NotFound: there is no such record.
        RecordConflict: it was changed at this very moment.
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused; the record is as before.
    """
    await store.refresh()
    entry = store.folder.find(name)
    if entry is None:
        raise NotFound(f"there is no record {name!r}", ref=name)
    content = await read_file(store.storage.records, entry.file)
    stone = Stone(
        name=name_key(entry.name),
        subject=name_key(entry.subject),
        description_print=entry.description_print,
        body_print=entry.body_print,
    )
    mark = JournalLine(
        op="forget",
        at=store.clock.now(),
        actor=actor,
        file=entry.file,
        reason=reason,
        stone=stone,
    )
    return await store.transact(
        [Change(file=entry.file, before=content, after=None, reason="forget")],
        actor=actor,
        reason=reason or "forget",
        notes=[mark],
    )


async def redact(store: MemoryStore, name: str, *, actor: Actor = "user") -> int:
    """Forget a record, if it is still there, and take its texts out of the journal too.

    Hashes and a line saying that it was done stay. Returns from how many lines text was taken.

    Raises:
        NotFound: neither a record nor the journal knows the name.
        ConfigError: this storage's journal cannot be rewritten.
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused; the journal is as before.
    """
    rewrite = store.storage.rewrite_journal
    if rewrite is None:
        raise ConfigError("this memory's journal cannot be rewritten", setting="rewrite_journal")
    await store.refresh()
    entry = store.folder.find(name)
    if entry is not None:
        await forget(store, entry.file, actor=actor, reason="redact")
    lines = await store.journal.read()
    file = entry.file if entry is not None else _former_file(lines, name)
    if not any(n.line.file == file for n in lines):
        raise NotFound(f"neither a record nor the journal knows {name!r}", ref=name)
    mark = JournalLine(op="redact", at=store.clock.now(), actor=actor, file=file)
    await store.append([mark])
    count = await store.rewrite_journal(_Redaction(file, _prints(lines, file)))
    stem = file.removesuffix(".md")
    for item in await waiting(store.storage):
        if file == item.file or name_key(item.candidate.name) == name_key(stem):
            await drop_waiting(store.storage, item.id)
    for plan in await store.storage.inbox.names():
        content = await store.storage.inbox.read(plan)
        if content is not None and _mentions(content, file):
            await drop_waiting(store.storage, plan)
    await store.close()
    return count


def _former_file(lines: Sequence[Numbered], name: str) -> str:
    """The file of a record that is gone, from its name or file name; what it would be otherwise."""
    stem, wanted = name.removesuffix(".md"), name_key(name)
    known = {n.line.file for n in lines}
    stones = (n.line for n in reversed(lines) if n.line.stone is not None)
    forgotten = (line.file for line in stones if line.stone and line.stone.name == wanted)
    options = [f"{stem}.md", *forgotten, f"{slug(stem)}.md"]
    return next((file for file in options if file in known), options[0])


def _mentions(plan: bytes, file: str) -> bool:
    """Whether a waiting plan may quote a record; one that cannot be read may."""
    try:
        return file in msgspec.json.decode(plan, type=_PlanHashes).hashes
    except UNREADABLE:
        return True


class _PlanHashes(msgspec.Struct):
    hashes: dict[str, str] = {}


class _Redaction:
    """Takes the texts of one record out of journal lines; counts from how many."""

    def __init__(self, file: str, known: frozenset[str]) -> None:
        self._file = file
        self._known = known

    def __call__(self, content: bytes) -> bytes | None:
        """The line without the texts; None when it keeps what it has."""
        try:
            line = msgspec.json.decode(content, type=JournalLine)
        except UNREADABLE:
            return None
        if line.redacted or not (line.before or line.after or line.description):
            return None
        about = line.file == self._file or fingerprint(line.description) in self._known
        if line.file == INDEX_FILE:  # an index somebody edited, with a line about the record
            about = self._file in f"{line.before or ''}{line.after or ''}"
        return encode(without_texts(line)) if about else None


def _prints(lines: Iterable[Numbered], file: str) -> frozenset[str]:
    """Fingerprints of every description the record ever had, to find verdicts that quote one."""
    found: set[str] = set()
    for numbered in lines:
        if numbered.line.file == file:
            for before in (True, False):
                content = content_of(numbered.line, before=before)
                if content is not None:
                    found.add(fingerprint(read_record(file, content).record.description))
    return frozenset(found - {""})


def _chosen(lines: Sequence[Numbered], change: str) -> list[Numbered]:
    wanted = change.strip().removeprefix("#")
    changes = changes_of(lines)
    if wanted.isdecimal():
        found = [n for n in changes if n.number == int(wanted)]
    else:
        found = [n for n in changes if n.line.tx == wanted]
    if not found:
        raise NotFound(f"there is no change or transaction {change!r}", ref=change)
    return found


def _sides(lines: Sequence[Numbered], found: Numbered) -> tuple[bytes | None, bytes | None]:
    """The texts before and after a change; an edit's older text stands in an earlier line."""
    before = content_of(found.line, before=True)
    if before is None and found.line.before_hash is not None:
        for earlier in reversed(lines):
            if earlier.number < found.number and earlier.line.after_hash == found.line.before_hash:
                before = content_of(earlier.line, before=False)
                if before is not None:
                    break
    return before, content_of(found.line, before=False)


def _unified(line: JournalLine, before: bytes | None, after: bytes | None) -> str:
    def lines_of(content: bytes | None) -> list[str]:
        return [] if content is None else content.decode(errors="replace").splitlines()

    if line.redacted:
        return f"{line.file}: its text was redacted"
    old = line.file if line.before_hash is not None else "/dev/null"
    new = line.file if line.after_hash is not None else "/dev/null"
    return "\n".join(difflib.unified_diff(lines_of(before), lines_of(after), old, new, lineterm=""))


def _taken_back(lines: Iterable[Numbered]) -> frozenset[str]:
    return frozenset(n.line.tx for n in lines if n.line.op == "rollback" and n.line.tx)


def _happening(found: Numbered, void: frozenset[str]) -> Happening:
    line = found.line
    what = {
        "external": "deleted by hand" if line.after_hash is None else "edited by hand",
        "found": "found",
        "delete": "deleted",
        "put": "added" if line.before_hash is None else "changed",
        "verdict": line.outcome,
        "forget": "forgotten",
        "redact": "redacted",
    }.get(line.op, line.op)
    source = line.source
    return Happening(
        number=found.number,
        at=line.at,
        actor=line.actor,
        what=what,
        file=line.file,
        name=line.name,
        tx=line.tx,
        reason=line.reason,
        detail=line.detail,
        session=source.session if source is not None else "",
        entries=source.entries if source is not None else (),
        origin=source.origin if source is not None else "",
        taken_back=line.tx in void,
    )
