"""What a question asks for, in words the ranking can look up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import log

from wayfare.lexical.dates import TIME, asks_when
from wayfare.lexical.english import STOP_WORDS, stem
from wayfare.lexical.notions import notions
from wayfare.lexical.scoring import Corpus, Term
from wayfare.lexical.words import share_of_word, tokens

WORDS_KEPT = 40
"""Words of a long query that are looked up: the rarest. The query of recall may be 4,000
characters; the rare words decide, and each further one costs time."""
LIKENESSES_KEPT = 8
"""Similar words tried for one that occurs nowhere."""

_HEAD = 3
"""Letters that a similar word must begin with, too."""
_ADJACENT = re.compile(r"(?=\b([a-z]{2,})[ -]([a-z]{2,})\b)")


def query_terms(query: str) -> list[Term]:
    """The words of a query with their weights, and its notions.

    A repeated word counts 1 + ln n; a character or pair of an unspaced script counts half; two
    neighbouring English words are also looked up as one (`time zone` finds `timezone`); a question
    for a time looks for texts that say when.
    """
    words = tokens(query)
    counts = Counter(words)
    # A question that names a time does not ask for one.
    del counts[TIME]
    if asks_when(query):
        counts[TIME] = 1
    terms = [
        Term(word=word, weight=share_of_word(word) * (1 + log(count)))
        for word, count in counts.items()
    ]
    joined = {
        stem(first + second)
        for first, second in _ADJACENT.findall(query.lower())
        if first not in STOP_WORDS and second not in STOP_WORDS
    }
    terms += [Term(word=word, optional=True) for word in sorted(joined - counts.keys())]
    terms += [Term(word=notion, covers=covers) for notion, covers in notions(query, words).items()]
    return terms


def rarest(terms: Sequence[Term], corpus: Corpus) -> list[Term]:
    """The words that decide, at most `WORDS_KEPT`, with the notions they stand for."""
    terms = [term for term in terms if corpus.frequencies.get(term.word) or not term.optional]
    words = [term for term in terms if not term.covers]
    if len(words) <= WORDS_KEPT:
        return terms
    words.sort(key=lambda term: (-term.weight * corpus.idf(term.word), term.word))
    kept = {term.word for term in words[:WORDS_KEPT]}
    return words[:WORDS_KEPT] + [term for term in terms if term.covers & kept]


def with_likenesses(
    terms: Sequence[Term], corpus: Corpus, starting_with: Callable[[str], Iterable[str]]
) -> list[Term]:
    """The terms, those that occur nowhere with similar words that do.

    Args:
        terms: The query's terms.
        corpus: Their frequencies.
        starting_with: All known words with a beginning.
    """
    covered = {
        word
        for term in terms
        if term.covers and corpus.frequencies.get(term.word)
        for word in term.covers
    }
    return [
        replace(term, instead=_similar(term.word, starting_with(term.word[:_HEAD])))
        if not corpus.frequencies.get(term.word)
        and not term.covers
        and term.word not in covered
        and len(term.word) > _HEAD + 1
        and term.word.isascii()
        and term.word.isalpha()
        else term
        for term in terms
    ]


def _similar(word: str, known: Iterable[str]) -> tuple[str, ...]:
    close = [other for other in known if _alike(word, other)]
    close.sort(key=lambda other: (abs(len(other) - len(word)), other))
    return tuple(close[:LIKENESSES_KEPT])


def _alike(word: str, other: str) -> bool:
    """One begins the other, they share most of their beginning, or one slip divides them."""
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) <= _HEAD or not other.isalpha():
        return False
    if longer.startswith(shorter):
        return len(longer) <= 2 * len(shorter)
    shared = next(
        (at for at, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), 0
    )
    if shared >= 5 and shared >= 0.7 * len(longer):
        return True
    return len(shorter) >= 5 and _one_slip(word, other, shared)


def _one_slip(word: str, other: str, at: int) -> bool:
    """Whether one letter was changed, added, dropped, or swapped with the next, at `at`."""
    return (
        word[at + 1 :] == other[at + 1 :]
        or word[at + 1 :] == other[at:]
        or word[at:] == other[at + 1 :]
        or (word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :])
    )
