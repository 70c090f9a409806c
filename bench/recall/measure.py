"""What is measured: where the documents that answer a question come in the results."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.recall.rankers import Ranker, rankers
from bench.recall.sets import Collection, Query
from wayfare.lexical import tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One ranker on one part of a set.

    Attributes:
        ranker: Its name.
        part: `all`, a language, a kind of query, or `no shared word`.
        queries: Queries that some document answers.
        hit_at_1: Share of them whose first result answers.
        recall_at_5: Mean share of their answers among the first five.
        recall_at_10: Among the first ten.
        parent_hit_at_1: Share whose first result stands in the right parent; None without parents.
        without_hit: How many of them got no result at all.
        unanswerable: Queries that nothing answers.
        kept_silent: How many of those got no result.
        ms_a_query: Mean milliseconds, over both sorts.
    """

    ranker: str
    part: str
    queries: int
    hit_at_1: float
    recall_at_5: float
    recall_at_10: float
    parent_hit_at_1: float | None
    without_hit: int
    unanswerable: int
    kept_silent: int
    ms_a_query: float


@dataclass(frozen=True, slots=True)
class _Result:
    query: Query
    ids: list[str]
    seconds: float


def measure(
    collection: Collection, *, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Any]:
    """Every ranker over a set, as plain values ready for JSON."""
    shared = [shares_a_word(collection, query) for query in collection.queries]
    rows: list[Row] = []
    for name, ranker in rankers(collection).items():
        results = _run(collection, ranker, clock)
        for part, chosen in _parts(collection.queries, shared).items():
            rows.append(_row(collection, name, part, [results[place] for place in chosen]))
    answerable = [place for place, query in enumerate(collection.queries) if query.relevant]
    return {
        "documents": len(collection.documents),
        "parents": len(collection.parents),
        "queries": len(collection.queries),
        "answerable": len(answerable),
        "sharing_no_word": sum(not shared[place] for place in answerable),
        "problems": list(collection.problems),
        "rows": [asdict(row) for row in rows],
    }


def _run(collection: Collection, ranker: Ranker, clock: Callable[[], float]) -> list[_Result]:
    results: list[_Result] = []
    warmed: set[frozenset[str] | None] = set()
    for query in collection.queries:
        inside = collection.inside(query)
        if inside not in warmed:
            # What is built for a group at its first query is not a query's cost.
            ranker(query.query, inside)
            warmed.add(inside)
        started = clock()
        ids = ranker(query.query, inside)
        results.append(_Result(query, ids, clock() - started))
    return results


def _parts(queries: Sequence[Query], shared: Sequence[bool]) -> dict[str, list[int]]:
    """Places of the queries in each part of the report, the whole first."""
    parts: dict[str, list[int]] = {"all": list(range(len(queries)))}
    for place, query in enumerate(queries):
        parts.setdefault(query.language, []).append(place)
    for place, query in enumerate(queries):
        if query.kind:
            parts.setdefault(query.kind, []).append(place)
        if query.relevant and not shared[place]:
            parts.setdefault("no shared word", []).append(place)
    whole = len(queries)
    return {
        part: places
        for part, places in parts.items()
        if part in ("all", "no shared word") or len(places) < whole
    }


def _row(collection: Collection, ranker: str, part: str, results: Sequence[_Result]) -> Row:
    answerable = [result for result in results if result.query.relevant]
    silent = [result for result in results if not result.query.relevant]
    return Row(
        ranker=ranker,
        part=part,
        queries=len(answerable),
        hit_at_1=_mean(_found(collection, result, 1) > 0 for result in answerable),
        recall_at_5=_mean(_found(collection, result, 5) for result in answerable),
        recall_at_10=_mean(_found(collection, result, 10) for result in answerable),
        parent_hit_at_1=_mean(_right_parent(collection, result) for result in answerable)
        if collection.parents
        else None,
        without_hit=sum(not result.ids for result in answerable),
        unanswerable=len(silent),
        kept_silent=sum(not result.ids for result in silent),
        ms_a_query=_mean(1000 * result.seconds for result in results),
    )


def _found(collection: Collection, result: _Result, depth: int) -> float:
    """Share of a query's answers among its first results; answers may be parents."""
    relevant = result.query.relevant
    ids = result.ids
    if not relevant <= collection.by_id.keys() and relevant & collection.parents:
        ids = _parents_of(collection, ids)
    return len(relevant & set(ids[:depth])) / len(relevant)


def _right_parent(collection: Collection, result: _Result) -> bool:
    right = {
        collection.by_id[name].parent if name in collection.by_id else name
        for name in result.query.relevant
    }
    first = _parents_of(collection, result.ids)[:1]
    return bool(first) and first[0] in right


def _parents_of(collection: Collection, ids: Iterable[str]) -> list[str]:
    """The parents of documents, each once, in their order."""
    found = (collection.by_id[name].parent for name in ids)
    return list(dict.fromkeys(parent for parent in found if parent is not None))


def shares_a_word(collection: Collection, query: Query) -> bool:
    """Whether a query has a content word in common with the name or text of an answer.

    Words are those of the ranking without stop words: stems, and pairs of characters where words
    are not divided; single characters and an answer's aliases do not count.
    """
    asked = _content(query.query)
    return any(
        asked & _content("\n".join((text.name, text.description, text.text)))
        for name in query.relevant
        for text in (collection.by_id.get(name),)
        if text is not None
    )


def _content(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 1 and not re.match(r"@", word)}


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return round(sum(kept) / len(kept), 4) if kept else 0.0
