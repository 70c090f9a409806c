"""What a program sees of a disk, kept apart from what would survive a power cut."""

from __future__ import annotations

import itertools
import random
from typing import Literal, TypeVar

from wayfare.backends.disk import Stat

Keep = Literal["nothing", "some", "all"]
"""What a power cut leaves of changes that were not flushed: of each file's writes and of each
folder's changes, in their order, none, an arbitrary prefix (inside a write, too), or all."""

_T = TypeVar("_T")

_inodes = itertools.count(2)


class File:
    """Bytes as they read now, bytes that are safe, and the changes in between, in order."""

    def __init__(self, mtime_ns: int) -> None:
        self.live = bytearray()
        self.mtime_ns = mtime_ns
        self._safe = bytearray()
        # Bytes were appended, a number is a size that the file was cut to.
        self._pending: list[bytes | int] = []
        self._inode = next(_inodes)

    def append(self, content: bytes) -> None:
        self.live += content
        self._pending.append(content)

    def truncate(self, size: int) -> None:
        _change(self.live, size)
        self._pending.append(size)

    def sync(self) -> None:
        for change in self._pending:
            _change(self._safe, change)
        self._pending.clear()

    def lose(self) -> None:
        """A failed flush: the system takes the pages for written, the disk never got them."""
        self._pending = [
            change if isinstance(change, int) else bytes(len(change)) for change in self._pending
        ]

    def crash(self, keep: Keep, chance: random.Random) -> None:
        kept = _prefix(self._pending, keep, chance)
        if keep == "some" and kept and isinstance(kept[-1], bytes):
            kept[-1] = kept[-1][: chance.randint(0, len(kept[-1]))]
        self._pending = kept
        self.sync()
        self.live = bytearray(self._safe)

    def stat(self) -> Stat:
        return Stat(kind="file", size=len(self.live), mtime_ns=self.mtime_ns, inode=self._inode)


class Folder:
    """Names as they are now, names that are safe, and the changes in between, in order."""

    def __init__(self) -> None:
        self.children: dict[str, File | Folder] = {}
        self._safe: dict[str, File | Folder] = {}
        self._pending: list[dict[str, File | Folder | None]] = []
        self._inode = next(_inodes)

    def add(self, name: str, node: File | Folder) -> None:
        self._do({name: node})

    def drop(self, name: str) -> None:
        self._do({name: None})

    def move(self, old: str, new: str) -> None:
        """One change: a power cut leaves both names as they were, or as they are to be."""
        self._do({old: None, new: self.children[old]})

    def sync(self) -> None:
        for change in self._pending:
            _rename(self._safe, change)
        self._pending.clear()

    def crash(self, keep: Keep, chance: random.Random) -> None:
        self._pending = _prefix(self._pending, keep, chance)
        self.sync()
        self.children = dict(self._safe)
        for child in self.children.values():
            child.crash(keep, chance)

    def stat(self) -> Stat:
        return Stat(kind="folder", size=0, mtime_ns=0, inode=self._inode)

    def _do(self, change: dict[str, File | Folder | None]) -> None:
        _rename(self.children, change)
        self._pending.append(change)


def _change(content: bytearray, change: bytes | int) -> None:
    if not isinstance(change, int):
        content += change
    elif change < len(content):
        del content[change:]
    else:
        content += bytes(change - len(content))


def _rename(names: dict[str, File | Folder], change: dict[str, File | Folder | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _prefix(changes: list[_T], keep: Keep, chance: random.Random) -> list[_T]:
    if keep == "some":
        return changes[: chance.randint(0, len(changes))]
    return changes if keep == "all" else []
