"""The memory of a process that runs for hours."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Names of settings in glibc's `malloc.h`."""

_LARGE_BYTES: Final = 128 * 1024
"""What is larger gets pages of its own and gives them back when it goes: glibc's own default, which
it raises by itself, up to 32 MiB, as soon as one such piece was freed."""


def hold_to_one_heap() -> bool:
    """Keep freed memory from staying with the process, where its allocator can be told (glibc).

    By default every thread that writes a file or waits for a command gets a heap of its own, and a
    heap goes back to the system only from its end: over thousands of steps a process holds far more
    than it uses. One heap is used anew instead, and large pieces go back at once. Threads then wait
    for each other when they allocate, which a process with one thread at work does not notice.

    Returns:
        Whether the allocator was told; False where there is another one.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_ARENA_MAX, 1)) and bool(mallopt(_MMAP_THRESHOLD, _LARGE_BYTES))
