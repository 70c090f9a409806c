"""A disk that can be read and not written, for code that must say so and lose nothing."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

from wayfare.backends.disk import Disk, Held, OpenFile, Stat


class ReadOnlyDisk:
    """Reads go to `disk`; every change is refused as a read-only file system refuses it."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def open(self, path: Path, *, exclusive: bool = False) -> OpenFile:
        _refuse(path)

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        return self._disk.read(path, start, length)

    def stat(self, path: Path) -> Stat | None:
        return self._disk.stat(path)

    def entries(self, folder: Path) -> dict[str, Stat]:
        return self._disk.entries(folder)

    def rename(self, old: Path, new: Path) -> None:
        _refuse(new)

    def unlink(self, path: Path) -> None:
        _refuse(path)

    def make_folder(self, path: Path) -> None:
        _refuse(path)

    def sync_folder(self, folder: Path) -> None:
        _refuse(folder)

    def resolve(self, path: Path) -> Path:
        return self._disk.resolve(path)

    def lock(self, path: Path, note: bytes, *, wait_seconds: float = 0.0) -> Held | None:
        _refuse(path)


def _refuse(path: Path) -> NoReturn:
    raise OSError(errno.EROFS, "Read-only file system", str(path))
