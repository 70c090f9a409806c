"""Ranking the session's history for a query, without an index that would have to be kept.

What holds none of the query's words is passed over fast; what is left is ranked exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio.to_thread

from wayfare.agent.builtin.history_pieces import Piece, pieces
from wayfare.agent.ports import History
from wayfare.lexical import Document, Ranking, tokens

_PART_LINES: Final = 30
_PART_CHARS: Final = 3_000
"""A longer text is ranked in parts, so that what is found is a place and not a file."""
_CANDIDATES: Final = 300
"""Parts ranked exactly, those with the most words of the query; each takes about 0.2 ms and some
30 kB while it is ranked, which no longer grows with the session then."""
_LINES_SHOWN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some lines of a piece: where it stands and what it is about, the number of the first line
    there, and the lines. Not the piece: a part of a text of 50 MB would hold all of it."""

    address: str
    about: str
    first: int
    lines: tuple[str, ...]

    @property
    def range(self) -> str:
        return f"{self.first}–{self.first + len(self.lines) - 1}"


async def best_parts(history: History, query: str, most: int) -> list[Part]:
    """The places that answer a query best, best first."""
    heads = _heads(query)
    found: list[tuple[int, int, Part]] = []
    count = 0
    async for piece in pieces(history):
        for part in _parts(piece):
            text = "\n".join(part.lines).casefold()
            known = sum(head in text for head in heads)
            if known:
                count += 1
                heapq.heappush(found, (known, count, part))
                if len(found) > _CANDIDATES:
                    heapq.heappop(found)
    parts = [part for _, _, part in sorted(found, key=lambda each: each[1])]
    return await anyio.to_thread.run_sync(_ranked, query, parts, most)


def best_lines(part: Part, query: str) -> list[tuple[int, str]]:
    """The lines with the most words of the query, in their order, with their numbers."""
    words = set(tokens(query))
    scored = [
        (-len(words.intersection(tokens(line[:_PART_CHARS]))), at)
        for at, line in enumerate(part.lines)
        if line.strip()
    ]
    chosen = sorted(at for score, at in sorted(scored)[:_LINES_SHOWN] if score)
    return [(part.first + at, part.lines[at]) for at in chosen]


def _heads(query: str) -> list[str]:
    """Beginnings of the query's words, by which parts worth ranking are found fast."""
    heads: dict[str, None] = {}
    for word in tokens(query):
        if word[0].isalnum():
            # A stem may end otherwise than the word does: memori, memory.
            heads[word[:-1] if len(word) > 4 and word.isascii() else word] = None
    return list(heads)


def _parts(piece: Piece) -> Iterator[Part]:
    lines = piece.text.split("\n")
    start = used = 0
    for at, line in enumerate(lines):
        used += len(line) + 1
        full = at + 1 - start >= _PART_LINES or used >= _PART_CHARS
        if full or at == len(lines) - 1:
            yield Part(
                address=piece.address,
                about=piece.about,
                first=piece.first + start,
                lines=tuple(lines[start : at + 1]),
            )
            start, used = at + 1, 0


def _ranked(query: str, parts: Sequence[Part], most: int) -> list[Part]:
    by_key = {f"{at:06}": part for at, part in enumerate(parts)}
    ranking = Ranking(
        Document(key=key, body="\n".join(part.lines), description=part.about)
        for key, part in by_key.items()
    )
    return [by_key[hit.key] for hit in ranking.rank(query, most, surroundings=False)]
