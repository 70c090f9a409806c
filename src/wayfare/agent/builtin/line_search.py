"""Searching lines by programs that can be ended: ripgrep, and Python's own expressions."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from wayfare.agent.builtin import line_matcher
from wayfare.agent.piped_process import open_piped

SECONDS: Final = 30.0
"""A search may take so long; what was found by then is given."""
_LONGEST_LINE_BYTES: Final = 64_000_000
_ENVIRONMENT: Final = {"LC_ALL": "C.UTF-8"}
_RIPGREP_ERROR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for."""

    pattern: str
    ignore_case: bool = False
    literal: bool = False
    context_lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that was found, or one around it (`column` None); `name` says where."""

    name: str
    number: int
    text: str
    column: int | None


Take: TypeAlias = Callable[[Line], bool]
"""Gets every line; False when that was enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """How a search ended: whether all was looked at, and why the pattern was refused if it was."""

    whole: bool = True
    refused: str = ""


async def by_python(query: Query, texts: Iterable[str | Sequence[str]], take: Take) -> Searched:
    """Search texts in their order: paths of files, or pairs of a name and a text."""
    asked: dict[str, Any] = {
        "pattern": query.pattern,
        "ignore_case": query.ignore_case,
        "literal": query.literal,
        "context": query.context_lines,
    }
    feed = "".join(json.dumps(value) + "\n" for value in (asked, *texts)).encode()
    refused = ""

    def took(raw: bytes) -> bool:
        nonlocal refused
        answer: Any = json.loads(raw)
        if isinstance(answer, dict):
            refused = str(answer["error"])  # pyright: ignore[reportUnknownArgumentType]
            return False
        name, number, text, column = answer
        return take(
            Line(name=name, number=number, text=text, column=None if column < 0 else column)
        )

    argv = (sys.executable, "-I", "-S", line_matcher.__file__)
    ended = await _run(argv, took, feed=feed)
    return Searched(whole=ended.whole, refused=refused)


async def by_ripgrep(
    program: str, query: Query, root: Path, take: Take, *, glob: str = ""
) -> Searched:
    """Search a file or a folder with ripgrep; names are paths below the folder, sorted.

    A `glob` about names alone spares it other files; any other is left to the caller.
    """
    options = ["--json", "--no-config", "--no-messages", "--hidden", "--no-require-git"]
    options += ["--no-ignore-global", "--glob=!.git", "--sort=path"]
    options += ["--fixed-strings"] if query.literal else []
    options += ["--ignore-case"] if query.ignore_case else []
    options += [f"--context={query.context_lines}"] if query.context_lines else []
    if glob and "/" not in glob:
        # As a type: with --glob it would search what git ignores, too.
        options += [f"--type-add=wanted:{glob}", "--type=wanted"]
    target = [] if root.is_dir() else [root.name]
    cwd = root if root.is_dir() else root.parent

    def took(raw: bytes) -> bool:
        line = _ripgrep_line(json.loads(raw))
        return line is None or take(line)

    ended = await _run((program, *options, "--", query.pattern, *(target or ["./"])), took, cwd=cwd)
    refused = ended.said if ended.status == _RIPGREP_ERROR and "regex" in ended.said else ""
    return Searched(whole=ended.whole, refused=refused)


def _ripgrep_line(event: Mapping[str, Any]) -> Line | None:
    if event["type"] not in ("match", "context"):
        return None
    told: Mapping[str, Any] = event["data"]
    text = _text(told["lines"]).removesuffix("\n").removesuffix("\r")
    column: int | None = None
    if event["type"] == "match":
        first = told["submatches"][0]["start"] if told["submatches"] else 0
        column = len(text.encode("utf-8", "replace")[:first].decode("utf-8", "ignore"))
    name = _text(told["path"]).removeprefix("./")
    return Line(name=name, number=told["line_number"], text=text, column=column)


def _text(value: Mapping[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")


@dataclass(slots=True)
class _Ended:
    whole: bool = True
    status: int = 0
    said: str = ""


async def _run(
    argv: Sequence[str],
    took: Callable[[bytes], bool],
    *,
    feed: bytes = b"",
    cwd: Path | None = None,
) -> _Ended:
    """Run a program, hand over its lines until that is enough or the time is over, and end it."""
    process = await open_piped(argv, cwd=cwd, environment=_ENVIRONMENT, feeds=bool(feed))
    ended = _Ended()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_feed, process, feed)
            tasks.start_soon(_listen, process, ended)
            with anyio.move_on_after(SECONDS) as limit:
                ended.whole = await _take_lines(process, took)
            if limit.cancelled_caught or not ended.whole:
                ended.whole = False
                process.kill()
            ended.status = await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()
            await process.aclose()
    return ended


async def _take_lines(process: Process, took: Callable[[bytes], bool]) -> bool:
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    try:
        while took(await lines.receive_until(b"\n", _LONGEST_LINE_BYTES)):
            pass
    except (anyio.EndOfStream, anyio.IncompleteRead):
        return True
    except anyio.DelimiterNotFound:
        return False
    return False


async def _feed(process: Process, feed: bytes) -> None:
    if process.stdin is None:
        return
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(feed)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.aclose()


async def _listen(process: Process, ended: _Ended) -> None:
    """What it says about its errors; the beginning is enough, the rest must not hold it up."""
    assert process.stderr is not None
    async for piece in process.stderr:
        if len(ended.said) < 4_000:
            ended.said += piece.decode("utf-8", "replace")
