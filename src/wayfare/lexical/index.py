"""The search index on disk: derived from the documents, thrown away and rebuilt at will.

SQLite with FTS5. FTS5 is fed the words of `tokens`, finds the documents that have the rare words
of a query and puts them in a rough order; the ranking of `scoring` then decides among the best.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.msgpack import Encoder

from wayfare.lexical.documents import Document, Explanation, Hit, entry_of
from wayfare.lexical.index_file import IndexFile
from wayfare.lexical.search import explain, find
from wayfare.lexical.stored import Stored, decode_counts

_encode_counts = Encoder().encode


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
        busy_seconds: How long a write waits for another process before it fails.

    Raises:
        StoreError: The file cannot be opened or made. Every method raises it when the file turns
            out to be damaged (it is then empty and must be filled again) or cannot be used now.
    """

    def __init__(self, path: Path | str, *, busy_seconds: float = 5.0) -> None:
        self._file = IndexFile(path, busy_seconds=busy_seconds)

    def close(self) -> None:
        """Close the file; the index cannot be used any more."""
        self._file.close()

    def __enter__(self) -> LexicalIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._file.reading() as db:
            return int(db.execute("SELECT documents FROM totals").fetchone()[0])

    def stale(self, digests: Mapping[str, str]) -> Stale:
        """What must be put and removed so that the index holds these documents.

        Args:
            digests: Digest of every document by key, as later given to `put`: any text that
                changes when the document does, so that unchanged files need not be read.
        """
        with self._file.reading() as db:
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
        """
        written = 0
        change = _Change()
        with self._file.writing() as db:
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
        """
        removed = 0
        change = _Change()
        with self._file.writing() as db:
            for key in keys:
                found = db.execute("SELECT number FROM documents WHERE key = ?", (key,)).fetchone()
                if found:
                    _take_out(db, found[0], change)
                    removed += 1
            change.apply(db)
        return removed

    def leave_no_trace(self) -> None:
        """Make the file hold no word of what was removed. Slow: it is written anew."""
        with self._file.writing() as db:
            db.execute("INSERT INTO postings (postings) VALUES ('optimize')")
        self._file.compact()

    def rank(
        self,
        query: str,
        limit: int = 10,
        *,
        within: Collection[str] | None = None,
        floor: float = 0.0,
        surroundings: bool = True,
    ) -> list[Hit]:
        """The best documents for a query; see `Ranking.rank`."""
        with self._file.reading() as db:
            return find(
                Stored(db, within), query, limit=limit, floor=floor, surroundings=surroundings
            )

    def explain(self, query: str, key: str) -> Explanation | None:
        """Why a document came up or did not; None when there is no such document."""
        with self._file.reading() as db:
            found = db.execute("SELECT number FROM documents WHERE key = ?", (key,)).fetchone()
            return explain(Stored(db), query, found[0]) if found else None


class _Change:
    """What one transaction does to the sums, gathered to be written once."""

    def __init__(self) -> None:
        self.documents = 0
        self.length = 0.0
        self.words: Counter[str] = Counter()

    def apply(self, db: sqlite3.Connection) -> None:
        db.executemany(
            "INSERT INTO words VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET documents = documents + excluded.documents",
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
    db.execute("INSERT INTO counts VALUES (?, ?)", (number, _encode_counts(entry.counts)))
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
    counts = decode_counts(words)
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
