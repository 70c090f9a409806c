"""The real disk."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayfare.backends.disk import Disk, Held, OpenFile, Stat

_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# Opening a planted pipe must not wait for its other end.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)

_LOCK_POLL_SECONDS = 0.01


class OsFile:
    """A file descriptor open for appending."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, content: bytes | memoryview) -> int:
        return os.write(self._descriptor, content)

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


class OsDisk:
    """File operations of the operating system; nothing is remembered between them."""

    def open(self, path: Path, *, exclusive: bool = False) -> OpenFile:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK | _NO_WAIT | _BINARY
        return OsFile(os.open(path, flags | (os.O_EXCL if exclusive else 0), 0o600))

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT | _BINARY)
        try:
            if start:
                os.lseek(descriptor, start, os.SEEK_SET)
            if length is None:
                length = max(os.fstat(descriptor).st_size - start, 0)
            content = os.read(descriptor, length)
            if len(content) == length or not content:
                return content
            pieces = [content]
            left = length - len(content)
            while left and (piece := os.read(descriptor, left)):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)
        finally:
            os.close(descriptor)

    def stat(self, path: Path) -> Stat | None:
        try:
            return _stat(os.lstat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def entries(self, folder: Path) -> dict[str, Stat]:
        found: dict[str, Stat] = {}
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    # A file may go between the listing and the question.
                    with suppress(FileNotFoundError):
                        found[entry.name] = _stat(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return {}
        return found

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def make_folder(self, path: Path) -> None:
        os.mkdir(path, 0o700)

    def sync_folder(self, folder: Path) -> None:
        if sys.platform == "win32":  # folders cannot be flushed there
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def resolve(self, path: Path) -> Path:
        return Path(os.path.realpath(path))

    def lock(self, path: Path, note: bytes, *, wait_seconds: float = 0.0) -> Held | None:
        # Imported when the first lock is taken: readers never lock and should not pay for it.
        from filelock import FileLock, Timeout

        lock = FileLock(path, mode=0o600, thread_local=False, poll_interval=_LOCK_POLL_SECONDS)
        try:
            lock.acquire(timeout=wait_seconds)
        except Timeout:
            return None
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | _NO_LINK)
            try:
                os.write(descriptor, note)
            finally:
                os.close(descriptor)
        except OSError:
            lock.release()
            raise
        return lock


def _stat(found: os.stat_result) -> Stat:
    kind: Literal["file", "folder", "link", "other"] = "other"
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    elif stat.S_ISLNK(found.st_mode):
        kind = "link"
    return Stat(kind=kind, size=found.st_size, mtime_ns=found.st_mtime_ns, inode=found.st_ino)


if TYPE_CHECKING:
    _: Disk = OsDisk()
