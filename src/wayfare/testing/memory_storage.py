"""Memory storages for tests: in files on any disk, and in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from wayfare.backends import InMemoryDocs, InMemoryLeases, InMemoryLog
from wayfare.backends.disk import Disk
from wayfare.backends.in_memory import LogShelf
from wayfare.clock import Clock
from wayfare.memory.storage import MemoryStorage
from wayfare.session.memory_files import memory_in_files as real_memory_in_files


def memory_in_files(
    folder: Path,
    *,
    disk: Disk | None = None,
    clock: Clock | None = None,
    poll_seconds: float = 0.01,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> MemoryStorage:
    """A memory in `folder`, such as `<workspace>/.memory`: the real one, that polls faster."""
    return real_memory_in_files(
        folder, disk=disk, clock=clock, poll_seconds=poll_seconds, sleep=sleep
    )


class MemoryShelf:
    """What outlives the stores on it: records, journal and everything beside, in dictionaries."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}
        self.index: dict[str, bytes] = {}
        self.pages: dict[str, bytes] = {}
        self.quarantine: dict[str, bytes] = {}
        self.inbox: dict[str, bytes] = {}
        self.state: dict[str, bytes] = {}
        self.leases: dict[str, tuple[str, float]] = {}
        self.journal = LogShelf()

    def storage(self, clock: Clock | None = None) -> MemoryStorage:
        """Stores on this shelf."""

        async def rewrite(content: bytes) -> None:
            self.journal.lines[:] = content.split(b"\n")[:-1]
            self.journal.size = len(content)

        return MemoryStorage(
            journal=InMemoryLog(self.journal),
            records=InMemoryDocs(self.records),
            index=InMemoryDocs(self.index),
            pages=InMemoryDocs(self.pages),
            quarantine=InMemoryDocs(self.quarantine),
            inbox=InMemoryDocs(self.inbox),
            state=InMemoryDocs(self.state),
            leases=InMemoryLeases(self.leases, clock=clock),
            rewrite_journal=rewrite,
        )
