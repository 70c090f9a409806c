"""A real disk whose process is killed at a chosen operation, for tests with real processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.backends.disk import Disk, Held, OpenFile, Stat
from wayfare.backends.os_disk import OsDisk


class KillingDisk:
    """A `Disk` that passes everything on and kills its own process (SIGKILL) at one operation.

    A write is half done by then, any other operation has not begun. Nothing is cleaned up, as
    after `kill -9`; to be used in a process that was started for it.

    Args:
        at: At the so-manieth changing operation, from 1; 0: never, to count them.
        disk: What does the work; None: the operating system's files.
    """

    def __init__(self, *, at: int, disk: Disk | None = None) -> None:
        self.operations = 0
        """How many operations that change something were asked for so far."""
        self._at = at
        self._disk = disk or OsDisk()

    def open(self, path: Path, *, exclusive: bool = False) -> OpenFile:
        self.step()
        return _KillingFile(self, self._disk.open(path, exclusive=exclusive))

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        return self._disk.read(path, start, length)

    def stat(self, path: Path) -> Stat | None:
        return self._disk.stat(path)

    def entries(self, folder: Path) -> dict[str, Stat]:
        return self._disk.entries(folder)

    def rename(self, old: Path, new: Path) -> None:
        self.step()
        self._disk.rename(old, new)

    def unlink(self, path: Path) -> None:
        self.step()
        self._disk.unlink(path)

    def make_folder(self, path: Path) -> None:
        self.step()
        self._disk.make_folder(path)

    def sync_folder(self, folder: Path) -> None:
        self.step()
        self._disk.sync_folder(folder)

    def resolve(self, path: Path) -> Path:
        return self._disk.resolve(path)

    def lock(self, path: Path, note: bytes, *, wait_seconds: float = 0.0) -> Held | None:
        self.step()
        return self._disk.lock(path, note, wait_seconds=wait_seconds)

    def next_kills(self) -> bool:
        """Whether the next changing operation is the last one."""
        return self.operations + 1 == self._at

    def step(self) -> None:
        """Count an operation, and die if it is the one."""
        self.operations += 1
        if self.operations == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


class _KillingFile:
    def __init__(self, disk: KillingDisk, file: OpenFile) -> None:
        self._disk = disk
        self._file = file

    def write(self, content: bytes | memoryview) -> int:
        if self._disk.next_kills():
            self._file.write(content[: len(content) // 2])
        self._disk.step()
        return self._file.write(content)

    def sync(self) -> None:
        self._disk.step()
        self._file.sync()

    def truncate(self, size: int) -> None:
        self._disk.step()
        self._file.truncate(size)

    def close(self) -> None:
        self._file.close()


if TYPE_CHECKING:
    _: Disk = KillingDisk(at=0)
