"""The contract of `Blobs`, on every implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.backends import FileBlobs, InMemoryBlobs
from wayfare.store import Blobs
from wayfare.testing import BLOBS_CHECKS, FaultyDisk
from wayfare.testing.blobs_contract import BlobsCheck


def in_memory(_: Path) -> Callable[[], Blobs]:
    shelf: dict[str, bytes] = {}
    return lambda: InMemoryBlobs(shelf=shelf)


def files(folder: Path) -> Callable[[], Blobs]:
    return lambda: FileBlobs(folder / "results" / "session", workspace=folder)


def files_outside_the_workspace(folder: Path) -> Callable[[], Blobs]:
    return lambda: FileBlobs(folder / "elsewhere", workspace=folder / "work", sync="never")


def files_on_a_simulated_disk(_: Path) -> Callable[[], Blobs]:
    disk = FaultyDisk()
    return lambda: FileBlobs(Path("/w/results/session"), workspace=Path("/w"), disk=disk)


@pytest.mark.parametrize("check", BLOBS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "place", [in_memory, files, files_outside_the_workspace, files_on_a_simulated_disk]
)
async def test_blobs_contract(
    place: Callable[[Path], Callable[[], Blobs]], check: BlobsCheck, tmp_path: Path
) -> None:
    await check(place(tmp_path))
