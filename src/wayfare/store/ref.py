"""`Ref`: an address that leads back to exact bytes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_ENTRY = re.compile(r"^(?P<path>.+)#(?P<first>\d+)(?:-(?P<last>\d+))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """Where exact bytes stand: a blob, or one entry (or a run of entries) of a transcript.

    Its printed form is what the model and people see and what the reader takes:
    `path` for a blob, `path#12` for entry 12, `path#12-40` for a run of entries.
    `bytes` and `sha256` describe a blob and are unknown (-1, empty) for entries.
    """

    path: str
    first: int | None = None
    last: int | None = None
    bytes: int = -1
    sha256: str = ""

    def __str__(self) -> str:
        if self.first is None:
            return self.path
        if self.last is None or self.last == self.first:
            return f"{self.path}#{self.first}"
        return f"{self.path}#{self.first}-{self.last}"

    @classmethod
    def parse(cls, address: str) -> Ref:
        """Read a printed address. Blobs come back without length and hash."""
        found = _ENTRY.match(address.strip())
        if found is None:
            return cls(path=address.strip())
        first = int(found["first"])
        last = int(found["last"]) if found["last"] else first
        return cls(path=found["path"], first=first, last=last)


def digest(content: bytes) -> str:
    """The sha256 of `content`, as 64 hexadecimal characters."""
    return hashlib.sha256(content).hexdigest()
