"""The ranking over documents in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from wayfare.lexical.documents import Document, Explanation, Hit
from wayfare.lexical.held import Held, View
from wayfare.lexical.search import explain, find


class Ranking:
    """Ranks documents for queries; documents come and go one at a time.

    Args:
        documents: What it holds from the start.
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._held = Held()
        for document in documents:
            self.put(document)

    def __len__(self) -> int:
        return len(self._held.entries)

    def __contains__(self, key: object) -> bool:
        return key in self._held.numbers

    def put(self, document: Document) -> None:
        """Add a document, or replace the one with its key."""
        self._held.put(document)

    def remove(self, key: str) -> bool:
        """Take a document out; False when there was none."""
        return self._held.remove(key)

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
        inside = None if within is None else self._held.within(within)
        return find(
            View(self._held, inside), query, limit=limit, floor=floor, surroundings=surroundings
        )

    def explain(self, query: str, key: str) -> Explanation | None:
        """Why a document came up or did not; None when there is no such document."""
        number = self._held.numbers.get(key)
        return None if number is None else explain(View(self._held), query, number)
