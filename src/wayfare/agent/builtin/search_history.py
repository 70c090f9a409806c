"""`search_history`: this session's own past, whether it still stands in the context or not."""

from __future__ import annotations

import os
from typing import Final

from wayfare.agent.builtin.history_pieces import SEARCH, pieces
from wayfare.agent.builtin.jobs import SPOOLED
from wayfare.agent.builtin.line_search import SECONDS, Line, Query, by_python
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.results_folder import address
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Tool, ToolContext, ToolOutput, failure

LIMIT: Final = 10
_MOST: Final = 200
_LINE_CHARS: Final = 240


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
    from wayfare.agent.builtin.history_ranking import best_lines, best_parts

    best = await best_parts(context.history, query, most)
    if not best:
        return ToolOutput(text="Nothing of this session has these words.", brief="nothing found")
    said: list[str] = []
    for part in best:
        where = f"{part.address} lines {part.range} ({part.about})"
        shown = [f"{number}\t{_cut(line)}" for number, line in best_lines(part, query)]
        block = "\n".join([where, *shown])
        room -= len(block) + 2
        if said and room < 0:
            break
        said.append(block)
    return ToolOutput(text="\n\n".join(said), brief=f"{len(said)} places")


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
