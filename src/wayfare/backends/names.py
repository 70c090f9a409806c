"""Names from anywhere made into names a folder can hold, or judged as they are."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator

from wayfare.errors import Conflict, LeaseHeld

TWIN_NAMES = 1_000
"""So many files that hold other content than their name says are passed by before giving up."""

_UNSAFE = re.compile(r"[^\w.-]+")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def split_name(name: str, *, default_suffix: str = ".bin") -> tuple[str, str]:
    """A blob's name as (stem, suffix); the suffix is at most eight ASCII letters and digits."""
    found = _SUFFIX.search(name)
    if found is None:
        return name, default_suffix
    return name[: found.start()], found[0].lower()


def is_path(text: str) -> bool:
    """Whether a text can be the path of a file at all."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def safe_name(name: str, *, max_bytes: int = 100, fallback: str = "blob") -> str:
    """A file name made of `name`: word characters of any script, `.`, `-` and `_`, never empty.

    Never starts with a dot or a dash, holds no separator, and is at most `max_bytes` bytes of
    UTF-8. Different names may come out the same; whoever needs them apart adds a hash.
    """
    cleaned = _UNSAFE.sub("_", unicodedata.normalize("NFC", name)).lstrip(".-")
    if not cleaned.strip("_"):
        return fallback
    return cleaned.encode()[:max_bytes].decode(errors="ignore") or fallback


def hash_endings(sha256: str) -> Iterator[str]:
    """What tells a name from others like it: a short hash, longer ones, then numbers."""
    for length in (8, 16, 32, 64):
        yield sha256[:length]
    for number in range(2, TWIN_NAMES):
        yield f"{sha256}-{number}"


def folded(name: str) -> str:
    """Names that a case-insensitive or normalising disk takes for the same one fold the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def why_no_name(name: str, *, max_bytes: int = 240) -> str:
    """Why `name` cannot name a text in a folder; empty when it can."""
    if not name:
        return "the name is empty"
    if any(mark in name for mark in "/\\:"):
        return "the name holds a separator"
    if name.startswith("."):
        return "the name starts with a dot"
    if any(unicodedata.category(mark) in ("Cc", "Cs") for mark in name):
        return "the name holds a control character or half a character"
    if len(name.encode()) > max_bytes:
        return f"the name is longer than {max_bytes} bytes"
    return ""


def twin_of(name: str, names: Iterable[str]) -> str:
    """Why `name` must not be made beside `names`; empty when it is one of them or unlike all."""
    for other in names:
        if other != name and folded(other) == folded(name):
            return f"{other!r} is there and differs only in case or in how accents are written"
    return ""


def conflict(name: str, *, expected: str | None, found: str | None) -> Conflict:
    """The error of a lost compare-and-swap, in words."""
    if found is None:
        what = "it is gone"
    elif expected is None:
        what = "it exists already"
    else:
        what = "it was changed by somebody else"
    return Conflict(
        f"{name!r} is not as it was read: {what}; read it again", expected=expected, found=found
    )


def lease_held(name: str, holder: str, expires_at: float | None, *, process: str = "") -> LeaseHeld:
    """The error of a lease that somebody else keeps, in words."""
    who = f"{holder} ({process})" if process else holder
    return LeaseHeld(f"{name!r} is held by {who}", holder=holder, expires_at=expires_at)
