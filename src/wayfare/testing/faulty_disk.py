"""A disk in memory that forgets, refuses and loses power where it is told to.

It keeps apart what a program sees and what would survive a power cut: file contents survive once
their file was flushed, names (made, renamed, removed) once their folder was. The stores run on it
unchanged, so a test can cut the power at every single operation and look at what is left.
"""

from __future__ import annotations

import errno
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.backends.disk import Disk, Held, OpenFile, Stat
from wayfare.clock import Clock, SystemClock
from wayfare.testing.disk_model import File, Folder, Keep
from wayfare.testing.faults import Fault, FaultPlan, disk_error, finish, refuse


class FaultyDisk:
    """A `Disk` in memory with faults; deterministic by its seed.

    Symbolic links do not exist on it. Any absolute path can be used; `/` exists.

    Args:
        seed: Decides every prefix that a fault or a crash keeps.
        sleep: Called with seconds by `slow` faults.
        clock: Where file times come from.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._plan = FaultPlan(sleep=sleep)
        self._random = random.Random(seed)
        self._clock = clock or SystemClock()
        self._root = Folder()
        self._locks: dict[Path, _Lock] = {}
        self._newest_ns = 0
        self._alone = threading.RLock()
        self._unlocked = threading.Condition(self._alone)

    @property
    def operations(self) -> int:
        """How many operations that change something were asked for so far."""
        return len(self._plan.trace)

    @property
    def trace(self) -> tuple[str, ...]:
        """Each of them in words, such as `write /w/log.jsonl`."""
        return tuple(self._plan.trace)

    def inject(
        self, fault: Fault, *, at: int = 1, times: int = 1, where: str = "", seconds: float = 0.0
    ) -> None:
        """Let something go wrong.

        Args:
            fault: What; see `Fault`.
            at: With the so-manieth operation from now on that the fault can hit; 1 is the next.
            times: With how many in a row; 0: with all from then on.
            where: Only operations on paths that hold this text count.
            seconds: How long a `slow` operation takes longer.
        """
        self._plan.inject(fault, at=at, times=times, where=where, seconds=seconds)

    def heal(self) -> None:
        """Forget all faults that have not come yet or are still going on."""
        self._plan.heal()

    def crash(self, keep: Keep = "some") -> None:
        """Cut the power and switch on again: the disk holds what survived, nothing is open.

        Args:
            keep: What becomes of changes that were not flushed: `"nothing"` survives; of each
                file's writes and each folder's changes `"some"` prefix, by the seed; or `"all"`.
        """
        with self._alone:
            self._root.crash(keep, self._random)
            self._locks.clear()
            self._plan.switch_on()
            self._unlocked.notify_all()

    def open(self, path: Path, *, exclusive: bool = False) -> OpenFile:
        hits = self._plan.begin("open", path)
        with self._alone:
            refuse(hits, path)
            folder, name = self._place(path)
            node = folder.children.get(name)
            if isinstance(node, Folder):
                raise disk_error(errno.EISDIR, path)
            if node is not None and exclusive:
                raise disk_error(errno.EEXIST, path)
            if node is None:
                node = File(self._now_ns())
                folder.add(name, node)
            finish(hits)
            return _Appending(self._write, self._sync, self._truncate, path, node, self._plan.boots)

    def read(self, path: Path, start: int = 0, length: int | None = None) -> bytes:
        hits = self._plan.begin("read", path)
        with self._alone:
            refuse(hits, path)
            node = self._find(path)
            if node is None:
                raise disk_error(errno.ENOENT, path)
            if isinstance(node, Folder):
                raise disk_error(errno.EISDIR, path)
            end = len(node.live) if length is None else start + length
            return bytes(node.live[start:end])

    def stat(self, path: Path) -> Stat | None:
        self._plan.begin("stat", path)
        with self._alone:
            node = self._find(path)
            return None if node is None else node.stat()

    def entries(self, folder: Path) -> dict[str, Stat]:
        hits = self._plan.begin("entries", folder)
        with self._alone:
            refuse(hits, folder)
            node = self._find(folder)
            if node is None:
                return {}
            if isinstance(node, File):
                raise disk_error(errno.ENOTDIR, folder)
            return {name: child.stat() for name, child in node.children.items()}

    def rename(self, old: Path, new: Path) -> None:
        hits = self._plan.begin("rename", new)
        with self._alone:
            refuse(hits, new)
            folder, name = self._place(old)
            other, new_name = self._place(new)
            if name not in folder.children:
                raise disk_error(errno.ENOENT, old)
            both = (folder.children[name], folder.children.get(new_name))
            if folder is not other or any(isinstance(node, Folder) for node in both):
                raise NotImplementedError("only files are renamed here, within their folder")
            folder.move(name, new_name)
            finish(hits)

    def unlink(self, path: Path) -> None:
        hits = self._plan.begin("unlink", path)
        with self._alone:
            refuse(hits, path)
            folder, name = self._place(path)
            node = folder.children.get(name)
            if not isinstance(node, File):
                raise disk_error(errno.ENOENT if node is None else errno.EISDIR, path)
            folder.drop(name)
            finish(hits)

    def make_folder(self, path: Path) -> None:
        hits = self._plan.begin("make_folder", path)
        with self._alone:
            refuse(hits, path)
            folder, name = self._place(path)
            if name in folder.children:
                raise disk_error(errno.EEXIST, path)
            folder.add(name, Folder())
            finish(hits)

    def sync_folder(self, folder: Path) -> None:
        hits = self._plan.begin("sync_folder", folder)
        with self._alone:
            refuse(hits, folder)
            node = self._find(folder)
            if not isinstance(node, Folder):
                raise disk_error(errno.ENOENT if node is None else errno.ENOTDIR, folder)
            finish(hits)
            node.sync()

    def resolve(self, path: Path) -> Path:
        return Path(os.path.normpath(Path("/") / path))

    def lock(self, path: Path, note: bytes, *, wait_seconds: float = 0.0) -> Held | None:
        hits = self._plan.begin("lock", path)
        with self._alone:
            refuse(hits, path)
            if not self._unlocked.wait_for(lambda: path not in self._locks, timeout=wait_seconds):
                return None
            folder, name = self._place(path)
            node = folder.children.get(name)
            if not isinstance(node, File):
                node = File(self._now_ns())
                folder.add(name, node)
            node.truncate(0)
            node.append(note)
            held = self._locks[path] = _Lock(self._unlock, path)
            finish(hits)
            return held

    def _write(self, path: Path, file: File, content: bytes, boots: int) -> int:
        hits = self._plan.begin("write", path, boots=boots)
        with self._alone:
            taken = len(content)
            if content and hits & {"full", "io_error", "short_write"}:
                taken = self._random.randrange(1 if "short_write" in hits else 0, len(content) + 1)
                taken = min(taken, max(len(content) - 1, 1))
            file.append(content[:taken])
            file.mtime_ns = self._now_ns()
            refuse(hits, path)
            finish(hits)
            return taken

    def _sync(self, path: Path, file: File, boots: int) -> None:
        hits = self._plan.begin("sync", path, boots=boots)
        with self._alone:
            if "io_error" in hits:
                file.lose()
            refuse(hits, path)
            finish(hits)
            file.sync()

    def _truncate(self, path: Path, file: File, size: int, boots: int) -> None:
        hits = self._plan.begin("truncate", path, boots=boots)
        with self._alone:
            refuse(hits, path)
            file.truncate(size)
            file.mtime_ns = self._now_ns()
            finish(hits)

    def _unlock(self, path: Path, held: _Lock) -> None:
        with self._alone:
            if self._locks.get(path) is held:
                del self._locks[path]
                self._unlocked.notify_all()

    def _find(self, path: Path) -> File | Folder | None:
        node: File | Folder | None = self._root
        for part in self.resolve(path).parts[1:]:
            node = node.children.get(part) if isinstance(node, Folder) else None
        return node

    def _place(self, path: Path) -> tuple[Folder, str]:
        """The folder that holds or would hold `path`, and the name in it."""
        resolved = self.resolve(path)
        folder = self._find(resolved.parent)
        if not isinstance(folder, Folder):
            raise disk_error(errno.ENOENT if folder is None else errno.ENOTDIR, path)
        return folder, resolved.name

    def _now_ns(self) -> int:
        """File times never repeat, so that equal stamps mean equal contents."""
        self._newest_ns = max(self._newest_ns + 1, int(self._clock.now() * 1e9))
        return self._newest_ns


class _Appending:
    """An open file; it is dead once the machine it was opened on is."""

    def __init__(
        self,
        write: Callable[[Path, File, bytes, int], int],
        sync: Callable[[Path, File, int], None],
        truncate: Callable[[Path, File, int, int], None],
        path: Path,
        file: File,
        boots: int,
    ) -> None:
        self._calls = (write, sync, truncate)
        self._path = path
        self._file: File | None = file
        self._boots = boots

    def write(self, content: bytes | memoryview) -> int:
        return self._calls[0](self._path, self._opened(), bytes(content), self._boots)

    def sync(self) -> None:
        self._calls[1](self._path, self._opened(), self._boots)

    def truncate(self, size: int) -> None:
        self._calls[2](self._path, self._opened(), size, self._boots)

    def close(self) -> None:
        self._file = None

    def _opened(self) -> File:
        if self._file is None:
            raise disk_error(errno.EBADF, self._path)
        return self._file


class _Lock:
    def __init__(self, unlock: Callable[[Path, _Lock], None], path: Path) -> None:
        self._unlock = unlock
        self._path = path

    def release(self) -> None:
        self._unlock(self._path, self)


if TYPE_CHECKING:
    _: Disk = FaultyDisk()
