"""The allocator of a process that runs for hours."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wayfare.cli.heap import giving_back
from wayfare.events import Event

_COUNT = """
import ctypes, threading
from wayfare.cli.heap import hold_to_one_heap
{call}
together = threading.Barrier(4)
def work():
    pieces = [bytes(n % 4000 + 600) for n in range(1_000)]
    together.wait()
waiting = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in waiting]
[t.join() for t in waiting]
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = libc.fdopen(1, b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fflush(ctypes.c_void_p(out))
"""


def _heaps(call: str) -> int:
    ran = subprocess.run([sys.executable, "-c", _COUNT.format(call=call)], capture_output=True)
    if ran.returncode:
        pytest.skip("another allocator than glibc's")
    return ran.stdout.count(b"<heap nr=")


def test_threads_take_from_one_heap() -> None:
    assert _heaps("pass") > 1
    assert _heaps("assert hold_to_one_heap()") == 1


_RESIDENT = """
import os
from wayfare.cli.heap import giving_back, hold_to_one_heap
from wayfare.events import Event
assert hold_to_one_heap()
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
pieces = [b'x' * 9_000 for _ in range(4_000)]
del pieces[:-1]  # The last one keeps the end of the heap.
full = resident()
told = []
watch = giving_back(told.append)
watch(Event(name="tool.ended", text=""))
assert abs(resident() - full) < 1_000_000
watch(Event(name="compaction.done", text=""))
assert full - resident() > 20_000_000
assert len(told) == 2
"""


def test_after_a_compaction_free_pages_go_back() -> None:
    asked = "from wayfare.cli.heap import hold_to_one_heap; assert hold_to_one_heap()"
    if subprocess.run([sys.executable, "-c", asked], capture_output=True).returncode:
        pytest.skip("another allocator than glibc's")
    ran = subprocess.run([sys.executable, "-c", _RESIDENT], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_every_event_is_told_on() -> None:
    told: list[Event] = []
    events = [Event(name=name, text="") for name in ("turn.begun", "compaction.done", "turn.ended")]
    watch = giving_back(told.append)
    for event in events:
        watch(event)
    assert told == events
