"""What can go wrong with a disk, and when it does."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Fault = Literal[
    "crash", "full", "io_error", "denied", "short_write", "rename_refused", "read_error", "slow"
]
"""What can go wrong. `crash`: the power goes during the operation. `full`: ENOSPC, a write keeps an
arbitrary prefix of what it was given. `io_error`: EIO; after a failed flush what was written since
the last one reads back until the power goes and is zeros then, as on Linux. `denied`: EACCES.
`short_write`: a write takes only a prefix and says so. `rename_refused`: EPERM. `read_error`: EIO
on reading. `slow`: the operation takes so many seconds longer."""

CHANGING = frozenset(
    ("open", "write", "sync", "truncate", "rename", "unlink", "make_folder", "sync_folder", "lock")
)
_HITS: dict[Fault, frozenset[str]] = {
    "crash": CHANGING,
    "full": frozenset(("open", "write", "make_folder")),
    "io_error": CHANGING,
    "denied": frozenset(("open", "rename", "unlink", "make_folder", "lock")),
    "short_write": frozenset(("write",)),
    "rename_refused": frozenset(("rename",)),
    "read_error": frozenset(("read", "entries")),
    "slow": CHANGING | {"read", "entries"},
}
_ERRNO: dict[Fault, int] = {
    "full": errno.ENOSPC,
    "io_error": errno.EIO,
    "denied": errno.EACCES,
    "rename_refused": errno.EPERM,
    "read_error": errno.EIO,
}


def hits(fault: Fault, operation: str) -> bool:
    """Whether a fault can hit an operation, such as `write`."""
    return operation in _HITS[fault]


class PowerCut(BaseException):
    """The simulated machine is off: no program on it may catch this and go on.

    Raised by the operation that was told to crash and by every one after it until the disk is
    switched on again; not an `Exception`, as no `except Exception` survives a power cut.
    """


def is_power_cut(error: BaseException) -> bool:
    """Whether `error` is a power cut, task groups' wrappings included."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(is_power_cut, group.exceptions))
    return isinstance(error, PowerCut)


@dataclass(slots=True)
class _Planned:
    fault: Fault
    at: int
    times: int
    where: str
    seconds: float


class FaultPlan:
    """Counts operations and says which faults hit each one.

    Args:
        sleep: Called with seconds by `slow` faults.
    """

    def __init__(self, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.trace: list[str] = []
        self._sleep = sleep
        self._planned: list[_Planned] = []
        self._off = False
        self._boots = 0
        self._alone = threading.Lock()

    @property
    def boots(self) -> int:
        """How often the machine was switched on again."""
        return self._boots

    def inject(
        self, fault: Fault, *, at: int = 1, times: int = 1, where: str = "", seconds: float = 0.0
    ) -> None:
        """Let something go wrong; see `FaultyDisk.inject`."""
        with self._alone:
            self._planned.append(_Planned(fault, at, times, where, seconds))

    def heal(self) -> None:
        """Forget every fault."""
        with self._alone:
            self._planned.clear()

    def switch_on(self) -> None:
        """The machine runs again; what ran on it before does not."""
        self.heal()
        self._off = False
        self._boots += 1

    def begin(self, operation: str, path: Path, *, boots: int | None = None) -> set[Fault]:
        """Count an operation; returns the faults that hit it, after waiting for slow ones.

        Args:
            boots: Which run of the machine the caller belongs to; None: the present one.

        Raises:
            PowerCut: the machine, or the caller's run of it, is off.
        """
        hits: set[Fault] = set()
        seconds = 0.0
        with self._alone:
            if self._off or boots not in (None, self._boots):
                raise PowerCut
            if operation in CHANGING:
                self.trace.append(f"{operation} {path}")
            for planned in self._planned:
                if operation in _HITS[planned.fault] and planned.where in str(path):
                    planned.at -= 1
                    if planned.at <= 0 and (not planned.times or planned.at > -planned.times):
                        hits.add(planned.fault)
                        seconds += planned.seconds
            # Whatever this operation still does, no later one finds the machine running.
            self._off = "crash" in hits
        if seconds:
            self._sleep(seconds)
        return hits


def refuse(hits: set[Fault], path: Path) -> None:
    """Raise what the faults among `hits` make an operation raise.

    Raises:
        OSError: one of them is an error of the disk.
    """
    for fault in sorted(hits & _ERRNO.keys()):
        raise disk_error(_ERRNO[fault], path)


def finish(hits: set[Fault]) -> None:
    """End an operation, done as far as it was.

    Raises:
        PowerCut: the power went during it.
    """
    if "crash" in hits:
        raise PowerCut


def disk_error(number: int, path: Path) -> OSError:
    """The `OSError` of an error number."""
    return OSError(number, os.strerror(number), str(path))
