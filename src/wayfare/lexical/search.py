"""From a query to hits, whatever holds the documents."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from wayfare.lexical.documents import Explanation, Hit
from wayfare.lexical.query import query_terms, rarest, with_likenesses
from wayfare.lexical.scoring import (
    NOTION_SHARE,
    Corpus,
    Entry,
    Fused,
    Scored,
    Scorer,
    Term,
    fuse,
    saturation_point,
)

ABSTAIN_BELOW = 0.2
"""Floor for recall: strength below which the best record is no answer. Calibrated where most of
what it silences is wrong anyway: on real memory folders it keeps all of 60 questions they answer
and is silent on half of 45 they do not; on the benchmark's own set it silences 7 % of what is
right at the first place, 80 % of what is not among five, and 79 % of what nothing answers."""
POOL = 50
"""Candidates scored exactly, at least three for each hit asked for. The rough order that picks
them differs from the exact one only in notions and surroundings; 400 give no better recall."""


class Source(Protocol):
    """The documents a query may give, all or some; numbers are its own names for them."""

    def corpus(self, words: Collection[str]) -> Corpus:
        """Their number and length, and the frequencies of these words."""
        ...

    def starting_with(self, head: str) -> Iterable[str]:
        """Known words with a beginning of three characters."""
        ...

    def shortlist(self, gains: Mapping[str, float], count: int) -> list[int]:
        """About the best `count` documents when a word is worth its gain."""
        ...

    def entries(self, numbers: Collection[int]) -> dict[int, Entry]:
        """What the ranking needs of these documents; those a query may not give are left out."""
        ...

    def around(self, numbers: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        """The documents before and after each in its parent."""
        ...


@dataclass(frozen=True, slots=True)
class _Outcome:
    terms: Sequence[Term]
    corpus: Corpus
    pool: Mapping[int, Scored]
    fused: Mapping[int, Fused]


def find(
    source: Source,
    query: str,
    *,
    limit: int,
    floor: float = 0.0,
    surroundings: bool = True,
) -> list[Hit]:
    """The best documents for a query, best first; see `Ranking.rank` for the arguments."""
    outcome = _search(source, query, count=max(POOL, 3 * limit), surroundings=surroundings)
    strongest = max((fused.strength for fused in outcome.fused.values()), default=0.0)
    if strongest < floor:
        return []
    cut = strongest / 2 if floor else 0.0
    best = sorted(
        (
            (fused, outcome.pool[number])
            for number, fused in outcome.fused.items()
            if fused.total > 0 and fused.strength >= cut
        ),
        key=lambda pair: (-pair[0].total, pair[1].entry.key),
    )
    return [
        Hit(
            key=scored.entry.key,
            score=fused.total,
            matched=tuple(sorted(scored.parts, key=lambda word: (-scored.parts[word], word))),
            strength=fused.strength,
        )
        for fused, scored in best[:limit]
    ]


def explain(source: Source, query: str, number: int) -> Explanation:
    """Why the document with this number came up for a query, or did not."""
    outcome = _search(source, query, always=(number,))
    scored, fused = outcome.pool[number], outcome.fused[number]
    missing = [term for term in outcome.terms if not term.covers and term.word not in scored.parts]
    missing.sort(key=lambda term: (-term.weight * outcome.corpus.idf(term.word), term.word))
    return Explanation(
        key=scored.entry.key,
        score=fused.total,
        own=fused.own,
        neighbour=fused.neighbour,
        parent=fused.parent,
        strength=fused.strength,
        parts=tuple(sorted(scored.parts.items(), key=lambda part: (-part[1], part[0]))),
        missing=tuple(term.word for term in missing),
    )


def _search(
    source: Source,
    query: str,
    *,
    count: int = POOL,
    surroundings: bool = True,
    always: Collection[int] = (),
) -> _Outcome:
    terms = query_terms(query)
    corpus = source.corpus({term.word for term in terms})
    terms = rarest(terms, corpus)
    terms = with_likenesses(terms, corpus, source.starting_with)
    if instead := {word for term in terms for word in term.instead}:
        more = source.corpus(instead).frequencies
        corpus = replace(corpus, frequencies={**corpus.frequencies, **more})
    scorer = Scorer(terms, corpus)
    numbers = source.shortlist(_gains(terms, corpus), count)
    pool = _scored(source, scorer, [*numbers, *always])
    around: dict[int, tuple[int | None, int | None]] = {}
    if surroundings and any(scored.entry.order is not None for scored in pool.values()):
        around = _mutual(source.around(pool.keys()))
        pool.update(_scored(source, scorer, around.keys() - pool.keys()))
    fused = (
        fuse(pool, around)
        if surroundings
        else {
            number: Fused(own=scored.own, strength=scored.strength)
            for number, scored in pool.items()
        }
    )
    return _Outcome(terms, corpus, pool, fused)


def _mutual(
    around: Mapping[int, tuple[int | None, int | None]],
) -> dict[int, tuple[int | None, int | None]]:
    """The neighbours of the neighbours too, as far as they are known from the other side."""
    before = {number: pair[0] for number, pair in around.items()}
    after = {number: pair[1] for number, pair in around.items()}
    for number, (previous, following) in around.items():
        if previous is not None:
            after.setdefault(previous, number)
        if following is not None:
            before.setdefault(following, number)
    return {
        number: (before.get(number), after.get(number)) for number in before.keys() | after.keys()
    }


def _scored(source: Source, scorer: Scorer, numbers: Collection[int]) -> dict[int, Scored]:
    entries = source.entries(numbers)
    return {number: scorer.score(entry) for number, entry in entries.items()}


def best_of(entries: Mapping[int, Entry], gains: Mapping[str, float], count: int) -> list[int]:
    """The best `count` of documents that are all at hand, when a word is worth its gain."""
    size = len(entries)
    mean_length = sum(entry.length for entry in entries.values()) / size if size else 0.0
    corpus = Corpus(documents=size, mean_length=mean_length, frequencies={})
    scores: dict[int, float] = {}
    for number, entry in entries.items():
        flat = saturation_point(entry.length, corpus)
        score = sum(
            gain * entry.counts[word] / (entry.counts[word] + flat)
            for word, gain in gains.items()
            if word in entry.counts
        )
        if score:
            scores[number] = score
    return heapq.nsmallest(count, scores, key=lambda number: (-scores[number], number))


def _gains(terms: Iterable[Term], corpus: Corpus) -> dict[str, float]:
    """What each word is worth for the rough order."""
    gains: dict[str, float] = {}
    for term in terms:
        share = NOTION_SHARE if term.covers else 1.0
        for word in (term.word, *term.instead):
            if corpus.frequencies.get(word):
                gain = share * term.weight * corpus.idf(word)
                gains[word] = max(gain, gains.get(word, 0.0))
    return gains
