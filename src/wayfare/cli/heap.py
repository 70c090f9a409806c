"""The memory of a process that runs for hours."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

from wayfare.events import Event, Watched

_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Names of settings in glibc's `malloc.h`."""

_LARGE_BYTES: Final = 128 * 1024
"""What is larger gets pages of its own and gives them back when it goes: glibc's own default, which
it raises by itself, up to 32 MiB, as soon as one such piece was freed."""
_LETS_GO: Final = frozenset({"compaction.done", "turn.ended"})
"""After these much was freed that nothing will take soon."""


def hold_to_one_heap() -> bool:
    """Keep freed memory from staying with the process, where its allocator can be told (glibc).

    By default every thread that writes a file or waits for a command gets a heap of its own, and a
    heap goes back to the system only from its end: over thousands of steps a process holds far more
    than it uses. One heap is used anew instead, and large pieces go back at once. Threads then wait
    for each other when they allocate, which a process with one thread at work does not notice.

    Returns:
        Whether the allocator was told; False where there is another one.
    """
    libc = _glibc()
    if libc is None:
        return False
    one = bool(libc.mallopt(_ARENA_MAX, 1))
    return bool(libc.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)) and one


def giving_back(watch: Watched) -> Watched:
    """Tells `watch`, and gives the pages that are free in the middle of the heap back to the system
    after each compaction and turn: a few milliseconds, where the allocator can be told."""
    libc = _glibc()
    if libc is None:
        return watch

    def told(event: Event) -> None:
        watch(event)
        if event.name in _LETS_GO:
            libc.malloc_trim(0)

    return told


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL(None)
        return libc if libc.mallopt and libc.malloc_trim else None
    except (OSError, AttributeError):
        return None
