"""`search_history`: this session's own past, whether it still stands in the context or not."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio.to_thread

from wayfare.agent.builtin.history_pieces import SEARCH, Piece, pieces
from wayfare.agent.builtin.jobs import SPOOLED
from wayfare.agent.builtin.line_search import SECONDS, Line, Query, by_python
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.results_folder import address
from wayfare.agent.tools import Tool, ToolContext, ToolOutput, failure, tool
from wayfare.lexical import Document, Ranking, tokens

LIMIT: Final = 10
_MOST: Final = 200
_PART_LINES: Final = 30
_PART_CHARS: Final = 3_000
"""A longer text is ranked in parts, so that what is found is a place and not a file."""
_CANDIDATES: Final = 1_000
"""Parts ranked exactly, those with the most words of the query; each takes about 0.2 ms."""
_LINES_SHOWN: Final = 4
_LINE_CHARS: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Some lines of a piece: the number of the first where it is read, and the lines."""

    piece: Piece
    first: int
    lines: tuple[str, ...]

    @property
    def range(self) -> str:
        return f"{self.first}–{self.first + len(self.lines) - 1}"


def search_history_tool(result_chars: int) -> Tool:
    """`search_history`; its text is no longer than `result_chars`."""

    @tool(read_only=True, kind="search", main_argument="query")
    async def search_history(
        query: str, regex: bool = False, limit: int = LIMIT, *, context: ToolContext
    ) -> ToolOutput:
        """Search everything said and done in this session, archived results included; gives
        addresses and lines that read_file reads (path=address, offset=line).

        Args:
            query: Words to look for, best places first; or a regular expression.
            regex: The query is a regular expression, looked for line by line, newest first.
            limit: So many places, or lines, at most.
        """
        if not query.strip():
            return failure("query is empty: say what to look for")
        most = min(max(limit, 1), _MOST)
        if regex:
            return await _by_lines(context, query, most, result_chars)
        return await _by_words(context, query, most, result_chars)

    assert search_history.name == SEARCH
    return search_history


async def _by_words(context: ToolContext, query: str, most: int, room: int) -> ToolOutput:
    heads = _heads(query)
    found: list[tuple[int, int, _Part]] = []
    count = 0
    async for piece in pieces(context.history):
        for part in _parts(piece):
            text = "\n".join(part.lines).casefold()
            known = sum(head in text for head in heads)
            if known:
                count += 1
                heapq.heappush(found, (known, count, part))
                if len(found) > _CANDIDATES:
                    heapq.heappop(found)
    parts = [part for _, _, part in sorted(found, key=lambda each: each[1])]
    best = await anyio.to_thread.run_sync(_ranked, query, parts, most)
    if not best:
        return ToolOutput(text="Nothing of this session has these words.", brief="nothing found")
    words = set(tokens(query))
    said: list[str] = []
    for part in best:
        piece = part.piece
        block = "\n".join(
            [f"{piece.address} lines {part.range} ({piece.about})", *_best_lines(part, words)]
        )
        room -= len(block) + 2
        if said and room < 0:
            break
        said.append(block)
    return ToolOutput(text="\n\n".join(said), brief=f"{len(said)} places")


def _heads(query: str) -> list[str]:
    """Beginnings of the query's words, by which parts worth ranking are found fast."""
    heads: dict[str, None] = {}
    for word in tokens(query):
        if word[0].isalnum():
            # A stem may end otherwise than the word does: memori, memory.
            heads[word[:-1] if len(word) > 4 and word.isascii() else word] = None
    return list(heads)


def _parts(piece: Piece) -> Iterator[_Part]:
    lines = piece.text.split("\n")
    start = used = 0
    for at, line in enumerate(lines):
        used += len(line) + 1
        full = at + 1 - start >= _PART_LINES or used >= _PART_CHARS
        if full or at == len(lines) - 1:
            yield _Part(piece=piece, first=piece.first + start, lines=tuple(lines[start : at + 1]))
            start, used = at + 1, 0


def _ranked(query: str, parts: Sequence[_Part], most: int) -> list[_Part]:
    by_key = {f"{at:06}": part for at, part in enumerate(parts)}
    ranking = Ranking(
        Document(key=key, body="\n".join(part.lines), description=part.piece.about)
        for key, part in by_key.items()
    )
    return [by_key[hit.key] for hit in ranking.rank(query, most, surroundings=False)]


def _best_lines(part: _Part, words: set[str]) -> list[str]:
    """The lines with the most words of the query, in their order."""
    scored = [
        (-len(words.intersection(tokens(line[:_PART_CHARS]))), at)
        for at, line in enumerate(part.lines)
        if line.strip()
    ]
    chosen = sorted(at for score, at in sorted(scored)[:_LINES_SHOWN] if score)
    return [f"{part.first + at}\t{_cut(part.lines[at])}" for at in chosen]


def _cut(line: str, column: int = 0) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(column - _LINE_CHARS // 3, 0)
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


async def _by_lines(context: ToolContext, query: str, most: int, room: int) -> ToolOutput:
    found = [piece async for piece in pieces(context.history)]
    found.reverse()
    spooled = _spooled(context)
    texts: list[str | tuple[str, str]] = [(str(at), piece.text) for at, piece in enumerate(found)]
    lines: list[str] = []
    last = ""
    count = 0
    full = False

    def take(line: Line) -> bool:
        nonlocal last, room, count, full
        if count >= most or room <= 0:
            full = True
            return False
        if line.name in spooled:
            address, about, first = spooled[line.name], "output of a command", 1
        else:
            piece = found[int(line.name)]
            address, about, first = piece.address, piece.about, piece.first
        if line.name != last:
            lines.append(f"{address} ({about})")
            last = line.name
        lines.append(f"{first + line.number - 1}\t{_cut(line.text, line.column or 0)}")
        room -= len(lines[-1]) + 1
        count += 1
        return True

    searched = await by_python(Query(pattern=query), [*texts, *spooled], take)
    if searched.refused:
        return failure(f"{query!r} is no regular expression: {searched.refused}")
    notes: list[str] = []
    if full:
        notes.append(f"the newest {count} matching lines; there are more")
    elif not searched.whole:
        notes.append(f"ended after {SECONDS:g} s with what was found by then")
    if not lines:
        return ToolOutput(text=noted("No line matches.", notes), brief="no match")
    return ToolOutput(text=noted("\n".join(lines), notes), brief=f"{count} lines")


def _spooled(context: ToolContext) -> dict[str, str]:
    """Files with the whole output of commands, and their addresses; the newest first."""
    folder = context.results_folder
    try:
        names = [name for name in os.listdir(folder) if name.startswith(f"{SPOOLED}_")]
    except OSError:
        return {}
    paths = sorted((folder / name for name in names), key=os.path.getmtime, reverse=True)
    return {str(path): address(context, path) for path in paths}
