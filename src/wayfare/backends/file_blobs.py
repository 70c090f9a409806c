"""Full texts and images as local files, each under a name that carries its hash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.backends.disk import Disk, reading, storing
from wayfare.backends.durable import (
    Sync,
    SyncPolicy,
    in_thread,
    write_whole,
)
from wayfare.backends.names import TWIN_NAMES, hash_endings, is_path, safe_name, split_name
from wayfare.backends.os_disk import OsDisk
from wayfare.backends.store_folder import StoreFolder, check_inside
from wayfare.clock import Clock, SystemClock
from wayfare.errors import NotFound, WriteFailed
from wayfare.store import Blobs, Ref
from wayfare.store.ref import digest

_COMPARED_BYTES = 1_048_576
"""Up to this size what was written is read back and compared; beyond it only its size is."""

_HASH_IN_NAME = re.compile(
    r"-(?P<hash>[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})(?:-\d+)?\.\w+$"
)


class FileBlobs:
    """Blobs in one folder: `<root>/<safe name>-<first 8 of sha256>.<suffix>`.

    Args:
        root: The folder; made (mode 0700) when the first blob is put.
        workspace: What printed addresses are relative to; a root outside prints absolute ones.
            A root inside that leads out of the workspace through a link is refused.
        readable: Further folders that `get` may read from, such as other sessions' results.
        sync: `"never"` flushes nothing; otherwise every blob is flushed before it gets its name,
            and the folder with it (`"interval"`: at most every `sync_interval_seconds`).
        gitignore_in: A folder on the way that gets a `.gitignore` of `*` when it is first made.
    """

    def __init__(
        self,
        root: Path,
        *,
        workspace: Path | None = None,
        readable: Sequence[Path] = (),
        disk: Disk | None = None,
        sync: Sync = "always",
        sync_interval_seconds: float = 1.0,
        gitignore_in: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.root = root
        self._workspace = workspace or root.parent
        self._roots = (root, *readable)
        self._disk = disk or OsDisk()
        self._clock = clock or SystemClock()
        self._policy = SyncPolicy(sync, sync_interval_seconds, self._clock)
        self._folder = StoreFolder(
            root,
            disk=self._disk,
            clock=self._clock,
            inside=self._workspace if root.is_relative_to(self._workspace) else None,
            ignored=gitignore_in,
            flush=sync != "never",
        )
        self._durable: set[Path] = set()

    async def put(self, name: str, content: bytes) -> Ref:
        """Store `content` under an address made of `name` (`call_1.txt`); see `Blobs.put`.

        Any text is a name; its suffix is kept, the rest made safe.

        Raises:
            WriteFailed: nothing was stored, or what was stored does not read back the same.
        """
        return await in_thread(self._put, name, content)

    async def get(self, ref: Ref) -> bytes:
        """The exact bytes; see `Blobs.get`.

        Raises:
            NotFound: no such blob, an address outside the store, or other bytes than it says.
        """
        if ref.bytes > _COMPARED_BYTES:
            return await in_thread(self._get, ref)
        return self._get(ref)

    async def has(self, ref: Ref) -> bool:
        """Whether a file of the right length stands at the address, inside the store."""
        try:
            path = self._path_of(ref)
        except NotFound:
            return False
        with reading(path):
            found = self._disk.stat(path)
        return found is not None and found.kind == "file" and ref.bytes in (-1, found.size)

    def _put(self, name: str, content: bytes) -> Ref:
        hashed = digest(content)
        stem, suffix = split_name(name)
        safe = safe_name(stem)
        with storing(self.root):
            self._folder.ready()
        for ending in hash_endings(hashed):
            path = self.root / f"{safe}-{ending}{suffix}"
            with storing(path):
                found = self._disk.stat(path)
                if found is None:
                    self._write(path, content)
                elif found.kind != "file" or not self._holds(path, found.size, content):
                    continue
                elif self._policy.mode != "never" and path not in self._durable:
                    self._flush(path)
                self._durable.add(path)
            return Ref(path=self._printed(path), bytes=len(content), sha256=hashed)
        reason = f"{TWIN_NAMES} other files have taken its name"
        raise WriteFailed(f"cannot store {name!r}: {reason}", path=str(self.root), reason=reason)

    def _write(self, path: Path, content: bytes) -> None:
        flush, due = self._policy.mode != "never", self._policy.due()
        write_whole(self._disk, path, content, clock=self._clock, sync=flush, sync_folder=due)
        if due:
            self._policy.done()
        found = self._disk.stat(path)
        same = found is not None and found.kind == "file" and found.size == len(content)
        if same and len(content) <= _COMPARED_BYTES:
            same = self._disk.read(path) == content
        if not same:
            reason = "what was written does not read back the same"
            raise WriteFailed(f"cannot write {path}: {reason}", path=str(path), reason=reason)

    def _holds(self, path: Path, size: int, content: bytes) -> bool:
        """Whether a file that stands already is this very content, and may be used again."""
        return size == len(content) and self._disk.read(path) == content

    def _flush(self, path: Path) -> None:
        """Whoever wrote this file may have flushed less, or have died before the folder was."""
        file = self._disk.open(path)
        try:
            file.sync()
        finally:
            file.close()
        self._disk.sync_folder(path.parent)

    def _get(self, ref: Ref) -> bytes:
        path = self._path_of(ref)
        with reading(path):
            found = self._disk.stat(path)
            if found is None or found.kind != "file":
                raise NotFound(f"there is no blob at {ref}", ref=str(ref))
            if ref.bytes not in (-1, found.size):
                raise NotFound(
                    f"{ref} holds {found.size} bytes instead of {ref.bytes}: it was changed",
                    ref=str(ref),
                )
            content = self._disk.read(path)
        expected = ref.sha256
        if not expected and path.parent == self.root:
            named = _HASH_IN_NAME.search(path.name)
            expected = named["hash"] if named else ""
        if expected and not digest(content).startswith(expected):
            raise NotFound(f"{ref} holds other bytes than were stored there", ref=str(ref))
        return content

    def _path_of(self, ref: Ref) -> Path:
        """The local path of an address that stands, links followed, inside one of the roots."""
        if ref.first is not None or not is_path(ref.path):
            raise NotFound(f"{ref} is not the address of a blob", ref=str(ref))
        path = self._workspace / ref.path
        if ".." not in path.parts:
            for root in self._roots:
                if not path.is_relative_to(root):
                    continue
                try:
                    self._check_root(root)
                    check_inside(self._disk, path, root)
                except OSError:
                    continue
                return path
        raise NotFound(f"{ref} leads out of the store", ref=str(ref))

    def _check_root(self, root: Path) -> None:
        if root.is_relative_to(self._workspace):
            check_inside(self._disk, root, self._workspace)

    def _printed(self, path: Path) -> str:
        if path.is_relative_to(self._workspace):
            path = path.relative_to(self._workspace)
        return path.as_posix()


if TYPE_CHECKING:
    _: Blobs = FileBlobs(Path())
