"""Memory storages for tests: in files on any disk, and in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from wayfare.backends import (
    FileDocs,
    FileLeases,
    FileLog,
    InMemoryDocs,
    InMemoryLeases,
    InMemoryLog,
)
from wayfare.backends.disk import Disk
from wayfare.backends.file_log import is_json_line
from wayfare.backends.in_memory import LogShelf
from wayfare.clock import Clock
from wayfare.memory.storage import MemoryStorage
from wayfare.store.ref import digest


def memory_in_files(
    folder: Path,
    *,
    disk: Disk | None = None,
    clock: Clock | None = None,
    poll_seconds: float = 0.01,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> MemoryStorage:
    """A memory in `folder`, such as `<workspace>/.memory`, in the layout of the real one."""
    own = folder / ".wayfare"
    inside = folder.parent

    def docs(path: Path, suffix: str = ".md", **more: object) -> FileDocs:
        lock = own / "locks" / path.relative_to(inside).as_posix().replace("/", "-")
        ignored = own if path.is_relative_to(own) else None
        return FileDocs(
            path,
            suffix=suffix,
            inside=inside,
            disk=disk,
            clock=clock,
            lock_path=lock,
            gitignore_in=ignored,
            **more,  # type: ignore[arg-type]
        )

    async def rewrite(content: bytes) -> None:
        journal = docs(own, ".jsonl")
        present = await journal.read("journal")
        await journal.write(
            "journal", content, expected=None if present is None else digest(present)
        )

    return MemoryStorage(
        journal=FileLog(
            own / "journal.jsonl",
            disk=disk,
            clock=clock,
            is_whole=is_json_line,
            inside=inside,
            gitignore_in=own,
        ),
        records=docs(folder, exclude=("MEMORY",), check_twins=False),
        index=docs(folder),
        pages=docs(own / "index", sync="never"),
        quarantine=docs(own / "quarantine"),
        inbox=docs(own / "inbox", ".json"),
        state=docs(own / "state", ".json"),
        leases=FileLeases(
            own / "leases",
            inside=inside,
            disk=disk,
            clock=clock,
            poll_seconds=poll_seconds,
            sleep=sleep,
            gitignore_in=own,
        ),
        rewrite_journal=rewrite,
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
