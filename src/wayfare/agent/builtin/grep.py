"""`grep`: lines of files that match a regular expression."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio.to_thread

from wayfare.agent.builtin.glob_patterns import compiled
from wayfare.agent.builtin.line_search import (
    SECONDS,
    Line,
    Query,
    Searched,
    by_python,
    by_ripgrep,
)
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.reach import OutOfReach, missing, reach, shown
from wayfare.agent.builtin.walk import files
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ReadPath, Tool, ToolContext, ToolOutput, failure

LIMIT = 200
_MOST = 2_000
_MOST_CONTEXT = 20
_LINE_CHARS = 300
"""A longer line is shown around its match."""


@dataclass(slots=True, kw_only=True)
class _Lines:
    """What was found so far, as text.

    `fits` says which names to look at; `hidden` are files with matches that need somebody's word
    to be read.
    """

    context: ToolContext
    root: Path
    limit: int
    room_chars: int
    names_only: bool
    around: int
    fits: re.Pattern[str] | None
    text: list[str] = field(default_factory=list[str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    hidden: set[str] = field(default_factory=set[str])
    matches: int = 0
    full: bool = False
    last: tuple[str, int] = ("", 0)

    def place(self, name: str) -> Path:
        """The file a name stands for: one below the root, or the root itself."""
        return self.root / name if self.root.is_dir() else self.root

    def take(self, line: Line) -> bool:
        """Note a line; False when there is no room for more."""
        if line.name in self.hidden or not self._wanted(line.name):
            return True
        if self._is_full(line):
            self.full = True
            return False
        self.counts.setdefault(line.name, 0)
        if line.column is not None:
            self.counts[line.name] += 1
            self.matches += 1
        if not self.names_only:
            self._show(line)
        return True

    def _wanted(self, name: str) -> bool:
        if name in self.counts:
            return True
        if self.fits is not None and self.fits.search(name) is None:
            return False
        place = self.place(name)
        if place != self.root and not self.context.may_read(str(place)):
            self.hidden.add(name)
            return False
        return True

    def _is_full(self, line: Line) -> bool:
        if self.names_only:
            return line.name not in self.counts and len(self.counts) >= self.limit
        return self.room_chars <= 0 or (line.column is not None and self.matches >= self.limit)

    def _show(self, line: Line) -> None:
        name, number = self.last
        if line.name != name:
            self._add(("\n" if self.text else "") + shown(self.context, self.place(line.name)))
        elif self.around and line.number > number + 1:
            self._add("--")
        sign = "-" if line.column is None else ":"
        self._add(f"{line.number}{sign}{_short(line)}")
        self.last = (line.name, line.number)

    def _add(self, text: str) -> None:
        self.text.append(text)
        self.room_chars -= len(text) + 1


def _short(line: Line) -> str:
    text = line.text
    if len(text) <= _LINE_CHARS:
        return text
    start = max((line.column or 0) - _LINE_CHARS // 3, 0)
    head = "…" if start else ""
    tail = "…" if start + _LINE_CHARS < len(text) else ""
    return f"{head}{text[start : start + _LINE_CHARS]}{tail}"


def grep_tool(result_chars: int, *, ripgrep: str | None = None) -> Tool:
    """`grep`; its text is no longer than `result_chars`.

    Args:
        ripgrep: The program; None: looked for when it is needed, and done without where missing.
    """

    @tool(read_only=True, kind="search", main_argument="pattern")
    async def grep(
        pattern: str,
        path: ReadPath = ".",
        glob: str = "",
        output: Literal["lines", "files"] = "lines",
        ignore_case: bool = False,
        literal: bool = False,
        context_lines: int = 0,
        limit: int = LIMIT,
        *,
        context: ToolContext,
    ) -> ToolOutput:
        """Search files for a regular expression, line by line, and show the lines with their
        numbers. What git ignores and binary files are left out.

        Args:
            pattern: A regular expression.
            path: A folder or a file.
            glob: Only files that fit, such as *.py or src/**/*.{ts,tsx}.
            output: Matching lines, or the names of files with the number of their matches.
            ignore_case: Take capitals and small letters as the same.
            literal: The pattern is plain text.
            context_lines: Show so many lines before and after each match.
            limit: So many matching lines, or files, at most.
        """
        if not pattern:
            return failure("pattern is empty: say what to look for, or list files with glob")
        try:
            root = reach(context, path)
        except OutOfReach as error:
            return failure(str(error))
        if not os.path.lexists(root):
            return failure(missing(context, path, root))
        fits = compiled(glob) if glob else None
        if glob and fits is None:
            return failure(f"{glob!r} is no pattern for file names")
        lines = _Lines(
            context=context,
            root=root,
            limit=min(max(limit, 1), _MOST),
            room_chars=result_chars,
            names_only=output == "files",
            around=min(max(context_lines, 0), _MOST_CONTEXT) if output == "lines" else 0,
            fits=fits if root.is_dir() else None,
        )
        query = Query(
            pattern=pattern, ignore_case=ignore_case, literal=literal, context_lines=lines.around
        )
        searched = await _search(query, lines, glob, ripgrep or shutil.which("rg"))
        if searched.refused:
            return failure(f"{pattern!r} is no regular expression: {searched.refused}")
        return _answer(lines, searched)

    return grep


async def _search(query: Query, lines: _Lines, glob: str, ripgrep: str | None) -> Searched:
    root = lines.root
    if ripgrep is not None:
        searched = await by_ripgrep(ripgrep, query, root, lines.take, glob=glob)
        if not searched.refused:
            return searched
        # What only Python's expressions can say, such as looking around, is left to them.
    if not root.is_dir():
        return await by_python(query, [str(root)], lines.take)
    paths = await anyio.to_thread.run_sync(_paths, root, lines.fits, abandon_on_cancel=True)

    def below(line: Line) -> bool:
        name = line.name[len(str(root)) + 1 :]
        return lines.take(Line(name=name, number=line.number, text=line.text, column=line.column))

    return await by_python(query, paths, below)


def _paths(root: Path, fits: re.Pattern[str] | None) -> list[str]:
    found = (each.path for each in files(root) if fits is None or fits.search(each.path))
    return [str(root / path) for path in sorted(found)]


def _answer(lines: _Lines, searched: Searched) -> ToolOutput:
    notes: list[str] = []
    if lines.full:
        what = (
            f"{len(lines.counts)} files" if lines.names_only else f"{lines.matches} matching lines"
        )
        notes.append(f"the first {what}; there are more: narrow pattern, path or glob")
    elif not searched.whole:
        notes.append(f"ended after {SECONDS:g} s with what was found by then: narrow path or glob")
    if lines.hidden:
        names = ", ".join(sorted(lines.hidden)[:5])
        notes.append(f"also in {len(lines.hidden)} files that need permission to be read: {names}")
    if not lines.counts:
        return ToolOutput(text=noted("No line matches.", notes), brief="no match")
    if lines.names_only:
        counted = sorted(lines.counts.items())
        body = "\n".join(
            f"{shown(lines.context, lines.place(name))} ({count})" for name, count in counted
        )
    else:
        body = "\n".join(lines.text)
    files_said = f"{len(lines.counts)} file" + ("s" if len(lines.counts) != 1 else "")
    return ToolOutput(text=noted(body, notes), brief=f"{lines.matches} lines in {files_said}")
