"""What is compared: three usual ways, and ours."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from bench.recall.sets import Collection, Text
from wayfare.lexical import ABSTAIN_BELOW, Document, Ranking, turn

DEPTH = 50
"""Results asked for: more than the ten that count, so that parents can be read off them."""


class Ranker(Protocol):
    """Ids of the best documents, best first."""

    def __call__(self, query: str, inside: frozenset[str] | None) -> list[str]: ...


class Bm25:
    """Classic BM25 (k1 1.5, b 0.75) over whole texts, split in some plain way."""

    def __init__(self, texts: Sequence[Text], split: Callable[[str], list[str]]) -> None:
        self._split = split
        self._ids = [text.id for text in texts]
        counts = [Counter(split(text.whole)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
        self._flat = [1.5 * (0.25 + 0.75 * length / mean) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((place, times))

    def __call__(self, query: str) -> list[str]:
        scores: dict[int, float] = {}
        for word in set(self._split(query)):
            postings = self._postings.get(word, [])
            found = len(postings)
            idf = math.log(1 + (len(self._ids) - found + 0.5) / (found + 0.5))
            for place, times in postings:
                part = idf * times * 2.5 / (times + self._flat[place])
                scores[place] = scores.get(place, 0.0) + part
        best = sorted(scores, key=lambda place: (-scores[place], place))[:DEPTH]
        return [self._ids[place] for place in best]


class Trigrams:
    """SQLite FTS5 with its trigram tokenizer; a document needs any trigram of the query."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._ids = [text.id for text in texts]
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'trigram')")
        self._db.executemany(
            "INSERT INTO texts (rowid, text) VALUES (?, ?)",
            ((place, text.whole) for place, text in enumerate(texts)),
        )

    def __call__(self, query: str) -> list[str]:
        trigrams = {
            word[at : at + 3]
            for word in re.findall(r"\w+", query.lower())
            for at in range(len(word) - 2)
        }
        if not trigrams:
            return []
        match = " OR ".join(f'"{trigram}"' for trigram in sorted(trigrams))
        found = self._db.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH)
        )
        return [self._ids[place] for (place,) in found]


def split_on_spaces(text: str) -> list[str]:
    """Exactly what stands between blanks."""
    return text.split()


def plain_words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits."""
    return re.findall(r"\w+", text.lower())


def baseline(
    collection: Collection, build: Callable[[Sequence[Text]], Callable[[str], list[str]]]
) -> Ranker:
    """A ranker that is built once for every group queries are confined to."""
    built: dict[frozenset[str] | None, Callable[[str], list[str]]] = {}

    def rank(query: str, inside: frozenset[str] | None) -> list[str]:
        if inside not in built:
            built[inside] = build(
                [text for text in collection.documents if inside is None or text.id in inside]
            )
        return built[inside](query)

    return rank


def ours(collection: Collection, *, surroundings: bool, floor: float = 0.0) -> Ranker:
    """The ranking of wayfare, alone or with turns, neighbours and sessions fused."""
    ranking = Ranking(document(text) for text in collection.documents)

    def rank(query: str, inside: frozenset[str] | None) -> list[str]:
        hits = ranking.rank(query, DEPTH, within=inside, floor=floor, surroundings=surroundings)
        return [hit.key for hit in hits]

    return rank


def document(text: Text) -> Document:
    """A document of a set as wayfare takes it."""
    if text.parent is not None and text.order is not None:
        return turn(
            text.id,
            text.text,
            parent=text.parent,
            order=text.order,
            name=text.name,
            description=text.description,
        )
    return Document(
        key=text.id,
        body=text.text,
        name=text.name,
        aliases=text.aliases,
        description=text.description,
        parent=text.parent,
        order=text.order,
    )


def rankers(collection: Collection) -> dict[str, Ranker]:
    """Everything that is compared on a set, by the name in the report."""
    compared: dict[str, Ranker] = {
        "split on spaces": baseline(collection, lambda texts: Bm25(texts, split_on_spaces)),
        "plain BM25 words": baseline(collection, lambda texts: Bm25(texts, plain_words)),
        "FTS5 trigram": baseline(collection, Trigrams),
        "ours": ours(collection, surroundings=False),
    }
    if collection.has_turns:
        compared["ours, fused"] = ours(collection, surroundings=True)
    else:
        compared["ours, abstaining"] = ours(collection, surroundings=False, floor=ABSTAIN_BELOW)
    return compared
