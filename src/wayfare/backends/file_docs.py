"""Small texts in one folder, one file each, replaced whole by compare-and-swap."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.backends.disk import Disk, Stat, reading, storing
from wayfare.backends.durable import (
    Sync,
    SyncPolicy,
    in_thread,
    write_whole,
)
from wayfare.backends.names import conflict, folded, twin_of, why_no_name
from wayfare.backends.os_disk import OsDisk
from wayfare.backends.process import read_note, this_process
from wayfare.backends.store_folder import StoreFolder
from wayfare.clock import Clock, SystemClock
from wayfare.errors import LeaseHeld, WriteFailed
from wayfare.store import Docs
from wayfare.store.ref import digest


class FileDocs:
    """Texts as files `<folder>/<name><suffix>`; names are without the suffix.

    Links are not texts: they are neither listed nor read, and never written through. Dot files,
    other suffixes and folders are not looked at.

    Args:
        folder: Made (mode 0700) at the first write.
        suffix: What file names end with.
        exclude: Names that are no texts of this store though they look like it, whatever their
            case, such as a generated index; writing them is refused.
        inside: The folder that `folder` must stand in when every link is followed; None: the one
            above it.
        lock_path: The file locked for the moment of each write, so that two processes cannot both
            win one compare-and-swap; None: `<folder>/.lock`.
        lock_wait_seconds: How long a write waits for another process's.
        check_twins: Whether a new name is compared with all others, so that none differs from
            another only by case; that lists the folder, which a caller with ten thousand texts who
            looks after it himself can leave out.
        gitignore_in: A folder on the way that gets a `.gitignore` of `*` when it is first made.
        most_bytes: A larger text is neither read nor replaced: it was not written here. None: any.
    """

    def __init__(
        self,
        folder: Path,
        *,
        suffix: str = ".md",
        exclude: Collection[str] = (),
        inside: Path | None = None,
        lock_path: Path | None = None,
        lock_wait_seconds: float = 10.0,
        disk: Disk | None = None,
        sync: Sync = "always",
        sync_interval_seconds: float = 1.0,
        check_twins: bool = True,
        gitignore_in: Path | None = None,
        most_bytes: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._check_twins = check_twins
        self._suffix = suffix
        self._excluded = {folded(name) for name in exclude}
        self._lock_path = lock_path or folder / ".lock"
        self._lock_wait_seconds = lock_wait_seconds
        self._disk = disk or OsDisk()
        self._clock = clock or SystemClock()
        self._policy = SyncPolicy(sync, sync_interval_seconds, self._clock)
        self._home = StoreFolder(
            folder,
            disk=self._disk,
            clock=self._clock,
            inside=inside or folder.parent,
            ignored=gitignore_in,
            flush=sync != "never",
        )
        self._lock_home = StoreFolder(
            self._lock_path.parent,
            disk=self._disk,
            clock=self._clock,
            ignored=gitignore_in,
            flush=False,
        )
        self._writing = threading.Lock()

    async def names(self) -> tuple[str, ...]:
        """All names, sorted.

        Raises:
            NotFound: the folder is there and cannot be listed, or leads out through a link.
        """
        return tuple(sorted(self._texts()))

    async def read(self, name: str) -> bytes | None:
        """The bytes, or None when no text can have or has this name.

        Raises:
            NotFound: the file is there and cannot be read.
        """
        path = self._path_of(name)
        if path is None:
            return None
        with reading(path):
            self._home.check()
            return self._present(path)

    async def write(self, name: str, content: bytes, *, expected: str | None) -> str:
        """Replace whole if the present version is `expected`; see `Docs.write`.

        Raises:
            Conflict: the present version is another one; nothing was written.
            WriteFailed: the disk refused, no text can have this name, or another name differs from
                it only by case; the old text stands.
            LeaseHeld: another process kept writing for `lock_wait_seconds`.
        """
        return await in_thread(self._write, name, content, expected)

    async def delete(self, name: str, *, expected: str) -> None:
        """Remove if the present version is `expected`; see `Docs.delete`.

        Raises:
            Conflict: the present version is another one.
            WriteFailed: the disk refused; the text stands.
            LeaseHeld: another process kept writing for `lock_wait_seconds`.
        """
        await in_thread(self._delete, name, expected)

    async def stamps(self) -> dict[str, str]:
        """Size, time in ns and inode of each file, by name.

        Raises:
            NotFound: the folder is there and cannot be listed, or leads out through a link.
        """
        return {name: found.stamp for name, found in self._texts().items()}

    def _texts(self) -> dict[str, Stat]:
        with reading(self.folder):
            self._home.check()
            entries = self._disk.entries(self.folder)
        texts: dict[str, Stat] = {}
        for file_name, found in entries.items():
            name = file_name.removesuffix(self._suffix)
            if found.kind == "file" and name != file_name and self._can_be(name):
                texts[name] = found
        return texts

    def _can_be(self, name: str) -> bool:
        """Whether a text may have this name."""
        if not name or name.startswith(".") or folded(name) in self._excluded:
            return False
        return not ("/" in name or "\0" in name or os.sep in name) and _is_unicode(name)

    def _path_of(self, name: str) -> Path | None:
        """Where a text of this name stands; None when none can."""
        return self.folder / f"{name}{self._suffix}" if self._can_be(name) else None

    def _present(self, path: Path) -> bytes | None:
        found = self._disk.stat(path)
        if found is None or found.kind != "file":
            return None
        if self._most_bytes is not None and found.size > self._most_bytes:
            raise OSError(
                f"it has {found.size:,} bytes, more than the {self._most_bytes:,} allowed"
            )
        with suppress(FileNotFoundError):  # gone between the look and the read
            return self._disk.read(path)
        return None

    def _write(self, name: str, content: bytes, expected: str | None) -> str:
        path = self._path_of(name)
        reason = why_no_name(name) or ("the name is reserved" if path is None else "")
        if path is None or reason:
            raise WriteFailed(f"cannot write {name!r}: {reason}", path=name, reason=reason)
        with self._swapping(path):
            alone = expected is not None or not self._check_twins
            if not alone and (reason := twin_of(name, self._texts())):
                raise WriteFailed(f"cannot write {path}: {reason}", path=str(path), reason=reason)
            old = self._checked(path, name, expected)
            flush, due = self._policy.mode != "never", self._policy.due()
            try:
                write_whole(
                    self._disk, path, content, clock=self._clock, sync=flush, sync_folder=due
                )
            except OSError:
                self._put_back(path, old)
                raise
            if due:
                self._policy.done()
        return digest(content)

    def _delete(self, name: str, expected: str) -> None:
        path = self._path_of(name)
        if path is None:
            raise conflict(name, expected=expected, found=None)
        with self._swapping(path):
            old = self._checked(path, name, expected)
            try:
                self._disk.unlink(path)
                if self._policy.mode == "always":
                    self._disk.sync_folder(self.folder)
            except OSError:
                self._put_back(path, old)
                raise

    @contextmanager
    def _swapping(self, path: Path) -> Generator[None]:
        """Alone with the folder, across threads and processes, for the moment of one write."""
        with self._writing, storing(path):
            self._home.ready()
            self._lock_home.ready()
            held = self._disk.lock(
                self._lock_path,
                this_process().note(self._clock.now()),
                wait_seconds=self._lock_wait_seconds,
            )
            if held is None:
                holder, since = read_note(self._disk.read(self._lock_path, 0, 4_096))
                raise LeaseHeld(
                    f"{self.folder} is being written by {holder}{since}, still after "
                    f"{self._lock_wait_seconds:g} seconds",
                    holder=holder,
                )
            try:
                yield
            finally:
                held.release()

    def _checked(self, path: Path, name: str, expected: str | None) -> bytes | None:
        found = self._disk.stat(path)
        if found is not None and found.kind == "link":
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        present = self._present(path)
        version = None if present is None else digest(present)
        if version != expected:
            raise conflict(name, expected=expected, found=version)
        return present

    def _put_back(self, path: Path, old: bytes | None) -> None:
        """A failure after the rename must not leave a text that was reported as not written."""
        with suppress(OSError):
            if self._present(path) == old:
                return
            if old is None:
                self._disk.unlink(path)
            else:
                write_whole(self._disk, path, old, clock=self._clock, sync=True, sync_folder=False)


def _is_unicode(name: str) -> bool:
    """File names that are not UTF-8 come with halves of characters, which no text can hold."""
    return name.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in name)


if TYPE_CHECKING:
    _: Docs = FileDocs(Path())
