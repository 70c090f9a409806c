"""The folder a file store lives in: made, kept out of git, tidied, and never left through a link."""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path

from wayfare.backends.disk import Disk
from wayfare.backends.durable import TEMP_PREFIX, TEMP_SUFFIX, write_whole
from wayfare.clock import Clock

STALE_TEMP_SECONDS = 3_600.0
"""A temporary file older than this belongs to no writer that still lives."""


class StoreFolder:
    """A store's folder; nothing is touched before `ready()`.

    Args:
        inside: The folder it must stand in when every link is followed; None: no check.
        ignored: It, or a folder above it: gets a `.gitignore` of `*` when it is first made.
        flush: Whether its name must survive a power cut before anything is put into it.
    """

    def __init__(
        self,
        path: Path,
        *,
        disk: Disk,
        clock: Clock,
        inside: Path | None = None,
        ignored: Path | None = None,
        flush: bool = True,
    ) -> None:
        self.path = path
        self._disk = disk
        self._clock = clock
        self._inside = inside
        self._ignored = ignored
        self._flush = flush
        self._ready = False
        self._made: set[Path] = set()
        self._checked: Path | None = None

    def check(self) -> None:
        """Make sure that the folder is where it seems to be.

        Raises:
            OSError: a link leads out (`ELOOP`).
        """
        if self._inside is None:
            return
        # Where it was found in its place before, that is looked up only when it moved: this runs
        # for every one of ten thousand texts.
        at = self._disk.resolve(self.path)
        if at != self._checked:
            check_inside(self._disk, self.path, self._inside)
            self._checked = at

    def ready(self) -> None:
        """Make the folder if it is missing, once more if it went away.

        Raises:
            OSError: it cannot be made, or a link leads out.
        """
        self.check()
        if self._ready and self._disk.stat(self.path) is not None:
            return
        self._ready = False
        self._make()
        if self._flush:
            # Those that were there as well: whoever made them may have died before flushing.
            for folder in (self.path, *self.path.parents):
                if folder in self._made or self._is_below(folder):
                    self._disk.sync_folder(folder.parent)
        self._sweep()
        self._ready = True

    def _make(self) -> None:
        missing: list[Path] = []
        at = self.path
        while self._disk.stat(at) is None and at != at.parent:
            missing.append(at)
            at = at.parent
        if self._ignored is not None and self._ignored not in missing:
            self._ignore(self._ignored)
        for folder in reversed(missing):
            with suppress(FileExistsError):
                self._disk.make_folder(folder)
            self._made.add(folder)
            if folder == self._ignored:
                self._ignore(folder)

    def _ignore(self, folder: Path) -> None:
        """Only into an empty folder: an owner who took the file away is not contradicted."""
        if all(map(_is_temp, self._disk.entries(folder))):
            target = folder / ".gitignore"
            write_whole(self._disk, target, b"*\n", clock=self._clock, sync=self._flush)

    def _is_below(self, folder: Path) -> bool:
        inside = self._inside
        return inside is not None and folder != inside and folder.is_relative_to(inside)

    def _sweep(self) -> None:
        """Remove what writers that died left behind more than `STALE_TEMP_SECONDS` ago."""
        oldest_ns = (self._clock.now() - STALE_TEMP_SECONDS) * 1e9
        for name, found in self._disk.entries(self.path).items():
            if _is_temp(name) and found.mtime_ns < oldest_ns:
                with suppress(OSError):
                    self._disk.unlink(self.path / name)


def check_inside(disk: Disk, path: Path, inside: Path) -> None:
    """Make sure that `path`, links followed, stands in `inside`.

    Raises:
        OSError: it does not (`ELOOP`).
    """
    if not disk.resolve(path).is_relative_to(disk.resolve(inside)):
        raise OSError(errno.ELOOP, f"leads out of {inside} through a symbolic link", str(path))


def _is_temp(name: str) -> bool:
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)
