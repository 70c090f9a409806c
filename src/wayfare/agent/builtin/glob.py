"""`glob`: files by the pattern of their names, newest first."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from wayfare.agent.builtin.glob_patterns import compiled, split
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.reach import OutOfReach, missing, reach, shown
from wayfare.agent.builtin.walk import Found, files
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ReadPath, Tool, ToolContext, ToolOutput, Touches, failure

LIMIT = 200
_MOST = 5_000


def _touches(given: Mapping[str, Any]) -> Touches:
    folder, _ = split(given["pattern"])
    return Touches(reads=(folder or given["path"],), files=True)


def glob_tool(result_chars: int) -> Tool:
    """`glob`; its list is no longer than `result_chars`."""

    @tool(read_only=True, kind="search", main_argument="pattern", touches=_touches)
    async def glob(
        pattern: str,
        path: ReadPath = ".",
        limit: int = LIMIT,
        include_ignored: bool = False,
        *,
        context: ToolContext,
    ) -> ToolOutput:
        """List files whose path fits a pattern, the one changed last first.

        What git ignores is left out. A pattern without a slash fits in every folder (`*.py`),
        one with a slash from `path` on (`src/**/test_*.{ts,tsx}`).

        Args:
            pattern: With *, **, ? and {a,b}.
            path: The folder to look in.
            limit: So many files at most.
            include_ignored: List what git ignores, too.
        """
        folder, rest = split(pattern)
        path = folder or path
        expression = compiled(rest)
        if expression is None or ".." in rest.split("/"):
            return failure(f"{pattern!r} is no pattern for files below a folder; give it as path")
        try:
            root = reach(context, path)
        except OutOfReach as error:
            return failure(str(error))
        if not root.is_dir():
            there = "is a file, not a folder" if root.exists() else ""
            return failure(f"{path} {there}" if there else missing(context, path, root))
        most = min(max(limit, 1), _MOST)
        found, count = await anyio.to_thread.run_sync(
            _newest, root, expression, most, include_ignored, abandon_on_cancel=True
        )
        return _listed(context, root, [each.path for each in found], count, result_chars)

    return glob


def _newest(
    root: Path, expression: re.Pattern[str], most: int, ignored: bool
) -> tuple[list[Found], int]:
    fitting = [each for each in files(root, ignored=ignored) if expression.search(each.path)]
    return heapq.nsmallest(most, fitting, key=lambda f: (-f.mtime_ns, f.path)), len(fitting)


def _listed(
    context: ToolContext, root: Path, paths: list[str], count: int, result_chars: int
) -> ToolOutput:
    if not count:
        return ToolOutput(text="No file fits.", brief="no file")
    lines: list[str] = []
    room = result_chars
    for path in paths:
        line = shown(context, root / path)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    notes = [f"the newest {len(lines)} of {count:,} files"] if len(lines) < count else []
    brief = f"{count:,} files" if count > 1 else lines[0]
    return ToolOutput(text=noted("\n".join(lines), notes), brief=brief)
