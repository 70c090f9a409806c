"""The disk layout as the reader knows it: the one place to adjust when the layout changes.

What a reader that is given only a request can rely on:

- an address is a path below the workspace root that starts with one of `ROOTS`;
- `#57` behind it names one entry (a transcript), `#57-80` a range of lines, entries or rows;
- a transcript is a `.jsonl` file, one entry a line, `{"v":1,"id":57,"kind":"message",…,"wire":{…}}`;
- inside `wire`, `{"$blob": {"path": …, "bytes": …, "sha256": …}}` stands where a text stood that
  has a file of its own;
- a table of contents is a `.tsv` file whose lines hold an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench.wire import is_array, is_object

ROOTS = (".task_outputs/", ".transcripts/", ".memory/")
# A path may hold any letter or digit (names of sessions can be Chinese) and common punctuation;
# what ends a sentence is cut off behind it. A name may hold "#"; a number behind the last one says
# which entry or lines.
ADDRESS = re.compile(
    r"(?:\.task_outputs|\.transcripts|\.memory)/(?:[\w./@+=~%,-]|#(?=[\w.@+=~%,-]*/))+"
    r"(?:#\d+(?:-\d+)?)?"
)
PLACE = re.compile(r"#(\d+)(?:-(\d+))?\Z")
TRAILING = ".,-/"
LINES_PER_READ = 200
MOST_READS = 2

ENTRY_ID_KEY = "id"
ENTRY_BODY_KEY = "wire"
BLOB_KEY = "$blob"
BLOB_PATH_KEY = "path"
TRANSCRIPT_SUFFIX = ".jsonl"
CONTENTS_SUFFIX = ".tsv"
BLOCKS_SUFFIX = ".json"
TEXT_SUFFIXES = (".txt", ".md", ".log", ".json", ".jsonl", ".tsv", "")


def addresses(text: str) -> list[str]:
    """The addresses in a text, each once, in order of first occurrence."""
    found: dict[str, None] = {}
    for match in ADDRESS.finditer(text):
        address = match.group()
        found[address if PLACE.search(address) else address.rstrip(TRAILING)] = None
    return list(found)


def parse(address: str) -> tuple[str, tuple[int, int] | None]:
    """Path and inclusive range of an address; the range is None for a whole file."""
    place = PLACE.search(address)
    if place is None:
        return address, None
    return address[: place.start()], (int(place[1]), int(place[2] or place[1]))


def blob_paths(value: Any) -> Iterator[str]:
    """The files a transcript entry names in place of its texts."""
    if is_object(value):
        blob = value.get(BLOB_KEY)
        if is_object(blob) and isinstance(blob.get(BLOB_PATH_KEY), str):
            yield blob[BLOB_PATH_KEY]
            return
        for child in value.values():
            yield from blob_paths(child)
    elif is_array(value):
        for child in value:
            yield from blob_paths(child)
