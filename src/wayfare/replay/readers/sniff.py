"""Which tool wrote a file, found out by its content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from wayfare.replay.readers import (
    claude_code,
    codex,
    copilot,
    inspect_log,
    message_rows,
    messages,
    mini_swe_agent,
    openhands,
    swe_agent,
    wayfare_log,
)
from wayfare.replay.readers.fields import mapping, sequence
from wayfare.replay.readers.source import (
    Document,
    Lines,
    ProblemLog,
    Source,
    Unreadable,
    open_recording,
    shape_of,
)
from wayfare.replay.recording import Recording, Wire

SNIFFED_ROWS = 1_000
"""Lines looked at before a JSONL file counts as unknown: real logs say what they are within 20."""


class LineReader(Protocol):
    """Reads a log of one JSON object a line."""

    def accepts(self, row: Wire) -> bool:
        """Whether this line can only be of this tool's log."""
        ...

    def read(self, source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
        """The sessions of the log; what cannot be read is noted in `source.problems`."""
        ...


class DocumentReader(Protocol):
    """Reads a log that is one JSON value (also when many of them stand in one JSONL file)."""

    def accepts(self, value: Any) -> bool:
        """Whether this value is of this tool."""
        ...

    def read(self, source: Source, value: Any) -> list[Recording]:
        """The sessions in it; what cannot be read is noted in `source.problems`."""
        ...


LINE_READERS: tuple[LineReader, ...] = (wayfare_log, claude_code, copilot, codex, message_rows)
"""In the order they are asked; the most telling marks first."""

DOCUMENT_READERS: tuple[DocumentReader, ...] = (
    inspect_log,
    openhands,
    mini_swe_agent,
    swe_agent,
    messages,
)

KNOWN_FORMATS = (
    "Claude Code JSONL, Codex rollout JSONL, SWE-agent .traj, mini-SWE-agent .traj.json, "
    "OpenAI chat logs, Anthropic message lists, wayfare transcript.jsonl, "
    "OpenHands histories, Inspect JSON logs, Copilot CLI events.jsonl"
)


def read_sessions(path: Path) -> list[Recording]:
    """Every session of a file that has a message; at least one.

    Raises:
        Unreadable: there is none; says on which line and why.
    """
    problems = ProblemLog()
    shape = open_recording(path, problems)
    source = Source(path=path, problems=problems)
    if isinstance(shape, Document):
        found = _read_document(source, shape)
    else:
        with closing(shape.rows):
            found = _read_lines(source, shape)
    sessions = [one for one in found if one.messages or one.side_chains]
    if sessions:
        return sessions
    said = next((problem for one in found for problem in one.problems), None)
    if said is None:
        raise Unreadable(1, "it holds no message")
    raise Unreadable(said.line or 1, said.reason)


def _read_document(source: Source, document: Document) -> list[Recording]:
    value = document.value
    for reader in DOCUMENT_READERS:
        if reader.accepts(value):
            return reader.read(source, value)
    # A JSONL file of one line, or a tool's lines gathered in one list.
    rows = sequence(value) if isinstance(value, list) else [value]
    numbered = ((document.line, row) for row in rows)
    for row in rows[:SNIFFED_ROWS]:
        if line_reader := _line_reader(row):
            return line_reader.read(source, numbered)
        if isinstance(value, list) and _document_reader(row):
            return _read_each(source, numbered)
    raise Unreadable(document.line, f"unknown format: {shape_of(value)}")


def _read_lines(source: Source, lines: Lines) -> list[Recording]:
    head: list[tuple[int, Any]] = []
    for number, row in lines.rows:
        head.append((number, row))
        if reader := _line_reader(row):
            return reader.read(source, chain(head, lines.rows))
        if _document_reader(row):
            return _read_each(source, chain(head, lines.rows))
        if len(head) >= SNIFFED_ROWS:
            break
    if lines.as_document is not None:
        raise Unreadable(lines.as_document.line, lines.as_document.reason)
    if head:
        raise Unreadable(head[0][0], f"unknown format: {shape_of(head[0][1])}")
    first = source.problems.first()
    raise Unreadable(first.line, first.reason)


def _line_reader(row: Any) -> LineReader | None:
    if not isinstance(row, dict):
        return None
    return next((one for one in LINE_READERS if one.accepts(mapping(row))), None)


def _document_reader(value: Any) -> DocumentReader | None:
    return next((one for one in DOCUMENT_READERS if one.accepts(value)), None)


def _read_each(source: Source, rows: Iterator[tuple[int, Any]]) -> list[Recording]:
    """One session a line."""
    found: list[Recording] = []
    for number, value in rows:
        reader = _document_reader(value)
        if reader is None:
            source.problems.add(number, f"no session: {shape_of(value)}")
            continue
        own = Source(path=source.path, problems=ProblemLog(line=number))
        found += reader.read(own, value)
    if found:
        found[0] = replace(found[0], problems=source.problems.taken() + found[0].problems)
    return found
