"""The ranking itself, pure: a query against the word counts of candidates.

One formula for memory records, transcript turns and archived results. A source of documents (in
memory or on disk) only proposes candidates and knows how often words occur; what comes first is
decided here.

    own(d)   = sum over words t of  weight(t) * idf(t) * saturation(t, d)
               + for each notion of the query: what it adds beyond its own words
    fused(d) = own(d) + max(0.6 * own(turn before), 0.3 * own(turn after)) + 0.4 * parent(d)

BM25 over weighted fields after Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
weighted fields" (CIKM 2004): counts are weighted by field before they saturate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayfare.lexical.words import share_of_word

K1 = 1.2
"""How soon repetition stops counting; the usual value (Robertson and Zaragoza, 2009)."""
B = 0.4
"""How much length counts, 0 to 1. Anserini's default and not the classic 0.75: turns and records
are short, and 0.75 lifts one-line turns above the ones with the answer."""
BEFORE_SHARE = 0.6
"""Share of the preceding turn's score: an answer often stands right after its question."""
AFTER_SHARE = 0.3
"""Share of the following turn's score; only the larger of both neighbours counts."""
PARENT_SHARE = 0.4
"""Share of the parent's score: how much of the query the whole session covers."""
NOTION_SHARE = 0.5
"""What a word of the same notion is worth beside the word itself."""
LIKENESS_SHARE = 0.6
"""What a similar word is worth for a query word that occurs nowhere."""
STRENGTH_WORDS = 6
"""Words of a long query that a good answer is expected to have: a record answers one sentence of
a message, not all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a query must know of all documents.

    Attributes:
        documents: How many there are.
        mean_length: Mean weighted length in words.
        frequencies: In how many documents each word of the query occurs.
    """

    documents: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, word: str) -> float:
        """Robertson-Sparck Jones weight in the variant that is never negative (Lucene's).

        A word that occurs nowhere weighs what one that occurs once does: among few documents it
        would else outweigh everything, and a small folder never answer a long message.
        """
        count = max(self.frequencies.get(word, 0), 1)
        return math.log(1 + (self.documents - count + 0.5) / (count + 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One word of a query and what may stand in for it.

    Attributes:
        word: As `tokens` gives it.
        weight: How much it counts, 1 for a word said once.
        covers: For a notion, the query words that already stand for it.
        optional: Whether it is no loss when no document has it (two words read as one).
        instead: For a word that occurs nowhere, similar words that do.
    """

    word: str
    weight: float = 1.0
    covers: frozenset[str] = frozenset()
    optional: bool = False
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A candidate as the ranking sees it.

    Attributes:
        key: The document's key.
        counts: Weighted count of each of its words; a notion counts 1.
        length: Weighted length in words.
        parent: What it belongs to, as a turn to its session.
        order: Its place in the parent.
    """

    key: str
    counts: Mapping[str, float]
    length: float
    parent: str | None = None
    order: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its own score.

    Attributes:
        entry: The candidate.
        own: Its score without its surroundings.
        parts: The score by query word.
        strength: The score as a share of what six average words of the query (all of a shorter
            one) could give at most; between 0 and 1.
    """

    entry: Entry
    own: float
    parts: Mapping[str, float]
    strength: float


def saturation_point(length: float, corpus: Corpus) -> float:
    """The count at which a word has half of its greatest effect in a document of this length."""
    return K1 * (1 - B + B * length / (corpus.mean_length or 1.0))


class Scorer:
    """Scores candidates against one query.

    Args:
        terms: The query's words and notions.
        corpus: Frequencies of all of their words, stand-ins included.
    """

    def __init__(self, terms: Sequence[Term], corpus: Corpus) -> None:
        self._corpus = corpus
        self._words: list[tuple[str, float, tuple[tuple[str, float], ...]]] = []
        full: dict[str, float] = {}
        for term in terms:
            if not term.covers:
                full[term.word] = term.weight * corpus.idf(term.word)
                gain = LIKENESS_SHARE * term.weight
                instead = tuple((word, gain * corpus.idf(word)) for word in term.instead)
                self._words.append((term.word, full[term.word], instead))
        self._notions = [
            (
                term.word,
                term.weight * NOTION_SHARE * corpus.idf(term.word),
                term.covers,
            )
            for term in terms
            if term.covers
        ]
        words = sum(share_of_word(word) for word in full)
        share = min(STRENGTH_WORDS / words, 1.0) if words else 1.0
        self._most = share * sum(full.values()) * (K1 + 1)

    def score(self, entry: Entry) -> Scored:
        """The candidate's own score, without its surroundings."""
        counts = entry.counts
        flat = saturation_point(entry.length, self._corpus)
        parts: dict[str, float] = {}
        for word, full, instead in self._words:
            if count := counts.get(word):
                parts[word] = full * count * (K1 + 1) / (count + flat)
            elif instead:
                best = max(
                    gain * count * (K1 + 1) / (count + flat)
                    for other, gain in instead
                    for count in (counts.get(other, 0.0),)
                )
                if best:
                    parts[word] = best
        for notion, gain, covers in self._notions:
            if notion in counts:
                already = sum(parts.get(word, 0.0) for word in covers)
                more = gain * (K1 + 1) / (1 + flat) - already
                if more > 0:
                    parts[notion] = more
        own = sum(parts.values())
        strength = min(own / self._most, 1.0) if self._most else 0.0
        return Scored(entry=entry, own=own, parts=parts, strength=strength)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """What a document's surroundings add to its own score.

    Attributes:
        own: The document alone.
        neighbour: From the turn before or after it.
        parent: From the session it belongs to.
        strength: The larger strength of the document and the neighbour that counted.
    """

    own: float
    neighbour: float = 0.0
    parent: float = 0.0
    strength: float = 0.0

    @property
    def total(self) -> float:
        """The score that decides the order."""
        return self.own + self.neighbour + self.parent


def parent_scores(pool: Mapping[int, Scored]) -> dict[str, float]:
    """How much of the query each parent covers: for every word the best of its candidates."""
    best: dict[str, dict[str, float]] = {}
    for scored in pool.values():
        if scored.entry.parent is not None:
            words = best.setdefault(scored.entry.parent, {})
            for word, part in scored.parts.items():
                if part > words.get(word, 0.0):
                    words[word] = part
    return {parent: sum(words.values()) for parent, words in best.items()}


def fuse(
    pool: Mapping[int, Scored], around: Mapping[int, tuple[int | None, int | None]]
) -> dict[int, Fused]:
    """Scores with neighbours and parents fused in.

    Args:
        pool: Scored candidates by number, their neighbours included.
        around: For a candidate, the numbers of the turns before and after it.
    """
    parents = parent_scores(pool)
    fused: dict[int, Fused] = {}
    for number, scored in pool.items():
        before, after = around.get(number, (None, None))
        share, nearest = max(
            (
                (share * pool[near].own, pool[near].strength)
                for near, share in ((before, BEFORE_SHARE), (after, AFTER_SHARE))
                if near is not None and near in pool
            ),
            default=(0.0, 0.0),
        )
        parent = scored.entry.parent
        fused[number] = Fused(
            own=scored.own,
            neighbour=share,
            parent=PARENT_SHARE * parents[parent] if parent is not None else 0.0,
            strength=max(scored.strength, nearest if share else 0.0),
        )
    return fused
