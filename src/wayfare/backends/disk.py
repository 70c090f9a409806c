"""The narrow seam between the file stores and a disk, real or simulated.

Everything the file stores do to files goes through `Disk`, so that a simulated one
(`wayfare.testing.FaultyDisk`) can forget, refuse and crash at every single operation.
The operations are synchronous and raise `OSError`; `storing` and `reading` translate those, here
and nowhere else, into what wayfare's callers catch.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, ParamSpec, Protocol, TypeVar

from anyio import to_thread

from wayfare.clock import Clock
from wayfare.errors import NotFound, WriteFailed

Sync = Literal["always", "interval", "never"]
"""When what was written is flushed to the disk: before each write returns (nothing acknowledged is
ever lost), at most every so many seconds (a power cut loses so much), or whenever the operating
system likes (a killed process still loses nothing, a power cut may)."""

TEMP_PREFIX = ".wayfare-"
TEMP_SUFFIX = ".tmp"

_P = ParamSpec("_P")
_T = TypeVar("_T")


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


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a blocking function in a worker thread, to its end even when the caller is cancelled.

    A cancellation arrives before the function starts or at the caller's next await after it, so
    that nobody is left wondering whether a write happened.
    """
    return await to_thread.run_sync(lambda: function(*args, **kwargs))


class SyncPolicy:
    """Decides, write by write, whether to flush now.

    Args:
        mode: see `Sync`.
        interval_seconds: for `"interval"`; other modes ignore it.
    """

    def __init__(self, mode: Sync, interval_seconds: float, clock: Clock) -> None:
        self.mode = mode
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._last: float | None = None

    def due(self) -> bool:
        """Whether the write at hand must be flushed before it is acknowledged."""
        if self.mode != "interval":
            return self.mode == "always"
        return self._last is None or self._clock.monotonic() - self._last >= self._interval_seconds

    def done(self) -> None:
        """Note that everything written so far is flushed."""
        if self.mode == "interval":
            self._last = self._clock.monotonic()


def write_all(file: OpenFile, content: bytes) -> None:
    """Write every byte, in one system call unless the disk takes fewer at a time.

    Raises:
        OSError: the disk refused; a prefix of `content` may stand in the file.
    """
    taken = file.write(content)
    if taken == len(content):
        return
    rest = memoryview(content)[taken:]
    while rest:
        taken = file.write(rest)
        if taken == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[taken:]


def write_whole(
    disk: Disk,
    path: Path,
    content: bytes,
    *,
    clock: Clock,
    sync: bool,
    sync_folder: bool | None = None,
) -> None:
    """Replace a file in one step: temp file, flush, rename, flush of the folder.

    `sync` flushes the file before it gets its name, `sync_folder` (None: as `sync`) the name.

    The temp file's name cannot be guessed and it must not exist, so nothing planted is followed.
    After a crash at any point either the old or the new content stands, whole.

    Raises:
        OSError: the old content stands, unless only the flush of the folder failed.
    """
    temp, file = _open_temp(disk, path.parent, clock)
    try:
        try:
            write_all(file, content)
            if sync:
                file.sync()
        finally:
            file.close()
        disk.rename(temp, path)
    except Exception:
        with suppress(OSError):
            disk.unlink(temp)
        raise
    if sync if sync_folder is None else sync_folder:
        disk.sync_folder(path.parent)


def _open_temp(disk: Disk, folder: Path, clock: Clock) -> tuple[Path, OpenFile]:
    for _ in range(100):
        temp = folder / f"{TEMP_PREFIX}{clock.token()}{TEMP_SUFFIX}"
        with suppress(FileExistsError):  # left behind by a crash, or planted: take another name
            return temp, disk.open(temp, exclusive=True)
    raise FileExistsError(errno.EEXIST, "a hundred temporary names in a row are taken", str(folder))


def make_folders(
    disk: Disk, folder: Path, *, sync: bool, clock: Clock, ignored: Path | None
) -> None:
    """Make `folder` and what is missing above it, each flushed into its parent.

    Args:
        ignored: One of the folders on the way; when it is made here (or found empty, as a crash
            may leave it) it gets a `.gitignore` that keeps its contents out of git.

    Raises:
        OSError: a folder could not be made.
    """
    missing: list[Path] = []
    at = folder
    while disk.stat(at) is None and at != at.parent:
        missing.append(at)
        at = at.parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            disk.make_folder(path)
        if sync:
            disk.sync_folder(path.parent)
    if ignored is not None and (ignored in missing or not disk.entries(ignored)):
        write_whole(disk, ignored / ".gitignore", b"*\n", clock=clock, sync=sync)


def check_inside(disk: Disk, path: Path, inside: Path) -> None:
    """Make sure that `path`, links followed, stands in `inside`.

    Raises:
        OSError: it does not (`ELOOP`).
    """
    if not disk.resolve(path).is_relative_to(disk.resolve(inside)):
        raise OSError(errno.ELOOP, f"leads out of {inside} through a symbolic link", str(path))
