"""Opening what somebody hands us: one JSON document or JSON lines, whatever its size and faults.

Lines are streamed; a document is decoded from the mapped file, so its text is not held beside its
values. The strict fast decoder goes first; what it refuses (lone surrogates, raw control
characters, NaN, bytes that are not UTF-8) is read by the tolerant one.
"""

from __future__ import annotations

import gzip
import json
import mmap
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from wayfare.replay.recording import Problem

MAX_PROBLEMS = 1_000
"""Problems kept of one file; the others are only counted, so that a ruined file of a million lines
does not fill the memory with complaints."""

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PACKED = {b"PK\x03\x04": "a zip archive", b"\x28\xb5\x2f\xfd": "zstd-compressed"}
_PADDING = b"\x00 \t\r\n"
"""Stripped around a line: a machine that lost power leaves blocks of NUL bytes in a log."""


class Unreadable(Exception):
    """Nothing of the file can be read; becomes a `RecordingError` where the path is known.

    `line` is 0 where it is not about what the file holds.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class ProblemLog:
    """Problems in the order they were met; keeps `MAX_PROBLEMS` of them and counts the rest."""

    def __init__(self, *, line: int = 0) -> None:
        self._line = line
        self._kept: list[Problem] = []
        self._more = 0

    def add(self, line: int, reason: str) -> None:
        """Note a problem. A log made for one line of a file notes that line whatever is said."""
        if len(self._kept) < MAX_PROBLEMS:
            self._kept.append(Problem(line=self._line or line, reason=reason))
        else:
            self._more += 1

    def first(self) -> Problem:
        """The first problem, or one that says there was nothing."""
        return self._kept[0] if self._kept else Problem(line=1, reason="the file is empty")

    def taken(self) -> tuple[Problem, ...]:
        """All kept problems, with the number of the others as the last."""
        if not self._more:
            return tuple(self._kept)
        rest = Problem(line=0, reason=f"and {self._more} more problems")
        return (*self._kept, rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a reader reads from: for names, for files beside it, and for what goes wrong."""

    path: Path
    problems: ProblemLog = field(default_factory=ProblemLog)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file that is one JSON value, beginning on `line`."""

    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class Lines:
    """A file of JSON lines: (line number from 1, value), bad lines left out and noted."""

    rows: Generator[tuple[int, Any]]
    as_document: Problem | None = None
    """Why the file is not one document either, where its first line looked like the start of one;
    to be told instead when the lines turn out to make no sense."""


def open_recording(path: Path, problems: ProblemLog) -> Document | Lines:
    """Find out whether a file is one document or JSON lines, without reading lines yet.

    Raises:
        Unreadable: no such file, no file, no permission, empty, binary, or packed.
    """
    try:
        with _open(path) as stream:
            number, raw = _first_line(stream)
            if raw is None:
                raise Unreadable(1, "the file is empty, or holds only blanks and NUL bytes")
            _refuse_binary(raw)
            try:
                value, remark = decode_json(raw)
            except BadJson as bad:
                if not bad.at_end:
                    return Lines(_rows(path, problems))
            else:
                if _first_line(stream)[1] is not None:
                    return Lines(_rows(path, problems))
                if remark:
                    problems.add(number, remark)
                return Document(value, number)
        try:
            return _document(path, problems)
        except BadJson as bad:
            why = Problem(line=bad.line, reason=str(bad))
            return Lines(_rows(path, problems), why)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(0, getattr(error, "strerror", None) or str(error)) from error


def rows_of(shape: Document | Lines) -> Iterator[tuple[int, Any]]:
    """(line number, value) of either kind of file; a document is one row."""
    if isinstance(shape, Lines):
        return shape.rows
    return iter([(shape.line, shape.value)])


class BadJson(ValueError):
    """Text that is no JSON value; `at_end` when it only stops too early."""

    def __init__(self, reason: str, *, line: int = 1, at_end: bool = False) -> None:
        super().__init__(reason)
        self.line = line
        self.at_end = at_end


def decode_json(raw: bytes) -> tuple[Any, str]:
    """A JSON value and, where its text had to be altered to be read, a remark on that.

    Raises:
        BadJson: it is no JSON value.
    """
    try:
        return msgspec.json.decode(raw), ""
    except (msgspec.DecodeError, RecursionError):
        text, remark = as_text(raw)
    text = text.rstrip()
    try:
        return json.loads(text, strict=False), remark
    except json.JSONDecodeError as error:
        at_end = error.pos >= len(text)
        reason = f"not JSON: {error.msg} (column {error.colno})"
        raise BadJson(reason, line=error.lineno, at_end=at_end) from None
    except (RecursionError, ValueError) as error:
        raise BadJson(f"not readable as JSON: {error}") from None


def as_text(raw: bytes) -> tuple[str, str]:
    """Bytes as text and, where they are not UTF-8 and had to be altered, a remark on that."""
    try:
        # surrogatepass: some writers put lone surrogates into UTF-8, which is not allowed to.
        return raw.decode("utf-8", "surrogatepass"), ""
    except UnicodeDecodeError as error:
        remark = f"byte {error.start} of the line is not UTF-8; replaced by U+FFFD"
        return raw.decode("utf-8", "replace"), remark


def shape_of(value: Any) -> str:
    """A short description of a JSON value nobody knows, for an error text."""
    if isinstance(value, dict):
        keys = [str(key) for key in cast("dict[Any, Any]", value)][:8]
        return "an object with the keys " + ", ".join(keys) if keys else "an empty object"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return f"a list of {len(items)}, first {shape_of(items[0])}" if items else "an empty list"
    if isinstance(value, str):
        return "a string"
    return "null" if value is None else "a number or a boolean"


def _open(path: Path) -> IO[bytes]:
    if path.exists() and not path.is_file():
        raise Unreadable(0, "it is a folder" if path.is_dir() else "it is not a regular file")
    stream = path.open("rb")
    magic = stream.read(4)
    stream.seek(0)
    if packed := _PACKED.get(magic):
        stream.close()
        raise Unreadable(1, f"it is {packed}; unpack it first")
    if magic.startswith(b"\x1f\x8b"):
        stream.close()
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return stream


def _first_line(stream: IO[bytes]) -> tuple[int, bytes | None]:
    """The next line with anything in it, and its number counted from where the stream stood."""
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if raw.startswith(_UTF16):
            raise Unreadable(1, "it is UTF-16 text; JSON files are UTF-8, convert it first")
        if line.strip(_PADDING):
            return number, line
    return 0, None


def _refuse_binary(raw: bytes) -> None:
    # A log may hold stray NULs and broken UTF-8, but what it begins with looks like JSON.
    opening = raw[:4096]
    if opening.strip(_PADDING)[:1] in (b"{", b"[", b'"'):
        return
    try:
        # The cut may fall into a character.
        is_text = "\x00" not in (opening[:-4] if len(opening) > 4000 else opening).decode()
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        raise Unreadable(1, "it is a binary file, not JSON")


def _rows(path: Path, problems: ProblemLog) -> Generator[tuple[int, Any]]:
    number = 0
    try:
        with _open(path) as stream:
            for number, raw in enumerate(stream, start=1):
                line = (raw.removeprefix(_BOM) if number == 1 else raw).strip(_PADDING)
                if not line:
                    if b"\x00" in raw:
                        problems.add(number, "a line of NUL bytes")
                    continue
                try:
                    value, remark = decode_json(line)
                except BadJson as error:
                    problems.add(number, str(error))
                    continue
                if remark:
                    problems.add(number, remark)
                yield number, value
    except (OSError, EOFError, zlib.error) as error:
        problems.add(number + 1, f"reading stopped: {error}")


def _document(path: Path, problems: ProblemLog) -> Document:
    """The file as one JSON value; raises BadJson when it is none."""
    try:
        with path.open("rb") as stream, _mapped(stream) as view:
            return Document(msgspec.json.decode(view), 1)
    except (msgspec.DecodeError, RecursionError):
        pass
    with _open(path) as stream:
        value, remark = decode_json(stream.read().removeprefix(_BOM))
    if remark:
        problems.add(1, remark)
    return Document(value, 1)


def _mapped(stream: IO[bytes]) -> mmap.mmap:
    return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
