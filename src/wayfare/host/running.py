"""Running a coroutine from code that may or may not be inside an event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio

_T = TypeVar("_T")


def run_anywhere(job: Callable[..., Coroutine[Any, Any, _T]], *args: Any) -> _T:
    """Run `job(*args)` to its end; inside an event loop in a thread of its own, which blocks it.

    The loop lives for this call alone: nothing is left running that would have to be ended.
    """
    if not _inside():
        return anyio.run(job, *args)
    done: list[_T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(anyio.run(job, *args))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, name="wayfare-govern")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _inside() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:  # there is no event loop in this thread
        return False
    return True
