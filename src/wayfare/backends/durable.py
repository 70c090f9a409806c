"""Writing so that a crash at any moment leaves either the old or the new: flushes, whole files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from anyio import to_thread

from wayfare.backends.disk import Disk, OpenFile
from wayfare.clock import Clock

Sync = Literal["always", "interval", "never"]
"""When what was written is flushed to the disk: before each write returns (nothing acknowledged is
ever lost), at most every so many seconds (a power cut loses so much), or whenever the operating
system likes (a killed process still loses nothing, a power cut may)."""

TEMP_PREFIX = ".wayfare-"
TEMP_SUFFIX = ".tmp"

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a blocking function in a worker thread, to its end even when the caller is cancelled.

    A cancellation arrives before the function starts or at the caller's next await after it, so
    that nobody is left wondering whether a write happened.
    """
    try:
        return await to_thread.run_sync(lambda: function(*args, **kwargs))
    except RuntimeError as error:
        # From Python 3.12 on no thread begins once the interpreter ends, when `govern` closes its
        # logs; nobody waits for the loop then. The thread was refused, so nothing ran yet.
        if "interpreter shutdown" not in str(error):
            raise
        return function(*args, **kwargs)


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
