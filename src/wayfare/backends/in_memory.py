"""The four stores in memory: for tests, for trying things out, for sessions nobody will resume.

Each takes an optional shelf that holds the contents, so that a store can be closed and opened
again, or be shared by two.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from wayfare.backends.names import (
    conflict,
    hash_endings,
    lease_held,
    safe_name,
    split_name,
    twin_of,
    why_no_name,
)
from wayfare.clock import Clock, SystemClock
from wayfare.errors import LeaseHeld, NotFound, WriteFailed
from wayfare.store import Blobs, Docs, Leases, Line, Log, Opened, Ref
from wayfare.store.ref import digest


@dataclass(slots=True)
class LogShelf:
    """Lines that outlive the `InMemoryLog` that wrote them."""

    lines: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    writer: InMemoryLog | None = None


class InMemoryLog:
    """A log in a list."""

    def __init__(self, shelf: LogShelf | None = None) -> None:
        self._shelf = shelf or LogShelf()

    async def open(self) -> Opened:
        """Take the right to write.

        Raises:
            LeaseHeld: another `InMemoryLog` on the same shelf is open.
        """
        shelf = self._shelf
        if shelf.writer is not None and shelf.writer is not self:
            raise LeaseHeld("this log is being written by another object", holder="this process")
        shelf.writer = self
        return Opened(lines=len(shelf.lines))

    async def append(self, lines: Sequence[bytes]) -> None:
        """Append whole lines.

        Raises:
            WriteFailed: the log is not open.
            ValueError: a line holds a line end.
        """
        if any(b"\n" in line for line in lines):
            raise ValueError("a log line must not hold a line end")
        if lines and self._shelf.writer is not self:
            reason = "the log is not open"
            raise WriteFailed(f"cannot write: {reason}", path="", reason=reason)
        self._shelf.lines.extend(lines)
        self._shelf.size += sum(map(len, lines)) + len(lines)

    async def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Line]:
        """The lines `first` to `last` that stand when reading begins."""
        lines = self._shelf.lines
        end = len(lines) if last is None else min(last, len(lines))
        for number in range(max(first, 1), end + 1):
            yield Line(number=number, content=lines[number - 1])

    async def size(self) -> int:
        """Bytes of all lines, with one for each line end."""
        return self._shelf.size

    async def close(self) -> None:
        """Give the right to write back."""
        if self._shelf.writer is self:
            self._shelf.writer = None


class InMemoryBlobs:
    """Blobs in a dictionary, with addresses like those of files.

    Args:
        root: What every address begins with.
    """

    def __init__(self, root: str = "blobs", shelf: dict[str, bytes] | None = None) -> None:
        self._root = root
        self._shelf: dict[str, bytes] = {} if shelf is None else shelf

    async def put(self, name: str, content: bytes) -> Ref:
        """Store `content` under an address made of `name`."""
        hashed = digest(content)
        stem, suffix = split_name(name)
        for ending in hash_endings(hashed):
            path = f"{self._root}/{safe_name(stem)}-{ending}{suffix}"
            if self._shelf.setdefault(path, content) == content:
                return Ref(path=path, bytes=len(content), sha256=hashed)
        reason = "every name like it is taken"
        raise WriteFailed(f"cannot store {name!r}: {reason}", path=self._root, reason=reason)

    async def get(self, ref: Ref) -> bytes:
        """The exact bytes.

        Raises:
            NotFound: no such blob, or other bytes than the address says.
        """
        content = self._shelf.get(ref.path) if ref.first is None else None
        if content is None:
            raise NotFound(f"there is no blob at {ref}", ref=str(ref))
        changed = not digest(content).startswith(ref.sha256)
        if ref.bytes not in (-1, len(content)) or changed:
            raise NotFound(f"{ref} holds other bytes than the address says", ref=str(ref))
        return content

    async def has(self, ref: Ref) -> bool:
        """Whether a blob of the right length stands at the address."""
        content = self._shelf.get(ref.path) if ref.first is None else None
        return content is not None and ref.bytes in (-1, len(content))


class InMemoryDocs:
    """Texts in a dictionary."""

    def __init__(self, shelf: dict[str, bytes] | None = None) -> None:
        self._shelf: dict[str, bytes] = {} if shelf is None else shelf

    async def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._shelf))

    async def read(self, name: str) -> bytes | None:
        """The bytes, or None."""
        return self._shelf.get(name)

    async def write(self, name: str, content: bytes, *, expected: str | None) -> str:
        """Replace if the present version is `expected`; returns the new version.

        Raises:
            Conflict: it is another one.
            WriteFailed: no such name is possible, or another name differs from it only by case.
        """
        if reason := why_no_name(name) or twin_of(name, self._shelf):
            raise WriteFailed(f"cannot write {name!r}: {reason}", path=name, reason=reason)
        self._check(name, expected)
        self._shelf[name] = content
        return digest(content)

    async def delete(self, name: str, *, expected: str) -> None:
        """Remove if the present version is `expected`.

        Raises:
            Conflict: it is another one.
        """
        self._check(name, expected)
        del self._shelf[name]

    async def stamps(self) -> dict[str, str]:
        """The version of each text."""
        return {name: digest(content) for name, content in self._shelf.items()}

    def _check(self, name: str, expected: str | None) -> None:
        present = self._shelf.get(name)
        found = None if present is None else digest(present)
        if found != expected:
            raise conflict(name, expected=expected, found=found)


class InMemoryLeases:
    """Leases in a dictionary; they run out by the clock alone.

    Args:
        sleep: Awaited with seconds between two looks; a test passes one that moves its clock.
        poll_seconds: How often a waiting caller looks.
    """

    def __init__(
        self,
        shelf: dict[str, tuple[str, float]] | None = None,
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        poll_seconds: float = 0.1,
    ) -> None:
        self._shelf: dict[str, tuple[str, float]] = {} if shelf is None else shelf
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._poll_seconds = poll_seconds

    async def acquire(self, name: str, *, holder: str, seconds: float, wait_seconds: float) -> None:
        """Take the lease or renew one's own.

        Raises:
            LeaseHeld: somebody else still holds it after `wait_seconds`.
        """
        deadline = self._clock.monotonic() + wait_seconds
        while (other := await self.holder(name)) not in (None, holder):
            left = deadline - self._clock.monotonic()
            if left <= 0:
                expires_at = self._shelf[name][1]
                raise lease_held(name, str(other), expires_at)
            await self._sleep(min(self._poll_seconds, left))
        self._shelf[name] = (holder, self._clock.now() + seconds)

    async def release(self, name: str, *, holder: str) -> None:
        """Give it back, if `holder` holds it."""
        if name in self._shelf and self._shelf[name][0] == holder:
            del self._shelf[name]

    async def holder(self, name: str) -> str | None:
        """Who holds it now, or None."""
        held = self._shelf.get(name)
        return held[0] if held is not None and held[1] > self._clock.now() else None


if TYPE_CHECKING:
    _log: Log = InMemoryLog()
    _blobs: Blobs = InMemoryBlobs()
    _docs: Docs = InMemoryDocs()
    _leases: Leases = InMemoryLeases()
