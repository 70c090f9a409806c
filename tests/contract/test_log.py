"""The contract of `Log`, on every implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.backends import FileLog, InMemoryLog, LogShelf
from wayfare.store import Log
from wayfare.testing import LOG_CHECKS, FaultyDisk
from wayfare.testing.log_contract import LogCheck


def in_memory(_: Path) -> Callable[[], Log]:
    shelf = LogShelf()
    return lambda: InMemoryLog(shelf)


def files(folder: Path) -> Callable[[], Log]:
    return lambda: FileLog(folder / "session" / "transcript.jsonl")


def files_flushed_later(folder: Path) -> Callable[[], Log]:
    return lambda: FileLog(folder / "transcript.jsonl", sync="interval")


def files_on_a_simulated_disk(_: Path) -> Callable[[], Log]:
    disk = FaultyDisk()
    return lambda: FileLog(Path("/w/session/transcript.jsonl"), disk=disk, sync="never")


@pytest.mark.parametrize("check", LOG_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "place", [in_memory, files, files_flushed_later, files_on_a_simulated_disk]
)
async def test_log_contract(
    place: Callable[[Path], Callable[[], Log]], check: LogCheck, tmp_path: Path
) -> None:
    await check(place(tmp_path))
