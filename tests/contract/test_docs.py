"""The contract of `Docs`, on every implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.backends import FileDocs, InMemoryDocs
from wayfare.store import Docs
from wayfare.testing import DOCS_CHECKS, FaultyDisk
from wayfare.testing.docs_contract import DocsCheck


def in_memory(_: Path) -> Callable[[], Docs]:
    shelf: dict[str, bytes] = {}
    return lambda: InMemoryDocs(shelf)


def files(folder: Path) -> Callable[[], Docs]:
    return lambda: FileDocs(folder / ".memory")


def files_with_their_lock_elsewhere(folder: Path) -> Callable[[], Docs]:
    lock = folder / ".memory" / ".wayfare" / "records.lock"
    return lambda: FileDocs(folder / ".memory", lock_path=lock, sync="never")


def files_on_a_simulated_disk(_: Path) -> Callable[[], Docs]:
    disk = FaultyDisk()
    return lambda: FileDocs(Path("/w/.memory"), disk=disk)


@pytest.mark.parametrize("check", DOCS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "place", [in_memory, files, files_with_their_lock_elsewhere, files_on_a_simulated_disk]
)
async def test_docs_contract(
    place: Callable[[Path], Callable[[], Docs]], check: DocsCheck, tmp_path: Path
) -> None:
    await check(place(tmp_path))
