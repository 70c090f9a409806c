"""The records as a folder holds them: read once, then only what a stamp says has changed."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from wayfare.errors import NotFound
from wayfare.memory.gate import Existing, Known, Tombstone
from wayfare.memory.journal import JournalState
from wayfare.memory.likeness import fingerprint
from wayfare.memory.record import RecordFile, read_date, read_record
from wayfare.memory.slug import fold, is_record_file, name_key
from wayfare.store import Docs

BODIES_CHARS = 16_000_000
"""So much text that was just read is held for the search index, which would read it again."""

_STAMP = re.compile(r"^\d+-(\d{16,20})-\d+$")
_NUMBER = re.compile(r"(\d+)")


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a record in memory: everything but its body.

    `stamp` is the storage's, empty when the text is known but the file was not looked at since;
    `sha256` is empty for a file that is there and cannot be read.
    """

    file: str
    name: str
    description: str
    type: str
    sha256: str
    size_bytes: int
    stamp: str = ""
    subject: str = ""
    created: str = ""
    updated: str = ""
    expires: str = ""
    aliases: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    always: bool = False
    rewritable: bool = True
    problems: tuple[str, ...] = ()
    description_print: str = ""
    body_print: str = ""

    @property
    def written(self) -> float:
        """When its text was written, as far as the record and the storage tell (unix seconds)."""
        day = read_date(self.updated) or read_date(self.created)
        if day is not None:
            return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        found = _STAMP.match(self.stamp)
        return int(found[1]) / 1e9 if found else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a look at the folder found changed: files read anew, files gone, files unreadable."""

    read: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def entry_of(found: RecordFile, stamp: str = "") -> Entry:
    """What is kept of a record that was read."""
    record = found.record
    return Entry(
        file=found.file,
        name=record.name,
        description=record.description,
        type=record.type,
        sha256=found.sha256,
        size_bytes=found.size_bytes,
        stamp=stamp,
        subject=record.subject,
        created=record.created,
        updated=record.updated,
        expires=record.expires,
        aliases=record.aliases,
        applies_to=record.applies_to,
        supersedes=record.supersedes,
        always=record.always,
        rewritable=found.rewritable,
        problems=tuple(p.code for p in found.problems),
        description_print=fingerprint(record.description),
        body_print=fingerprint(record.body),
    )


class Folder:
    """The entries of a folder, with the look-ups that every write needs, kept as they change."""

    def __init__(self, entries: Mapping[str, Entry] | None = None) -> None:
        self.entries: dict[str, Entry] = {}
        self._by_name = _Lookup()
        self._by_subject = _Lookup()
        self._by_description = _Lookup()
        self._by_body = _Lookup()
        self._files: list[tuple[tuple[str | int, ...], str]] = []
        self.folded: set[str] = set()
        """The folded file names, for finding one that is free."""
        self.revision = 0
        """Counts the changes; see `changed_since`."""
        self._bodies: dict[str, str] = {}
        self._bodies_chars = 0
        self._moved: dict[str, int] = {}
        for entry in (entries or {}).values():
            self._look_up(entry)
        self._files = sorted((natural(file), file) for file in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def put(self, entry: Entry, body: str | None = None) -> None:
        """Take an entry in, replacing the one of its file; its body is kept for `take_body`."""
        self.remove(entry.file)
        self._look_up(entry)
        if body is not None and self._bodies_chars + len(body) <= BODIES_CHARS:
            self._bodies[entry.file] = body
            self._bodies_chars += len(body)
        insort(self._files, (natural(entry.file), entry.file))
        self._move(entry.file)

    def remove(self, file: str) -> None:
        """Leave a file out; nothing happens when it is not there."""
        entry = self.entries.pop(file, None)
        if entry is None:
            return
        self.take_body(file)
        self._by_name.drop(name_key(entry.name), file)
        self._by_subject.drop(name_key(entry.subject), file)
        self._by_description.drop(entry.description_print, file)
        self._by_body.drop(entry.body_print, file)
        self._files.pop(bisect_left(self._files, (natural(file), file)))
        self.folded.discard(fold(file))
        self._move(file)

    def changed_since(self, revision: int) -> list[str]:
        """The files that came, changed or went since `revision` was the count, newest first."""
        found: list[str] = []
        for file, at in reversed(self._moved.items()):
            if at <= revision:
                break
            found.append(file)
        return found

    def take_body(self, file: str) -> str | None:
        """The body of a record that was just read, once; None when it must be read again."""
        body = self._bodies.pop(file, None)
        self._bodies_chars -= len(body or "")
        return body

    def drop_bodies(self) -> None:
        """Let go of the bodies nobody took."""
        self._bodies.clear()
        self._bodies_chars = 0

    def _look_up(self, entry: Entry) -> None:
        self.entries[entry.file] = entry
        self._by_name.add(name_key(entry.name), entry.file)
        if entry.subject:
            self._by_subject.add(name_key(entry.subject), entry.file)
        self._by_description.add(entry.description_print, entry.file)
        self._by_body.add(entry.body_print, entry.file)
        self.folded.add(fold(entry.file))

    def _move(self, file: str) -> None:
        self.revision += 1
        self._moved.pop(file, None)
        self._moved[file] = self.revision

    def in_order(self) -> list[Entry]:
        """All entries by file name, numbers in them by their value."""
        return [self.entries[file] for _, file in self._files]

    def find(self, name: str) -> Entry | None:
        """The record of a name, of a file name with or without suffix, or of a link to it."""
        bare = name.strip()
        for file in (bare, f"{bare}.md"):
            if file in self.entries:
                return self.entries[file]
        named = self._by_name.get(name_key(bare.removesuffix(".md")))
        return None if named is None else self.entries[named]

    def existing(self, journal: JournalState, similar: Mapping[str, str] | None = None) -> Existing:
        """The folder as the gate sees it."""
        stones = [
            Tombstone(
                file=file,
                name=stone.name,
                subject=stone.subject,
                description_print=stone.description_print,
                body_print=stone.body_print,
                at=at,
            )
            for file, (at, stone) in journal.stones.items()
        ]
        return Existing(
            by_file=_KnownRecords(self.entries, journal),
            by_name=self._by_name,
            by_subject=self._by_subject,
            by_description=self._by_description,
            by_body=self._by_body,
            tombstones=stones,
            similar=dict(similar or {}),
        )

    async def look(self, docs: Docs) -> Seen:
        """Compare stamps with the storage and read what differs.

        Raises:
            NotFound: the folder is there and cannot be listed.
        """
        stamps = {f"{name}.md": stamp for name, stamp in (await docs.stamps()).items()}
        stamps = {file: stamp for file, stamp in stamps.items() if is_record_file(file)}
        gone = [file for file in self.entries if file not in stamps]
        for file in gone:
            self.remove(file)
        read: list[str] = []
        unreadable: list[str] = []
        for file, stamp in stamps.items():
            present = self.entries.get(file)
            if present is not None and present.stamp == stamp:
                continue
            content = await read_file(docs, file)
            if content is None:
                unreadable.append(file)
                self.put(_unreadable(file, stamp))
                continue
            record = read_record(file, content)
            found = entry_of(record, stamp)
            if present is None or present.sha256 != found.sha256:
                read.append(file)
                self.put(found, record.record.body)
            else:
                self.put(found)
        return Seen(read=tuple(read), gone=tuple(gone), unreadable=tuple(unreadable))


async def read_file(docs: Docs, file: str) -> bytes | None:
    """A record file's bytes; None when it is gone or cannot be read."""
    try:
        return await docs.read(file.removesuffix(".md"))
    except NotFound:
        return None


def _unreadable(file: str, stamp: str) -> Entry:
    return Entry(
        file=file,
        name=file.removesuffix(".md"),
        description="(cannot be read)",
        type="project",
        sha256="",
        size_bytes=0,
        stamp=stamp,
        rewritable=False,
        problems=("unreadable",),
    )


def natural(file: str) -> tuple[str | int, ...]:
    """A sort key by which `m9` comes before `m10`."""
    parts: list[str | int] = [*_NUMBER.split(file)]
    for at in range(1, len(parts), 2):
        parts[at] = int(str(parts[at])[:18])
    return tuple(parts)


class _Lookup(Mapping[str, str]):
    """From a key to the file that has it; of several files the first in order."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def add(self, key: str, file: str) -> None:
        if key in self._files:
            insort(self._files[key], file)
        elif key:
            self._files[key] = [file]

    def drop(self, key: str, file: str) -> None:
        files = self._files.get(key)
        if files and file in files:
            files.remove(file)
            if not files:
                del self._files[key]

    def __getitem__(self, key: str) -> str:
        return self._files[key][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class _KnownRecords(Mapping[str, Known]):
    """Entries with what the journal knows about them, made when they are asked for."""

    def __init__(self, entries: Mapping[str, Entry], journal: JournalState) -> None:
        self._entries = entries
        self._journal = journal

    def __getitem__(self, file: str) -> Known:
        entry = self._entries[file]
        return Known(
            file=file,
            name=entry.name,
            description=entry.description,
            type=entry.type,
            subject=entry.subject,
            description_print=entry.description_print,
            body_print=entry.body_print,
            changed=self._journal.changed.get(file, 0.0),
            edited=self._journal.edited.get(file, 0.0),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
