"""Names and the files they live in: every name gives a file name, and no two names one file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

from wayfare.store.ref import digest

SLUG_BYTES = 120
"""A file name may have 255 bytes nearly everywhere; this leaves room for suffixes of any tool."""

_HASH_CHARS = 8
# What Windows keeps for devices, with any suffix after it.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
_INDEX = "memory"


def slug(name: str) -> str:
    """The file name, without suffix, that a record's name gives.

    Letters, marks, digits and `_` of every script are kept, in lower case and NFC; everything else
    becomes `-`. Never empty, never a device of Windows, never the index; at most 120 bytes, where a
    longer name keeps its beginning and a hash that tells it from others like it.
    """
    flat = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    kept = "".join(c if c == "_" or unicodedata.category(c)[0] in "LMN" else "-" for c in flat)
    bare = re.sub(r"-{2,}", "-", kept).strip("-")
    if not bare.strip("_"):
        return f"record-{_hash(name)}"
    if bare in _DEVICES or fold(bare) == _INDEX:
        return f"{bare}-record"
    if len(bare.encode()) <= SLUG_BYTES:
        return bare
    room = SLUG_BYTES - _HASH_CHARS - 1
    head = bare.encode()[:room].decode(errors="ignore").rstrip("-")
    return f"{head}-{_hash(name)}"


def fold(name: str) -> str:
    """What two names have in common that one file of a forgiving disk would hold."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def name_key(name: str) -> str:
    """What two spellings of one name have in common: case, width, and how words are joined."""
    return re.sub(r"[\s_-]+", "-", fold(name)).strip("-")


def free_file(name: str, folded: Container[str]) -> str:
    """A file name for a new record that collides, on any disk, with none whose `fold` is given."""
    stem = slug(name)
    if fold(f"{stem}.md") not in folded:
        return f"{stem}.md"
    number = 2
    while fold(f"{stem}-{number}.md") in folded:
        number += 1
    return f"{stem}-{number}.md"


def is_record_file(file: str) -> bool:
    """Whether a name in the folder is a record's: Markdown, not hidden, not the index."""
    return (
        file.endswith(".md")
        and not file.startswith(".")
        and fold(file) != fold("MEMORY.md")
        and "/" not in file
        and "\\" not in file
    )


def why_outside(path: str) -> str:
    """Why a path cannot name a record; empty when it can.

    The spelling alone is judged here; links are the storage's to refuse.
    """
    if "\0" in path or any(unicodedata.category(c) == "Cc" for c in path):
        return "the path holds a control character"
    if "/" in path or "\\" in path or ":" in path:
        return "a record's path has no folders"
    if "%" in path and re.search(r"%(?:2e|2f|5c|00)", path, re.IGNORECASE):
        return "the path holds an encoded separator"
    if fold(path) in (fold("MEMORY.md"), fold("MEMORY")):
        return "the index is not a record"
    if not path or path.startswith("."):
        return "no record has such a name"
    return ""


def _hash(name: str) -> str:
    return digest(name.encode(errors="surrogatepass"))[:_HASH_CHARS]
