"""What one query reads from the index on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec.msgpack import Decoder

from wayfare.lexical.scoring import Corpus, Entry
from wayfare.lexical.search import best_of

ROWS_ORDERED = 2_000
"""Postings FTS5 is asked to order for one query, rare words first. On 20,000 documents 96 % of the
five best are then those of an exhaustive ranking, on 10,000 99 %; twice as many give 99 % on
20,000 for a third more time."""
CONFINED_LOADED = 3_000
"""Documents within a parent up to which a confined query looks at every one of them; in more it
uses the frequencies of the whole index."""

decode_counts = Decoder(dict[str, float]).decode


class Stored:
    """The documents of one query, as `search.Source` asks for them.

    Args:
        db: Inside a transaction, so that all reads see one state.
        within: Keys and parents the query is confined to; None for all documents.
    """

    def __init__(self, db: sqlite3.Connection, within: Collection[str] | None = None) -> None:
        self._db = db
        self._within = within

    def corpus(self, words: Collection[str]) -> Corpus:
        inside = self._inside
        if inside is not None:
            length = sum(entry.length for entry in inside.values())
            return Corpus(
                documents=len(inside),
                mean_length=length / len(inside) if inside else 0.0,
                frequencies={
                    word: sum(word in entry.counts for entry in inside.values()) for word in words
                },
            )
        ((documents, length),) = self._rows("SELECT documents, length FROM totals")
        return Corpus(
            documents=documents,
            mean_length=length / documents if documents else 0.0,
            frequencies=self._frequencies(words),
        )

    def starting_with(self, head: str) -> Iterable[str]:
        found = self._rows(
            "SELECT word FROM words WHERE word >= ? AND word < ?", head, head + "\U0010ffff"
        )
        return [word for (word,) in found]

    def shortlist(self, gains: Mapping[str, float], count: int) -> list[int]:
        if not gains:
            return []
        if self._inside is not None:
            return best_of(self._inside, gains, count)
        frequencies = self._frequencies(gains)
        chosen: list[str] = []
        planned = 0
        for word in sorted(gains, key=lambda word: (-gains[word], word)):
            planned += frequencies.get(word, 0)
            if chosen and planned > ROWS_ORDERED:
                break
            chosen.append(word)
        found = self._rows(
            "SELECT rowid FROM postings WHERE postings MATCH ? "
            f"{self._confined('rowid')} ORDER BY rank LIMIT ?",
            " OR ".join(f'"{word}"' for word in chosen),
            count,
        )
        return [number for (number,) in found]

    def entries(self, numbers: Collection[int]) -> dict[int, Entry]:
        if self._inside is not None:
            return {number: self._inside[number] for number in numbers if number in self._inside}
        return self._entries(
            f"WHERE number IN ({_marks(numbers)}) {self._confined('number')}", *numbers
        )

    def around(self, numbers: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        nearest = (
            "SELECT other.number FROM documents AS other WHERE other.parent = this.parent "
            "AND other.place IS NOT NULL AND (other.place, other.key) {side} "
            "(this.place, this.key) ORDER BY other.place {way}, other.key {way} LIMIT 1"
        )
        found = self._rows(
            f"SELECT number, ({nearest.format(side='<', way='DESC')}), "
            f"({nearest.format(side='>', way='ASC')}) FROM documents AS this "
            f"WHERE number IN ({_marks(numbers)}) AND place IS NOT NULL",
            *numbers,
        )
        return {number: (before, after) for number, before, after in found}

    @cached_property
    def _inside(self) -> dict[int, Entry] | None:
        """All documents a confined query may give; None when it is not confined or they are many.

        Of many the numbers stand in the connection's own table `inside`.
        """
        if self._within is None:
            return None
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS inside (number INTEGER PRIMARY KEY)")
        self._db.execute("DELETE FROM inside")
        self._db.executemany(
            "INSERT OR IGNORE INTO inside SELECT number FROM documents "
            "WHERE key = ? UNION SELECT number FROM documents WHERE parent = ?",
            ((name, name) for name in self._within),
        )
        ((many,),) = self._rows("SELECT count(*) FROM inside")
        return None if many > CONFINED_LOADED else self._entries("JOIN inside USING (number)")

    def _confined(self, column: str) -> str:
        return "" if self._within is None else f"AND {column} IN (SELECT number FROM inside)"

    def _frequencies(self, words: Collection[str]) -> dict[str, int]:
        return dict(
            self._rows(f"SELECT word, documents FROM words WHERE word IN ({_marks(words)})", *words)
        )

    def _entries(self, condition: str, *values: object) -> dict[int, Entry]:
        found = self._rows(
            "SELECT number, key, length, parent, place, words FROM documents "
            f"JOIN counts USING (number) {condition}",
            *values,
        )
        return {
            number: Entry(
                key=key, counts=decode_counts(words), length=length, parent=parent, order=place
            )
            for number, key, length, parent, place, words in found
        }

    def _rows(self, sql: str, *values: object) -> list[Any]:
        return self._db.execute(sql, values).fetchall()


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))
