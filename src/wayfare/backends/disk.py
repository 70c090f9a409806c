"""The narrow seam between the file stores and a disk, real or simulated.

Everything the file stores do to files goes through `Disk`, so that a simulated one
(`wayfare.testing.FaultyDisk`) can forget, refuse and crash at every single operation.
The operations are synchronous and raise `OSError`; `storing` and `reading` translate those, here
and nowhere else, into what wayfare's callers catch.
"""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from wayfare.errors import NotFound, WriteFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """What stands under a name, links not followed; `size` in bytes, `mtime_ns` in unix ns."""

    kind: Literal["file", "folder", "link", "other"]
    size: int
    mtime_ns: int
    inode: int

    @property
    def stamp(self) -> str:
        """Equal stamps: the text is unchanged (every replacement makes a new inode)."""
        return f"{self.size}-{self.mtime_ns}-{self.inode}"


class OpenFile(Protocol):
    """A file open for appending; each write goes to the end, whoever else writes."""

    def write(self, content: bytes | memoryview) -> int:
        """Write at the end; returns how many bytes were taken, which may be fewer."""
        ...

    def sync(self) -> None:
        """Return when everything written so far would survive a power cut."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to its first `size` bytes."""
        ...

    def close(self) -> None: ...


class Held(Protocol):
    """A lock that is held until released or until the process ends."""

    def release(self) -> None: ...


class Disk(Protocol):
    """File operations, one system call each where that can be. All raise `OSError`.

    Files are made with mode 0600, folders with 0700. A symbolic link in the last place of a path
    is never followed: `open` and `read` refuse it, `rename` and `unlink` act on the link.
    """

    def open(self, path: Path, *, exclusive: bool = False) -> OpenFile:
        """Open for appending, making the file; `exclusive`: it must not have existed."""
        ...

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        """Up to `length` bytes from byte `start`; to the end of the file when None."""
        ...

    def stat(self, path: Path) -> Stat | None:
        """What stands at `path`, or None."""
        ...

    def entries(self, folder: Path) -> dict[str, Stat]:
        """What a folder holds; empty when there is no such folder."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Give `old` the name `new` in one step, replacing what stood there."""
        ...

    def unlink(self, path: Path) -> None: ...

    def make_folder(self, path: Path) -> None:
        """Make one folder whose parent exists; raises `FileExistsError`."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in `folder` would survive a power cut."""
        ...

    def resolve(self, path: Path) -> Path:
        """The absolute path with every link followed; parts that do not exist stay as they are."""
        ...

    def lock(self, path: Path, note: bytes, *, wait_seconds: float = 0.0) -> Held | None:
        """Take the exclusive lock on `path` and write `note` into it; None when another has it.

        The lock of a process that ended is free.
        """
        ...


_REASONS = {
    errno.ENOSPC: "disk full",
    errno.EDQUOT: "disk quota used up",
    errno.EROFS: "not writable: the file system is read-only",
    errno.EACCES: "not writable: permission denied",
    errno.EPERM: "not writable: operation not permitted",
    errno.EIO: "the disk reports an input/output error",
    errno.ENAMETOOLONG: "the name is too long for this file system",
    errno.EMFILE: "too many open files in this process",
    errno.ENFILE: "too many open files on this machine",
    errno.ELOOP: "a symbolic link stands where a plain file must be",
    errno.ENOTDIR: "a file stands where a folder must be",
    errno.EISDIR: "a folder stands where a file must be",
    errno.EFBIG: "the file would be larger than this file system allows",
}


def reason_of(error: OSError) -> str:
    """What went wrong, in words a person can act on."""
    known = _REASONS.get(error.errno or 0)
    return known or (error.strerror or str(error) or type(error).__name__).lower()


@contextmanager
def storing(path: Path) -> Generator[None]:
    """Translate what the disk raises while writing.

    Raises:
        WriteFailed: instead of any `OSError`.
    """
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        raise WriteFailed(
            f"cannot write {path}: {reason}", path=str(path), reason=reason
        ) from error


@contextmanager
def reading(path: Path) -> Generator[None]:
    """Translate what the disk raises while reading.

    Raises:
        NotFound: instead of any `OSError`.
    """
    try:
        yield
    except OSError as error:
        reason = "no such file" if error.errno == errno.ENOENT else reason_of(error)
        reason = reason.replace("not writable", "not readable")
        raise NotFound(f"cannot read {path}: {reason}", ref=str(path)) from error
