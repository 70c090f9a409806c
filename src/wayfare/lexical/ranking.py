"""The ranking over documents in memory."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping

from wayfare.lexical.documents import Document, Explanation, Hit, entry_of
from wayfare.lexical.scoring import K1, B, Corpus, Entry
from wayfare.lexical.search import explain, find


class Ranking:
    """Ranks documents for queries; documents come and go one at a time.

    Args:
        documents: What it holds from the start.
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._next = 0
        self._numbers: dict[str, int] = {}
        self._entries: dict[int, Entry] = {}
        self._postings: dict[str, dict[int, float]] = {}
        self._heads: dict[str, set[str]] = {}
        self._turns: dict[str, list[tuple[int, int]]] = {}
        self._children: dict[str, set[int]] = {}
        self._length = 0.0
        for document in documents:
            self.put(document)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def put(self, document: Document) -> None:
        """Add a document, or replace the one with its key."""
        self.remove(document.key)
        number, self._next = self._next, self._next + 1
        entry = entry_of(document)
        self._numbers[document.key] = number
        self._entries[number] = entry
        self._length += entry.length
        for word, count in entry.counts.items():
            postings = self._postings.get(word)
            if postings is None:
                postings = self._postings[word] = {}
                self._heads.setdefault(word[:3], set()).add(word)
            postings[number] = count
        if entry.parent is not None:
            self._children.setdefault(entry.parent, set()).add(number)
            if entry.order is not None:
                insort(self._turns.setdefault(entry.parent, []), (entry.order, number))

    def remove(self, key: str) -> bool:
        """Take a document out; False when there was none."""
        number = self._numbers.pop(key, None)
        if number is None:
            return False
        entry = self._entries.pop(number)
        self._length -= entry.length
        for word in entry.counts:
            postings = self._postings[word]
            del postings[number]
            if not postings:
                del self._postings[word]
                self._heads[word[:3]].discard(word)
        if entry.parent is not None:
            self._children[entry.parent].discard(number)
            if entry.order is not None:
                self._turns[entry.parent].remove((entry.order, number))
        return True

    def rank(
        self,
        query: str,
        limit: int = 10,
        *,
        within: Collection[str] | None = None,
        floor: float = 0.0,
        surroundings: bool = True,
    ) -> list[Hit]:
        """The best documents for a query, best first; ties by key.

        Args:
            query: Any text, a question or the last messages.
            limit: Most hits returned.
            within: Only documents whose key or parent is in it; words are then weighed by how
                rare they are there.
            floor: Strength the best must reach, or there are no hits at all; what is less than
                half as strong as the best is then left out too. 0 keeps all that share a word;
                recall uses `ABSTAIN_BELOW`.
            surroundings: Whether neighbouring turns and the session of a turn count.

        Returns:
            Hits; empty when nothing answers.
        """
        return find(self, query, limit=limit, within=within, floor=floor, surroundings=surroundings)

    def explain(self, query: str, key: str) -> Explanation | None:
        """Why a document came up or did not; None when there is no such document."""
        number = self._numbers.get(key)
        return None if number is None else explain(self, query, number)

    # What `search.Source` asks for.

    def corpus(self, words: Collection[str], within: Collection[str] | None) -> Corpus:
        if within is None:
            size = len(self._entries)
            return Corpus(
                documents=size,
                mean_length=self._length / size if size else 0.0,
                frequencies={word: len(self._postings.get(word, ())) for word in words},
            )
        inside = self._inside(within)
        length = sum(self._entries[number].length for number in inside)
        return Corpus(
            documents=len(inside),
            mean_length=length / len(inside) if inside else 0.0,
            frequencies={word: len(inside & self._postings.get(word, {}).keys()) for word in words},
        )

    def starting_with(self, head: str) -> Iterable[str]:
        return sorted(self._heads.get(head, ()))

    def shortlist(
        self, gains: Mapping[str, float], count: int, within: Collection[str] | None
    ) -> list[int]:
        inside = None if within is None else self._inside(within)
        flat = K1 * (1 - B)
        slope = K1 * B * len(self._entries) / (self._length or 1.0)
        entries = self._entries
        scores: dict[int, float] = {}
        left = sum(gains.values()) * (K1 + 1)
        for word in sorted(gains, key=lambda word: (-gains[word], word)):
            postings = self._postings.get(word, {})
            gain = gains[word] * (K1 + 1)
            numbers: Iterable[int] = postings
            if inside is not None:
                numbers = inside & postings.keys()
            elif (
                len(scores) >= count
                and len(postings) > len(scores)
                and heapq.nlargest(count, scores.values())[-1] >= left
            ):
                # No document without a rarer word can still reach the list.
                numbers = [number for number in scores if number in postings]
            for number in numbers:
                tally = postings[number]
                part = gain * tally / (tally + flat + slope * entries[number].length)
                scores[number] = scores.get(number, 0.0) + part
            left -= gain
        return heapq.nsmallest(count, scores, key=lambda number: (-scores[number], number))

    def entries(self, numbers: Collection[int]) -> dict[int, Entry]:
        return {number: self._entries[number] for number in numbers}

    def around(self, numbers: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        return {number: self._beside(number) for number in numbers}

    def _beside(self, number: int) -> tuple[int | None, int | None]:
        entry = self._entries[number]
        if entry.parent is None or entry.order is None:
            return None, None
        turns = self._turns[entry.parent]
        at = bisect_left(turns, (entry.order, number))
        before = turns[at - 1][1] if at else None
        after = turns[at + 1][1] if at + 1 < len(turns) else None
        return before, after

    def _inside(self, within: Collection[str]) -> set[int]:
        inside = {self._numbers[key] for key in within if key in self._numbers}
        for parent in within:
            inside |= self._children.get(parent, set())
        return inside
