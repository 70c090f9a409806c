"""Documents in memory: their words, and who stands beside whom."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping

from wayfare.lexical.documents import Document, entry_of
from wayfare.lexical.scoring import K1, Corpus, Entry, saturation_point

POSTINGS_VISITED = 6_000
"""Postings looked at for one query, rare words first; each costs about 0.5 µs. It only matters
above some 5,000 documents."""


class Held:
    """The tables that documents come into and go out of one at a time."""

    def __init__(self) -> None:
        self._next = 0
        self.numbers: dict[str, int] = {}
        self.entries: dict[int, Entry] = {}
        self.postings: dict[str, dict[int, float]] = {}
        self.heads: dict[str, set[str]] = {}
        self.length = 0.0
        self._turns: dict[str, list[tuple[int, str]]] = {}
        self._children: dict[str, set[int]] = {}

    def put(self, document: Document) -> None:
        """Add a document, or replace the one with its key."""
        self.remove(document.key)
        number, self._next = self._next, self._next + 1
        entry = entry_of(document)
        self.numbers[document.key] = number
        self.entries[number] = entry
        self.length += entry.length
        for word, count in entry.counts.items():
            postings = self.postings.get(word)
            if postings is None:
                postings = self.postings[word] = {}
                self.heads.setdefault(word[:3], set()).add(word)
            postings[number] = count
        if entry.parent is not None:
            self._children.setdefault(entry.parent, set()).add(number)
            if entry.order is not None:
                insort(self._turns.setdefault(entry.parent, []), (entry.order, entry.key))

    def remove(self, key: str) -> bool:
        """Take a document out; False when there was none."""
        number = self.numbers.pop(key, None)
        if number is None:
            return False
        entry = self.entries.pop(number)
        self.length -= entry.length
        for word in entry.counts:
            postings = self.postings[word]
            del postings[number]
            if not postings:
                del self.postings[word]
                self.heads[word[:3]].discard(word)
        if entry.parent is not None:
            self._children[entry.parent].discard(number)
            if entry.order is not None:
                self._turns[entry.parent].remove((entry.order, entry.key))
        return True

    def within(self, names: Collection[str]) -> frozenset[int]:
        """The numbers of the documents with these keys or parents."""
        inside = {self.numbers[name] for name in names if name in self.numbers}
        for name in names:
            inside |= self._children.get(name, set())
        return frozenset(inside)

    def beside(self, number: int) -> tuple[int | None, int | None]:
        """The documents before and after one in its parent."""
        entry = self.entries[number]
        if entry.parent is None or entry.order is None:
            return None, None
        turns = self._turns[entry.parent]
        at = bisect_left(turns, (entry.order, entry.key))
        before = self.numbers[turns[at - 1][1]] if at else None
        after = self.numbers[turns[at + 1][1]] if at + 1 < len(turns) else None
        return before, after


class View:
    """The documents one query may give, as `search.Source` asks for them.

    Args:
        held: All documents.
        inside: Numbers of those the query is confined to; None for all.
    """

    def __init__(self, held: Held, inside: frozenset[int] | None = None) -> None:
        self._held = held
        self._inside = inside

    def corpus(self, words: Collection[str]) -> Corpus:
        held, inside = self._held, self._inside
        size = len(held.entries) if inside is None else len(inside)
        length = (
            held.length if inside is None else sum(held.entries[each].length for each in inside)
        )
        return Corpus(
            documents=size,
            mean_length=length / size if size else 0.0,
            frequencies={word: len(self._having(word)) for word in words},
        )

    def starting_with(self, head: str) -> Iterable[str]:
        return sorted(self._held.heads.get(head, ()))

    def shortlist(self, gains: Mapping[str, float], count: int) -> list[int]:
        corpus = self.corpus(())
        entries = self._held.entries
        scores: dict[int, float] = {}
        left = sum(gains.values()) * (K1 + 1)
        visited = 0
        for word in sorted(gains, key=lambda word: (-gains[word], word)):
            postings = self._held.postings.get(word, {})
            gain = gains[word] * (K1 + 1)
            numbers = self._having(word)
            if (
                len(scores) >= count
                and len(numbers) > len(scores)
                and heapq.nlargest(count, scores.values())[-1] >= left
            ):
                # No document without a rarer word can still reach the list.
                numbers = [number for number in scores if number in postings]
            visited += len(numbers)
            if scores and visited > POSTINGS_VISITED:
                break
            for number in numbers:
                tally = postings[number]
                flat = saturation_point(entries[number].length, corpus)
                scores[number] = scores.get(number, 0.0) + gain * tally / (tally + flat)
            left -= gain
        return heapq.nsmallest(count, scores, key=lambda number: (-scores[number], number))

    def entries(self, numbers: Collection[int]) -> dict[int, Entry]:
        return {
            number: self._held.entries[number]
            for number in numbers
            if self._inside is None or number in self._inside
        }

    def around(self, numbers: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        return {number: self._held.beside(number) for number in numbers}

    def _having(self, word: str) -> Collection[int]:
        postings = self._held.postings.get(word, {})
        return postings if self._inside is None else self._inside & postings.keys()
