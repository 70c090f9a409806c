"""The independent reader: can a text that is no longer visible be had back, byte for byte?

It is given the text of a request and a root folder, nothing else. It finds addresses in the
request and follows them, in at most two reads; a read is a file, at most 200 lines, or one entry
of a transcript. A range of more than 200 lines is read as the whole file, and charged so. Layout
details live in `bench.judges.layout`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.judges import layout
from bench.wire import is_object, leaves, parsed_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How one text was had back. `reads` 0: it stands in the request itself.

    `chars_read` counts every character of the reads on the cheapest way found, not only those of
    the text. A text that was not found has 0 reads and 0 characters.
    """

    found: bool
    reads: int
    chars_read: int
    address: str = ""


NOT_FOUND = Recovery(found=False, reads=0, chars_read=0)


@dataclass(slots=True, kw_only=True)
class _Page:
    """What one read shows: its size, the texts in it, and where it leads."""

    chars: int
    texts: list[str]
    links: list[str] = field(default_factory=list[str])


class _File:
    """A file as lines, read again only where it grew (transcripts are append-only)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] = (-1, -1)
        self._tail = b""
        self.lines: list[str] = []
        self.entries: dict[int, int] = {}

    def refresh(self) -> bool:
        """Read what is new; False when the file is not there."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp == self._stamp:
            return True
        grown = 0 <= self._stamp[0] < status.st_size and bool(self.lines)
        with self._path.open("rb") as file:
            if grown:
                file.seek(self._stamp[0])
                added = self._tail + file.read()
            else:
                self.lines, self.entries, added = [], {}, file.read()
        self._stamp = stamp
        # Only "\n" ends a line here; other separators are characters of the text.
        *whole, self._tail = added.split(b"\n")
        start = len(self.lines)
        self.lines += [line.decode("utf-8", "surrogatepass") for line in whole]
        if self._path.suffix == layout.TRANSCRIPT_SUFFIX:
            for number, line in enumerate(self.lines[start:], start):
                entry = _entry_id(line)
                if entry is not None:
                    self.entries[entry] = number
        return True


def _entry_id(line: str) -> int | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    key = entry.get(layout.ENTRY_ID_KEY) if is_object(entry) else None
    return key if isinstance(key, int) else None


class Reader:
    """Follows addresses below one root folder; keeps what it read between calls."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, _File] = {}
        self._pages: dict[tuple[str, tuple[int, int]], _Page] = {}
        self._blobs: dict[str, tuple[tuple[int, int], _Page]] = {}

    def recoverable(self, texts: Sequence[str], request_text: str) -> list[Recovery]:
        """For each text, the cheapest way to it from the request."""
        index = self.index(request_text)
        return [index.find(text) for text in texts]

    def index(self, request_text: str) -> Index:
        """Everything the request leads to within two reads."""
        index = Index(request_text)
        for address in layout.addresses(request_text):
            page = self.read(address)
            if page is None:
                continue
            index.add(page.texts, reads=1, chars=page.chars, address=address)
            for link in dict.fromkeys(page.links):
                further = self.read(link)
                if further is not None:
                    index.add(
                        further.texts,
                        reads=2,
                        chars=page.chars + further.chars,
                        address=f"{address} -> {link}",
                    )
        return index

    def read(self, address: str) -> _Page | None:
        """One read; None when nothing is there or it is more than one read may be."""
        path, span = layout.parse(address)
        if ".." in Path(path).parts:
            return None
        suffix = Path(path).suffix
        if suffix in (layout.TRANSCRIPT_SUFFIX, layout.CONTENTS_SUFFIX):
            return self._read_lines(path, span, suffix)
        if suffix not in layout.TEXT_SUFFIXES:
            return None
        page = self._read_blob(path, suffix)
        if page is None or span is None:
            return page
        lines = page.texts[0].split("\n")[span[0] - 1 : span[1]] if page.texts else []
        if not 0 < len(lines) <= layout.LINES_PER_READ:
            return None
        text = "\n".join(lines)
        return _Page(chars=len(text), texts=[text])

    def _read_blob(self, path: str, suffix: str) -> _Page | None:
        full = self.root / path
        try:
            status = full.stat()
            stamp = (status.st_size, status.st_mtime_ns)
            held = self._blobs.get(path)
            if held is not None and held[0] == stamp:
                return held[1]
            text = full.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError):
            return None
        texts = [text]
        if suffix == layout.BLOCKS_SUFFIX:
            with contextlib.suppress(ValueError):
                texts += leaves(json.loads(text))
        page = _Page(chars=len(text), texts=texts)
        self._blobs[path] = (stamp, page)
        return page

    def _read_lines(self, path: str, span: tuple[int, int] | None, suffix: str) -> _Page | None:
        file = self._files.setdefault(path, _File(self.root / path))
        if not file.refresh():
            return None
        if span is None:
            numbers: Iterable[int] = range(len(file.lines))
        else:
            if suffix == layout.TRANSCRIPT_SUFFIX:
                numbers = [
                    file.entries[i] for i in range(span[0], span[1] + 1) if i in file.entries
                ]
            else:
                numbers = range(max(span[0] - 1, 0), min(span[1], len(file.lines)))
        page = _Page(chars=0, texts=[])
        for number in numbers:
            line = self._line(path, number, file.lines[number], suffix)
            page.chars += line.chars
            page.texts += line.texts
            page.links += line.links
        if span is not None and span[1] - span[0] >= layout.LINES_PER_READ:
            # Too long for one read of lines: the file it names is one read, and costs all of it.
            page.chars = sum(map(len, file.lines)) + len(file.lines)
        return page if page.chars else None

    def _line(self, path: str, number: int, line: str, suffix: str) -> _Page:
        key = (path, (number, hash(line)))
        held = self._pages.get(key)
        if held is None:
            if suffix == layout.CONTENTS_SUFFIX:
                held = _Page(chars=len(line) + 1, texts=[line], links=layout.addresses(line))
            else:
                held = _transcript_line(line)
            self._pages[key] = held
        return held


def _transcript_line(line: str) -> _Page:
    try:
        entry = json.loads(line)
    except ValueError:
        return _Page(chars=len(line) + 1, texts=[line])
    body: Any = entry.get(layout.ENTRY_BODY_KEY, entry) if is_object(entry) else entry
    texts = list(leaves(body))
    # Call arguments that stand as JSON text are read by their values, as everywhere here.
    for text in list(texts):
        if text[:1] in ("{", "["):
            parsed = parsed_arguments(text)
            if not isinstance(parsed, str):
                texts += leaves(parsed)
    return _Page(chars=len(line) + 1, texts=texts, links=list(layout.blob_paths(body)))


class Index:
    """Texts reachable from one request, each with its cheapest way."""

    def __init__(self, request_text: str) -> None:
        self._request_text = request_text
        self._exact: dict[str, Recovery] = {}
        self._places: list[tuple[str, Recovery]] = []

    def add(self, texts: Iterable[str], *, reads: int, chars: int, address: str) -> None:
        """Texts that one way leads to."""
        way = Recovery(found=True, reads=reads, chars_read=chars, address=address)
        for text in texts:
            held = self._exact.get(text)
            if held is None or (way.chars_read, way.reads) < (held.chars_read, held.reads):
                self._exact[text] = way
                self._places.append((text, way))

    def find(self, text: str, *, look_at_request: bool = True) -> Recovery:
        """The cheapest way to a text: in the request, as a whole leaf, or inside a leaf.

        `look_at_request=False` leaves out the search in the request, for callers that know which
        texts stand in it.
        """
        if look_at_request and text in self._request_text:
            return Recovery(found=True, reads=0, chars_read=0)
        held = self._exact.get(text)
        if held is not None:
            return held
        inside = [way for place, way in self._places if len(place) >= len(text) and text in place]
        return min(inside, key=lambda way: (way.chars_read, way.reads), default=NOT_FOUND)

    def find_whole(self, text: str) -> Recovery | None:
        """The cheapest way to a text that is a leaf of its own; a dictionary look-up."""
        return self._exact.get(text)


def recoverable(texts: Sequence[str], request_text: str, root: Path) -> list[Recovery]:
    """For each text: does the request show it, or lead to it in at most two reads?"""
    return Reader(root).recoverable(texts, request_text)
