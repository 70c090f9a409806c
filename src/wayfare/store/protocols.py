"""What storage must be able to do, in four protocols of at most five methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from wayfare.store.ref import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a log: its number (from 1) and its bytes without the line end."""

    number: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What opening a log found: how many whole lines, and a torn tail that was set aside.

    `torn_bytes` is 0 when the log ended cleanly; otherwise so many bytes after the last whole
    line were moved to `torn_path`, and the log ends with a whole line again.
    """

    lines: int
    torn_bytes: int = 0
    torn_path: str = ""


class Log(Protocol):
    """An append-only sequence of lines with one writer."""

    async def open(self) -> Opened:
        """Make the log ready for appending, setting a torn tail aside.

        Raises:
            WriteFailed: the storage cannot be written.
        """
        ...

    async def append(self, lines: Sequence[bytes]) -> None:
        """Append whole lines (no line ends inside), all or, after a crash, a prefix of them.

        When it returns the lines are as durable as the log's sync policy says.

        Raises:
            WriteFailed: nothing of `lines` counts as written; the log is as before.
        """
        ...

    def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Line]:
        """The lines numbered `first` to `last`, in order; to the end when `last` is None."""
        ...

    async def size(self) -> int:
        """Bytes the log holds."""
        ...

    async def close(self) -> None:
        """Flush and let go; appending afterwards is a mistake."""
        ...


class Blobs(Protocol):
    """Immutable contents by address."""

    async def put(self, name: str, content: bytes) -> Ref:
        """Store `content` durably under an address made of `name`; identical content once.

        The address never existed before with other content. Returns only when the bytes are
        flushed and verified.

        Raises:
            WriteFailed: nothing was stored.
        """
        ...

    async def get(self, ref: Ref) -> bytes:
        """The exact bytes.

        Raises:
            NotFound: no such blob, or its length or hash is not what the address says.
        """
        ...

    async def has(self, ref: Ref) -> bool:
        """Whether the blob is there, inside the store, with the right length."""
        ...


class Docs(Protocol):
    """Small texts by name, replaced by compare-and-swap.

    A version is the sha256 of the text's UTF-8 bytes; `None` means "does not exist".
    """

    async def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        ...

    async def read(self, name: str) -> bytes | None:
        """The bytes, or None when there is no such text."""
        ...

    async def write(self, name: str, content: bytes, *, expected: str | None) -> str:
        """Replace whole and durably if the present version is `expected`; returns the new version.

        Raises:
            Conflict: the present version is another one; nothing was written.
            WriteFailed: the storage refused; the old text stands.
        """
        ...

    async def delete(self, name: str, *, expected: str) -> None:
        """Remove if the present version is `expected`.

        Raises:
            Conflict: the present version is another one.
            WriteFailed: the storage refused; the text stands.
        """
        ...

    async def stamps(self) -> dict[str, str]:
        """A cheap stamp a text; an equal stamp means unchanged, so readers skip it."""
        ...


class Leases(Protocol):
    """The right to write, held by at most one at a time across processes and machines."""

    async def acquire(self, name: str, *, holder: str, seconds: float, wait_seconds: float) -> None:
        """Take the lease or renew one's own; waits up to `wait_seconds` for another holder.

        A lease whose holder is gone (its process dead, or not renewed for `seconds`) is taken over.

        Raises:
            LeaseHeld: somebody else holds it, with the holder's name.
        """
        ...

    async def release(self, name: str, *, holder: str) -> None:
        """Give it back; releasing what one does not hold does nothing."""
        ...

    async def holder(self, name: str) -> str | None:
        """Who holds it now, or None."""
        ...
