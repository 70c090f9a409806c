"""How time grows with the number of documents, in memory and on disk."""

from __future__ import annotations

import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.recall.sets import Collection
from wayfare.lexical import Document, LexicalIndex, Ranking

SEED = 7
QUERIES_TIMED = 200
WRITES_TIMED = 20


def scale(
    collection: Collection,
    sizes: Sequence[int],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> list[dict[str, Any]]:
    """Two rows for each size: seconds to fill, milliseconds to open, to write one, to ask.

    The documents are made of the set's own sentences, mixed anew, with a number of their own, so
    that frequencies of words stay those of real text; the queries are the set's.
    """
    sentences = [
        sentence.strip()
        for text in collection.documents
        for sentence in re.split(r"(?<=[.!?。！？])\s*|\n+", text.whole)
        if len(sentence.strip()) > 8
    ]
    chance = random.Random(SEED)
    queries = [query.query for query in collection.queries]
    queries = chance.sample(queries, min(QUERIES_TIMED, len(queries)))
    rows: list[dict[str, Any]] = []
    for size in sizes:
        documents = [_mixed(chance, sentences, number) for number in range(size)]
        rows.append(_in_memory(documents, queries, clock))
        with tempfile.TemporaryDirectory() as folder:
            rows.append(_on_disk(documents, queries, Path(folder) / "search.sqlite", clock))
    return rows


def _mixed(chance: random.Random, sentences: Sequence[str], number: int) -> Document:
    name, description, *body = chance.choices(sentences, k=6)
    return Document(
        key=f"record-{number}",
        name=" ".join(name.split()[:4])[:40],
        description=description[:150],
        body=f"{' '.join(body)} ref{number}",
    )


def _in_memory(
    documents: Sequence[Document], queries: Sequence[str], clock: Callable[[], float]
) -> dict[str, Any]:
    started = clock()
    ranking = Ranking(documents)
    filled = clock() - started
    return {
        "documents": len(documents),
        "held_in": "memory",
        "fill_seconds": round(filled, 3),
        "open_ms": 0.0,
        "write_ms": _median_ms([lambda d=d: ranking.put(d) for d in _rewritten(documents)], clock),
        **_query_times(lambda query: ranking.rank(query), queries, clock),
    }


def _on_disk(
    documents: Sequence[Document], queries: Sequence[str], path: Path, clock: Callable[[], float]
) -> dict[str, Any]:
    started = clock()
    with LexicalIndex(path) as index:
        index.put(documents)
        filled = clock() - started
    digests = {document.key: document.digest for document in documents}
    started = clock()
    with LexicalIndex(path) as index:
        index.stale(digests)
        opened = clock() - started
        return {
            "documents": len(documents),
            "held_in": "disk",
            "fill_seconds": round(filled, 3),
            "open_ms": round(1000 * opened, 2),
            "write_ms": _median_ms(
                [lambda d=d: index.put([d]) for d in _rewritten(documents)], clock
            ),
            **_query_times(lambda query: index.rank(query), queries, clock),
        }


def _rewritten(documents: Sequence[Document]) -> list[Document]:
    return [
        Document(key=document.key, name=document.name, body=document.body + " rewritten")
        for document in documents[:WRITES_TIMED]
    ]


def _query_times(
    ask: Callable[[str], object], queries: Sequence[str], clock: Callable[[], float]
) -> dict[str, float]:
    times = sorted(_timed(lambda query=query: ask(query), clock) for query in queries)
    return {
        "query_ms_median": round(1000 * statistics.median(times), 3),
        "query_ms_95": round(1000 * times[int(0.95 * (len(times) - 1))], 3),
    }


def _median_ms(actions: Sequence[Callable[[], object]], clock: Callable[[], float]) -> float:
    return round(1000 * statistics.median(_timed(action, clock) for action in actions), 3)


def _timed(action: Callable[[], object], clock: Callable[[], float]) -> float:
    started = clock()
    action()
    return clock() - started
