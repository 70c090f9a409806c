"""Replacing a file of the workspace: whole or not at all, and only where it was meant to be."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from wayfare.clock import Clock

_NO_LINK: Final = os.O_NOFOLLOW | os.O_CLOEXEC
# Where it exists, a folder one may pass through but not list can be opened, too.
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _NO_LINK


def replace_file(place: Path, content: bytes, *, clock: Clock) -> os.stat_result:
    """Write a file by a temporary one beside it; its mode stays, folders are made as needed.

    Args:
        place: Absolute, every link followed. No part of it may be a link by now: the folders are
            opened one after the other, so nothing can be put in their place meanwhile.
        clock: For the temporary file's name.

    Returns:
        What stands there now.

    Raises:
        OSError: it could not be written; what stood there still stands.
    """
    folder = _open_folder(place.parent)
    temporary = f".{place.name[:100]}.{clock.token()}.tmp"
    try:
        old = _old(place.name, folder)
        mode = 0o666 if old is None else 0o600
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode, dir_fd=folder
        )
        try:
            try:
                _fill(descriptor, content, old)
            finally:
                os.close(descriptor)
            os.replace(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        _flush(folder)
        return os.stat(place.name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def _open_folder(path: Path) -> int:
    """A descriptor of a folder, made with its parents where missing; no link is followed."""
    at = os.open(path.anchor, _FOLDER)
    for part in path.parts[1:]:
        try:
            try:
                below = os.open(part, _FOLDER, dir_fd=at)
            except FileNotFoundError:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o777, dir_fd=at)
                below = os.open(part, _FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


def _old(name: str, folder: int) -> os.stat_result | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(None, "something that is no plain file has this name")
    if not found.st_mode & 0o222:
        mode = stat.filemode(found.st_mode)
        raise PermissionError(
            None, f"the file is write-protected ({mode}); chmod it first if it may be changed"
        )
    return found


def _fill(descriptor: int, content: bytes, old: os.stat_result | None) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    if old is not None:
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    os.fsync(descriptor)


def _flush(folder: int) -> None:
    """So that the new name survives a power cut, where the folder may be listed."""
    with suppress(OSError):
        again = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        try:
            os.fsync(again)
        finally:
            os.close(again)
