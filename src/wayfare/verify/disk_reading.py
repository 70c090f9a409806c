"""Reading what a session left on disk, without the runtime's own readers.

What is judged here must not be read by the code that wrote it: plain files, JSON lines and Markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from wayfare.messages import ToolResult
from wayfare.model import Request

_ADDRESS: Final = re.compile(r"[\w.@+/-]*[\w@+-]/[\w.@+/-]*\w(?:#\d+(?:-\d+)?)?")
_SPAN: Final = re.compile(r"(?P<path>.+)#(?P<first>\d+)(?:-(?P<last>\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An address that leads somewhere, and the results, or the whole file, that stand there."""

    address: str
    contents: tuple[bytes, ...]


def addresses_in(text: str, workspace: Path) -> list[str]:
    """The addresses a text names that lead to a file of the workspace's own folders."""
    found = dict.fromkeys(match[0] for match in _ADDRESS.finditer(text))
    return [one for one in found if one.startswith(".") and _file(workspace, one).is_file()]


def _file(workspace: Path, address: str) -> Path:
    return workspace / address.partition("#")[0]


def read_address(workspace: Path, address: str) -> Found:
    """The bytes an address leads to: a file's, or those of every result in its entries."""
    span = _SPAN.fullmatch(address)
    if span is None:
        path = workspace / address
        return Found(address=address, contents=(path.read_bytes(),) if path.is_file() else ())
    first, last = int(span["first"]), int(span["last"] or span["first"])
    contents: list[bytes] = []
    for entry in log_lines(workspace / span["path"]):
        if first <= int(entry.get("id", 0)) <= last and "wire" in entry:
            contents += _contents(workspace, entry["wire"])
    return Found(address=address, contents=tuple(contents))


def log_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a transcript, as plain JSON; what is no JSON is passed over."""
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            value: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)


def _contents(workspace: Path, value: Any) -> Iterator[bytes]:
    """Every text and every file in a wire message."""
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _contents(workspace, one)
    elif isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        blob = mapping.get("$blob")
        if isinstance(blob, dict):
            path = workspace / str(cast("dict[str, Any]", blob).get("path", ""))
            if path.is_file():
                yield path.read_bytes()
        else:
            for one in mapping.values():
                yield from _contents(workspace, one)


def results_in(request: Request) -> dict[str, ToolResult]:
    """The tool results a request shows, by call."""
    return {result.call_id: result for m in request.messages for result in m.results}


def unpaired(request: Request) -> list[str]:
    """What is wrong with a request's calls and results; empty when each call has just one result
    directly after it and each result its call."""
    wrong: list[str] = []
    open_calls: list[str] = []
    for message in request.messages:
        answered = [result.call_id for result in message.results]
        wrong += [f"result of {one} without its call" for one in answered if one not in open_calls]
        wrong += [f"two results of {one}" for one in answered if answered.count(one) > 1]
        open_calls = [one for one in open_calls if one not in answered]
        if message.role == "assistant" or (message.role == "user" and not answered):
            wrong += [f"call {one} without a result" for one in open_calls]
            open_calls = [call.id for call in message.calls]
    return list(dict.fromkeys([*wrong, *(f"call {one} without a result" for one in open_calls)]))


def record_files(workspace: Path) -> list[Path]:
    """The records of the workspace's memory, the index left out."""
    folder = workspace / ".memory"
    return sorted(path for path in folder.glob("*.md") if path.name != "MEMORY.md")


def body_of(path: Path) -> str:
    """What stands in a record below its frontmatter."""
    text = path.read_text("utf-8", "replace")
    parts = text.split("---", 2) if text.startswith("---") else ["", "", text]
    return parts[-1].strip()


def indentation(path: Path) -> str:
    """How the lines of a file begin: `tabs`, `four spaces`, `mixed`, or `none`."""
    starts = [
        line[: len(line) - len(line.lstrip(" \t"))]
        for line in path.read_text("utf-8", "replace").splitlines()
        if line.strip()
    ]
    found = [start for start in starts if start]
    if not found:
        return "none"
    if all(set(start) == {"\t"} for start in found):
        return "tabs"
    spaces = all(set(start) == {" "} and len(start) % 4 == 0 for start in found)
    return "four spaces" if spaces else "mixed"


def first_indent(path: Path) -> str:
    """The bytes a file's first indented line begins with, for people."""
    for line in path.read_bytes().splitlines():
        rest = line.lstrip(b" \t")
        if rest and len(rest) < len(line):
            return line[: len(line) - len(rest)].hex(" ")
    return "no indented line"
