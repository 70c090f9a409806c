"""`wayfare memory`: look at records, write, search, forget them, and what happened to them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from wayfare.cli.memory_opening import opened
from wayfare.cli.printing import columns, counted, plain, put, put_exact, put_json, say
from wayfare.cli.screen.spans import cut
from wayfare.clock import moment
from wayfare.errors import NotFound
from wayfare.memory import (
    Candidate,
    Evidence,
    Happening,
    MemoryStore,
    Offered,
    RecordFile,
    diff,
    forget,
    history,
    log,
    redact,
    undo,
)
from wayfare.memory.folder import Entry
from wayfare.memory.manifest import age
from wayfare.session import run_sync
from wayfare.session.memory_wanted import OpenMemory

_FIRST_CHARS = 200
_NO_RECORDS = "nothing is remembered here yet; wayfare memory add NAME writes a first record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the options of `add` and `edit` say; None: nothing."""

    name: str
    type: str | None = None
    description: str | None = None
    body: str | None = None

    @property
    def text(self) -> str | None:
        """The body, from standard input where it is `-`."""
        return sys.stdin.read() if self.body == "-" else self.body


def list_records(root: Path, *, user: bool, json: bool) -> None:
    """Print the records, one a line."""

    async def work() -> None:
        async with opened(root, user=user) as memory:
            store = memory.store
            rows = [_row(store, entry) for entry in store.folder.in_order()]
        if json:
            return put_json(rows)
        width = columns(sys.stdout)
        for row in rows:
            line = f"{row['type']:9} {row['name']}  {row['description']}  ({row['age']})"
            put(f"{plain(line) if width is None else cut(plain(line), width)}\n")
        if not rows:
            say(_NO_RECORDS)

    run_sync(work)


def show(root: Path, name: str, *, user: bool, json: bool) -> None:
    """Print one record.

    Raises:
        NotFound: there is no such record.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            found = await _found(memory.store, name)
            entry = memory.store.entries[found.file]
            row = _row(memory.store, entry)
            content = await memory.store.storage.records.read(found.file.removesuffix(".md"))
        if json:
            return put_json({**row, "body": found.record.body})
        text = (content or b"").decode("utf-8", "replace")
        put_exact(text if text.endswith("\n") else f"{text}\n")

    run_sync(work)


def add(root: Path, given: Given, *, user: bool, insist: bool) -> int:
    """Write a record; exit status 1 when it is refused."""
    body = given.text
    if body is None and not sys.stdin.isatty():
        body = sys.stdin.read()
    body = body or given.description
    if not (body or "").strip():
        raise typer.BadParameter("say what it is: --body TEXT", param_hint="--body")
    assert body is not None
    candidate = Candidate(
        name=given.name,
        description=given.description or _first_line(body),
        type=given.type or "project",
        body=body,
        scope="persistent",
        evidence=Evidence(origin="owner"),
    )

    async def work() -> int:
        async with opened(root, user=user) as memory:
            await _searchable(memory)
            return _told(
                await memory.store.offer([candidate], actor="user", reason="add", insist=insist)
            )

    return run_sync(work)


def edit(root: Path, given: Given, *, user: bool) -> int:
    """Change a record; exit status 1 when it is refused.

    Raises:
        NotFound: there is no such record.
        RecordConflict: it was changed while it was edited; both texts are told.
    """

    async def work() -> int:
        async with opened(root, user=user) as memory:
            store = memory.store
            found = await _found(store, given.name)
            record, body = found.record, given.text
            description = given.description
            if body is None and description is None and given.type is None:
                edited = _in_editor(f"{record.description}\n\n{record.body}\n")
                description, _, body = edited.strip("\n").partition("\n")
            if description is None and body is not None and _heads(record.description, record.body):
                description = _first_line(body)
            candidate = Candidate(
                name=record.name,
                description=record.description if description is None else description,
                type=given.type or record.type,
                body=record.body if body is None else body.strip("\n"),
                scope="persistent",
                subject=record.subject,
                expires=record.expires,
                aliases=record.aliases,
                applies_to=record.applies_to,
                supersedes=record.supersedes,
                always=record.always,
                file=found.file,
                evidence=Evidence(origin="owner"),
            )
            return _told(
                await store.offer(
                    [candidate],
                    actor="user",
                    reason="edit",
                    insist=True,
                    expected={found.file: found.sha256},
                )
            )

    return run_sync(work)


def search(root: Path, query: str, *, most: int, explain: bool, user: bool, json: bool) -> int:
    """Find records by words; exit status 1 when none answers."""

    async def work() -> int:
        async with opened(root, user=user) as memory:
            await memory.search.sync()
            hits = memory.search.rank(query, most)
            rows = [
                {
                    **_row(memory.store, memory.store.entries[hit.file]),
                    "strength": round(hit.strength, 3),
                    "matched": list(hit.matched),
                    **({"why": memory.search.explain(query, hit.file)} if explain else {}),
                }
                for hit in hits
            ]
        if json:
            put_json(rows)
        for row in () if json else rows:
            put(plain(f"{row['strength']:.2f}  {row['name']}: {row['description']}") + "\n")
            for line in str(row.get("why", "")).splitlines():
                put(f"      {plain(line)}\n")
        if not rows and not json:
            say("no record answers that")
        return 0 if rows else 1

    return run_sync(work)


def forget_record(root: Path, name: str, *, reason: str, user: bool) -> None:
    """Delete a record, leaving a tombstone.

    Raises:
        NotFound: there is no such record.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            written = await forget(memory.store, name, reason=reason)
        put(
            f"forgotten: {', '.join(written.files)}; wayfare memory undo {written.tx} takes it back\n"
        )

    run_sync(work)


def redact_record(root: Path, name: str, *, user: bool) -> None:
    """Delete a record and take its text out of the journal.

    Raises:
        NotFound: neither a record nor the journal knows it.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            count = await redact(memory.store, name)
            await memory.search.leave_no_trace()
        put(
            f"redacted: {plain(name)}; its text was taken out of {counted(count, 'journal line')}\n"
        )

    run_sync(work)


def show_log(root: Path, *, rejected: bool, last: int, user: bool, json: bool) -> None:
    """Print what happened, the newest first."""

    async def work() -> None:
        async with opened(root, user=user) as memory:
            _put_happenings(
                await log(memory.store, last=max(0, last), rejected=rejected), json=json
            )

    run_sync(work)


def show_history(root: Path, name: str, *, user: bool, json: bool) -> None:
    """Print what happened to one record, oldest first.

    Raises:
        NotFound: nothing is known of it.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            found = await history(memory.store, name)
        if not found:
            raise NotFound(f"nothing is known of a record {name!r}", ref=name)
        _put_happenings(found, json=json)

    run_sync(work)


def show_diff(root: Path, change: str, *, user: bool) -> None:
    """Print a change as a unified diff.

    Raises:
        NotFound: there is no such change.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            text = await diff(memory.store, change)
        put("".join(f"{plain(line)}\n" for line in text.splitlines()))

    run_sync(work)


def undo_change(root: Path, change: str, *, force: bool, user: bool) -> None:
    """Bring back what stood before.

    Raises:
        NotFound: there is no such change.
        RecordConflict: a record was changed since.
        RecordError: its text was redacted.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            written = await undo(memory.store, change, force=force)
        put(f"undone: {', '.join(written.files)} (transaction {written.tx})\n")

    run_sync(work)


async def _found(store: MemoryStore, name: str) -> RecordFile:
    found = await store.read(name) if store.folder.find(name) is not None else None
    if found is None:
        raise NotFound(f"there is no record {name!r}; wayfare memory list shows them", ref=name)
    return found


async def _searchable(memory: OpenMemory) -> None:
    """The search in step, so that near-twins are noticed."""
    await memory.search.sync()


def _first_line(body: str) -> str:
    """What describes a record whose owner gives no description."""
    return (body.strip().splitlines() or [""])[0][:_FIRST_CHARS]


def _heads(description: str, body: str) -> bool:
    """Whether a description was taken from the body, and so changes with it."""
    return description == _first_line(body)


def _told(offered: Offered) -> int:
    verdict = offered.verdicts[0]
    if verdict.writes:
        word = "stored" if verdict.outcome == "accept" else "updated"
        put(f"{word}: {verdict.file} ({offered.written.room})\n")
        return 0
    if verdict.outcome == "duplicate":
        put(f"{verdict.file} says it already; nothing was written\n")
        return 0
    say(f"wayfare: not stored: {verdict.detail} ({verdict.reason})")
    return 1


def _row(store: MemoryStore, entry: Entry) -> dict[str, Any]:
    changed = store.changed_at(entry)
    return {
        "file": entry.file,
        "name": entry.name,
        "type": entry.type,
        "description": entry.description,
        "changed": changed or None,
        "age": age(store.clock.now() - changed) if changed else "age unknown",
        "author": store.state.authors.get(entry.file, "external"),
        "expires": entry.expires,
        "always": entry.always,
    }


def _put_happenings(found: Sequence[Happening], *, json: bool) -> None:
    if json:
        return put_json([asdict(one) for one in found])
    for one in found:
        when = moment(one.at, zone=None)
        what = f"{one.what}{' (taken back)' if one.taken_back else ''}"
        facts = [one.detail or one.reason, one.session and f"session {one.session}", one.tx]
        rest = "; ".join(fact for fact in facts if fact)
        line = f"{one.number:5}  {when}  {one.actor or '-':12} {what}: {one.file or one.name}"
        put(plain(f"{line}  {rest}") + "\n")
    if not found:
        say("nothing yet")


def _in_editor(text: str) -> str:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        other = "set EDITOR" if not editor else "run it in a terminal, where EDITOR can open"
        raise typer.BadParameter(
            f"say what changes (--body, --description, --type), or {other}", param_hint="NAME"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.md"
        path.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(path)], check=True)
        return path.read_text(encoding="utf-8")
