"""The search index on disk: derived from the documents, thrown away and rebuilt at will.

SQLite with FTS5. FTS5 is fed the words of `tokens`, finds the documents that have the rare words
of a query and puts them in a rough order; the ranking of `scoring` then decides among the best.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

from msgspec.msgpack import Decoder, Encoder

from wayfare.errors import StoreError
from wayfare.lexical.documents import Document, Explanation, Hit, entry_of
from wayfare.lexical.scoring import Corpus, Entry
from wayfare.lexical.search import best_of, explain, find

VERSION = 1
"""Of the tables and of how text is split; an index with another one is emptied on opening."""
ROWS_ORDERED = 1_500
"""Postings FTS5 is asked to order for one query, rare words first. On 10,000 documents 99 % of
the five best are those of an exhaustive ranking; with twice as many, 100 %, for 0.5 to 1.6 ms."""
CONFINED_LOADED = 3_000
"""Documents within a parent up to which a confined query looks at every one of them; in more it
uses the frequencies of the whole index."""
BUSY_SECONDS = 5.0
"""How long a write waits for another process."""

_encode = Encoder().encode
_decode = Decoder(dict[str, float]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """What an index must be told to agree with the documents.

    Attributes:
        changed: Keys whose document is missing in the index or has another digest there.
        gone: Keys in the index that have no document any more.
    """

    changed: frozenset[str]
    gone: frozenset[str]


class LexicalIndex:
    """Ranks documents for queries as `Ranking` does, from a file instead of memory.

    Only derived data is in it. A damaged file, or one of another version, is emptied on opening,
    and `stale` then names everything. Several processes may read while one writes.

    Args:
        path: The SQLite file, made with its folder when missing; `":memory:"` for none.

    Raises:
        StoreError: The file cannot be opened or made.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self._lock = RLock()
        self._confined: tuple[bool, dict[int, Entry]] | None = None
        try:
            self._db = self._open()
        except (sqlite3.Error, OSError) as failure:
            raise StoreError(f"The search index {path} cannot be opened: {failure}") from failure

    def close(self) -> None:
        """Close the file; the index cannot be used any more."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> LexicalIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._one("SELECT documents FROM totals")[0])

    def stale(self, digests: Mapping[str, str]) -> Stale:
        """What must be put and removed so that the index holds these documents.

        Args:
            digests: Digest of every document by key, as later given to `put`: any text that
                changes when the document does, so that unchanged files need not be read.
        """
        with self._reading() as db:
            known = dict(db.execute("SELECT key, digest FROM documents"))
        return Stale(
            changed=frozenset(key for key in digests if known.get(key) != digests[key]),
            gone=frozenset(known.keys() - digests.keys()),
        )

    def put(
        self, documents: Iterable[Document], *, digests: Mapping[str, str] | None = None
    ) -> int:
        """Add documents, or replace those with their keys, in one transaction.

        Args:
            documents: Those with an unchanged digest are skipped.
            digests: Digest by key; `Document.digest` where none is given.

        Returns:
            How many were written.

        Raises:
            StoreError: The disk refused, or another process held the file too long.
        """
        written = 0
        change = _Change()
        with self._writing() as db:
            for document in documents:
                digest = (digests or {}).get(document.key) or document.digest
                found = db.execute(
                    "SELECT number, digest FROM documents WHERE key = ?", (document.key,)
                ).fetchone()
                if found and found[1] == digest:
                    continue
                if found:
                    _take_out(db, found[0], change)
                _put_in(db, document, digest, change)
                written += 1
            change.apply(db)
        return written

    def remove(self, keys: Iterable[str]) -> int:
        """Take documents out; keys that are not there are no error.

        Returns:
            How many were there.

        Raises:
            StoreError: As for `put`.
        """
        removed = 0
        change = _Change()
        with self._writing() as db:
            for key in keys:
                found = db.execute("SELECT number FROM documents WHERE key = ?", (key,)).fetchone()
                if found:
                    _take_out(db, found[0], change)
                    removed += 1
            change.apply(db)
        return removed

    def rank(
        self,
        query: str,
        limit: int = 10,
        *,
        within: Collection[str] | None = None,
        floor: float = 0.0,
        surroundings: bool = True,
    ) -> list[Hit]:
        """The best documents for a query; see `Ranking.rank`.

        Raises:
            StoreError: The file is damaged; it was emptied and must be filled again.
        """
        with self._reading():
            self._confined = None
            return find(
                self, query, limit=limit, within=within, floor=floor, surroundings=surroundings
            )

    def explain(self, query: str, key: str) -> Explanation | None:
        """Why a document came up or did not; None when there is no such document.

        Raises:
            StoreError: As for `rank`.
        """
        with self._reading() as db:
            self._confined = None
            found = db.execute("SELECT number FROM documents WHERE key = ?", (key,)).fetchone()
            return explain(self, query, found[0]) if found else None

    # What `search.Source` asks for.

    def corpus(self, words: Collection[str], within: Collection[str] | None) -> Corpus:
        inside = self._inside(within)
        if inside is not None:
            length = sum(entry.length for entry in inside.values())
            return Corpus(
                documents=len(inside),
                mean_length=length / len(inside) if inside else 0.0,
                frequencies={
                    word: sum(word in entry.counts for entry in inside.values()) for word in words
                },
            )
        documents, length = self._one("SELECT documents, length FROM totals")
        return Corpus(
            documents=documents,
            mean_length=length / documents if documents else 0.0,
            frequencies=self._frequencies(words),
        )

    def starting_with(self, head: str) -> Iterable[str]:
        found = self._all(
            "SELECT word FROM words WHERE word >= ? AND word < ?", head, head + "\U0010ffff"
        )
        return [word for (word,) in found]

    def shortlist(
        self, gains: Mapping[str, float], count: int, within: Collection[str] | None
    ) -> list[int]:
        if not gains:
            return []
        inside = self._inside(within)
        if inside is not None:
            return best_of(inside, gains, count)
        frequencies = self._frequencies(gains)
        chosen: list[str] = []
        planned = 0
        for word in sorted(gains, key=lambda word: (-gains[word], word)):
            planned += frequencies.get(word, 0)
            if chosen and planned > ROWS_ORDERED:
                break
            chosen.append(word)
        confined = ""
        if within is not None:
            confined = "AND rowid IN (SELECT number FROM inside) "
        found = self._all(
            f"SELECT rowid FROM postings WHERE postings MATCH ? {confined}ORDER BY rank LIMIT ?",
            " OR ".join(_quoted(word) for word in chosen),
            count,
        )
        return [number for (number,) in found]

    def entries(self, numbers: Collection[int]) -> dict[int, Entry]:
        if self._confined and not self._confined[0]:
            known = self._confined[1]
            return {number: known[number] for number in numbers if number in known}
        return self._entries(f"WHERE number IN ({_marks(numbers)})", *numbers)

    def around(self, numbers: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        nearest = (
            "SELECT other.number FROM documents AS other WHERE other.parent = this.parent "
            "AND other.place IS NOT NULL AND (other.place, other.number) {side} "
            "(this.place, this.number) ORDER BY other.place {way}, other.number {way} LIMIT 1"
        )
        found = self._all(
            f"SELECT number, ({nearest.format(side='<', way='DESC')}), "
            f"({nearest.format(side='>', way='ASC')}) FROM documents AS this "
            f"WHERE number IN ({_marks(numbers)}) AND place IS NOT NULL",
            *numbers,
        )
        return {number: (before, after) for number, before, after in found}

    def _frequencies(self, words: Collection[str]) -> dict[str, int]:
        return dict(
            self._all(f"SELECT word, documents FROM words WHERE word IN ({_marks(words)})", *words)
        )

    def _entries(self, condition: str, *values: object) -> dict[int, Entry]:
        found = self._all(
            "SELECT number, key, length, parent, place, words FROM documents "
            f"JOIN counts USING (number) {condition}",
            *values,
        )
        return {
            number: Entry(key=key, counts=_decode(words), length=length, parent=parent, order=place)
            for number, key, length, parent, place, words in found
        }

    def _inside(self, within: Collection[str] | None) -> dict[int, Entry] | None:
        """All documents a confined query may give; None when it is not confined or they are many.

        Of many (more than `CONFINED_LOADED`) the numbers stand in the table `inside`.
        """
        if within is None:
            return None
        if self._confined is None:
            db = self._db
            db.execute("CREATE TEMP TABLE IF NOT EXISTS inside (number INTEGER PRIMARY KEY)")
            db.execute("DELETE FROM inside")
            db.executemany(
                "INSERT OR IGNORE INTO inside SELECT number FROM documents "
                "WHERE key = ?1 UNION SELECT number FROM documents WHERE parent = ?1",
                ((name,) for name in within),
            )
            many = self._one("SELECT count(*) FROM inside")[0] > CONFINED_LOADED
            self._confined = (many, {} if many else self._entries("JOIN inside USING (number)"))
        many, entries = self._confined
        return None if many else entries

    # The file.

    def _open(self) -> sqlite3.Connection:
        if str(self.path) != ":memory:":
            path = Path(self.path)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            return self._connect()
        except sqlite3.DatabaseError as failure:
            if type(failure) is not sqlite3.DatabaseError:
                raise
            self._discard()
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # Derived data: a power cut may lose the last writes, which `stale` then names.
            db.execute("PRAGMA synchronous = NORMAL")
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                self._create(db)
            db.execute("SELECT documents FROM totals").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            for kind in ("postings", "totals", "words", "counts", "documents"):
                db.execute(f"DROP TABLE IF EXISTS {kind}")
            schema = files("wayfare.lexical").joinpath("schema.sql").read_text(encoding="utf-8")
            for statement in schema.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def _discard(self) -> None:
        if str(self.path) == ":memory:":
            return
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection, None, None]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.DatabaseError as failure:
                raise self._failed(failure) from failure

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection, None, None]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.DatabaseError as failure:
                raise self._failed(failure) from failure

    def _failed(self, failure: sqlite3.DatabaseError) -> StoreError:
        """What to raise; a damaged file is emptied, one that is busy or full is not."""
        if type(failure) is not sqlite3.DatabaseError:
            return StoreError(f"The search index {self.path} cannot be used now: {failure}")
        self._db.close()
        self._discard()
        self._db = self._connect()
        return StoreError(
            f"The search index {self.path} was damaged and is now empty; fill it again: {failure}"
        )

    def _one(self, sql: str, *values: object) -> Any:
        return self._db.execute(sql, values).fetchone()

    def _all(self, sql: str, *values: object) -> list[Any]:
        return self._db.execute(sql, values).fetchall()


class _Change:
    """What one transaction does to the sums, gathered to be written once."""

    def __init__(self) -> None:
        self.documents = 0
        self.length = 0.0
        self.words: Counter[str] = Counter()

    def apply(self, db: sqlite3.Connection) -> None:
        db.executemany(
            "INSERT INTO words VALUES (?1, ?2) "
            "ON CONFLICT DO UPDATE SET documents = documents + ?2",
            ((word, count) for word, count in sorted(self.words.items()) if count),
        )
        db.executemany(
            "DELETE FROM words WHERE word = ? AND documents <= 0",
            ((word,) for word, count in sorted(self.words.items()) if count < 0),
        )
        db.execute(
            "UPDATE totals SET documents = documents + ?, length = length + ?",
            (self.documents, self.length),
        )


def _put_in(db: sqlite3.Connection, document: Document, digest: str, change: _Change) -> None:
    entry = entry_of(document)
    number = db.execute(
        "INSERT INTO documents (key, digest, parent, place, length) VALUES (?, ?, ?, ?, ?)",
        (document.key, digest, document.parent, document.order, entry.length),
    ).lastrowid
    db.execute("INSERT INTO counts VALUES (?, ?)", (number, _encode(entry.counts)))
    db.execute(
        "INSERT INTO postings (rowid, words) VALUES (?, ?)", (number, _repeated(entry.counts))
    )
    change.documents += 1
    change.length += entry.length
    change.words.update(entry.counts.keys())


def _take_out(db: sqlite3.Connection, number: int, change: _Change) -> None:
    length, words = db.execute(
        "SELECT length, words FROM documents JOIN counts USING (number) WHERE number = ?",
        (number,),
    ).fetchone()
    counts = _decode(words)
    # A table without content forgets a row only when told what was in it.
    db.execute(
        "INSERT INTO postings (postings, rowid, words) VALUES ('delete', ?, ?)",
        (number, _repeated(counts)),
    )
    db.execute("DELETE FROM counts WHERE number = ?", (number,))
    db.execute("DELETE FROM documents WHERE number = ?", (number,))
    change.documents -= 1
    change.length -= length
    change.words.subtract(counts.keys())


def _repeated(counts: Mapping[str, float]) -> str:
    """Every word as often as it weighs, at most eight times: the rough order needs no more."""
    return " ".join(
        [
            word if count == 1.0 else " ".join([word] * min(max(round(count), 1), 8))
            for word, count in counts.items()
        ]
    )


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))
