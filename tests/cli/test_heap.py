"""The allocator of a process that runs for hours."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
