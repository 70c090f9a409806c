"""A memory in files: the stores one folder of records is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio

from wayfare.backends import FileDocs, FileLeases, FileLog
from wayfare.backends.disk import Disk, storing
from wayfare.backends.durable import TEMP_PREFIX, in_thread
from wayfare.backends.file_log import is_json_line
from wayfare.backends.os_disk import OsDisk
from wayfare.clock import Clock
from wayfare.memory.storage import MemoryStorage
from wayfare.store.ref import digest

OWN_FOLDER: Final = ".wayfare"
"""Beside the records: journal, caches, what waits for the owner. Ignored by git."""
_JOURNAL: Final = "journal.jsonl"
_POLL_SECONDS: Final = 0.05
"""Between two looks at a lease somebody else holds: a write takes about this long."""


def memory_in_files(
    folder: Path,
    *,
    disk: Disk | None = None,
    clock: Clock | None = None,
    poll_seconds: float = _POLL_SECONDS,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> MemoryStorage:
    """A memory in `folder`, such as `<workspace>/.memory`. Nothing is made before it is written.

    Args:
        folder: Where the records stand; a link that leads out of its parent is refused on use.
        disk: What files are written through.
        clock: Time and chance.
        poll_seconds: Between two looks at a lease somebody else holds.
        sleep: How it waits for one.
    """
    own = folder / OWN_FOLDER
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

    def leave_no_copy() -> None:
        """Remove what crashes set aside or left half written; all writers are kept out now."""
        on = disk or OsDisk()
        for place in (own, folder):
            for name in on.entries(place):
                if name.startswith((f"{_JOURNAL}.torn-", TEMP_PREFIX)):
                    with storing(place / name):
                        on.unlink(place / name)

    async def rewrite(content: bytes) -> None:
        await in_thread(leave_no_copy)
        journal = docs(own, ".jsonl")
        present = await journal.read("journal")
        await journal.write(
            "journal", content, expected=None if present is None else digest(present)
        )

    return MemoryStorage(
        journal=FileLog(
            own / _JOURNAL,
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
