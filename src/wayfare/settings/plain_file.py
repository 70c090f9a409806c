"""Files that somebody else may have put there: read only where they are plain files."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def read_plain(path: Path, most_bytes: int) -> bytes:
    """How a plain file begins, up to `most_bytes`. Links are followed.

    A device or a pipe of that name could be read for ever, so neither is read at all.

    Raises:
        OSError: there is none, it cannot be read, or it is no plain file.
    """
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device, a pipe or a socket, not a file", str(path))
        return file.read(most_bytes)


def read_small(path: Path, most_bytes: int) -> bytes:
    """All of a plain file that may have at most `most_bytes`.

    Raises:
        OSError: as `read_plain` does, or it is larger.
    """
    content = read_plain(path, most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes:,} bytes", str(path))
    return content
