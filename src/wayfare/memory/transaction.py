"""Transactions: several files change together or not at all, whatever happens in between.

Everything is in the journal before the first file is touched, so what is found on opening can only
be finished (it was committed) or taken back (it was not).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.errors import Conflict, StoreError
from wayfare.memory.folder import read_file
from wayfare.memory.index import IndexRoom
from wayfare.memory.journal import JournalLine, Pending, Source, change_line, content_of
from wayfare.store import Docs
from wayfare.store.ref import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file of a transaction: what it must hold now, and what it shall hold (None: nothing)."""

    file: str
    before: bytes | None
    after: bytes | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of a transaction's files: written, or left because somebody edited them since."""

    written: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did: its transaction (empty: no record changed), files, room in the index.

    `left` are files that somebody edited meanwhile and that were not touched. `problems` are
    things the owner should know, such as an index that could not be written.
    """

    tx: str = ""
    files: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    room: IndexRoom
    problems: tuple[str, ...] = ()


def transaction_lines(
    tx: str,
    changes: Sequence[Change],
    *,
    at: float,
    actor: str,
    reason: str,
    source: Source | None,
    index_hash: str | None,
    scope: str = "",
) -> list[JournalLine]:
    """The lines of a whole transaction, to be appended at once."""
    files = {c.file: "" if c.after is None else digest(c.after) for c in changes}
    begin = JournalLine(
        op="begin",
        at=at,
        tx=tx,
        actor=actor,
        reason=reason,
        source=source,
        files=files,
        scope=scope,
    )
    puts = [
        change_line(
            "delete" if change.after is None else "put",
            change.file,
            change.before,
            change.after,
            at=at,
            tx=tx,
            actor=actor,
            reason=change.reason or reason,
            source=source,
        )
        for change in changes
    ]
    commit = JournalLine(op="commit", at=at, tx=tx, index_hash=index_hash)
    return [begin, *puts, commit]


async def apply_changes(docs: Docs, changes: Sequence[Change]) -> Applied:
    """Write the files; one that is not as it was before is left to whoever edited it.

    When the storage refuses one, those already written are put back.

    Raises:
        StoreError: the storage refused.
    """
    done: list[Change] = []
    left: list[str] = []
    for change in changes:
        try:
            await _swap(docs, change.file, change.before, change.after)
            done.append(change)
        except Conflict:
            if await read_file(docs, change.file) == change.after:
                done.append(change)
            else:
                left.append(change.file)
        except StoreError:
            for earlier in reversed(done):
                await _swap(docs, earlier.file, earlier.after, earlier.before)
            raise
    return Applied(written=tuple(c.file for c in done), left=tuple(left))


async def settle(docs: Docs, pending: Pending) -> str:
    """Finish a committed transaction, take back one that was not; says which it did.

    A file that is neither as before nor as after was edited since and is left alone. A transaction
    without a commit whose files are all as they should be was done: its journal was cut later.

    Raises:
        WriteFailed: the storage refused; it is tried again at the next opening.
    """
    if not pending.committed:
        found = {file: await _hash(docs, file) for file in pending.files}
        if found and found == pending.files:
            return "applied"
        untouched = [c for c in pending.changes if found.get(c.file) == (c.before_hash or "")]
        if found and not untouched:
            return "rollback"
    for change in pending.changes:
        present = await read_file(docs, change.file)
        found_hash = None if present is None else digest(present)
        old, new = change.before_hash, change.after_hash
        have, want, is_before = (old, new, False) if pending.committed else (new, old, True)
        if found_hash != have or old == new:
            continue
        wanted = content_of(change, before=is_before)
        if want is not None and wanted is None:
            continue  # its text was too long to be journalled; the hash will show it as external
        try:
            await _swap(docs, change.file, present, wanted)
        except Conflict:
            continue
    return "applied" if pending.committed else "rollback"


async def _hash(docs: Docs, file: str) -> str:
    content = await read_file(docs, file)
    return "" if content is None else digest(content)


async def _swap(docs: Docs, file: str, before: bytes | None, after: bytes | None) -> None:
    name = file.removesuffix(".md")
    expected = None if before is None else digest(before)
    if after is not None:
        await docs.write(name, after, expected=expected)
    elif expected is not None:
        await docs.delete(name, expected=expected)
