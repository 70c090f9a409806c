"""The contract of `Leases`, on every implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.backends import FileLeases, InMemoryLeases
from wayfare.testing import LEASES_CHECKS, FaultyDisk
from wayfare.testing.leases_contract import LeasesCheck, MakeLeases


def in_memory(_: Path) -> MakeLeases:
    shelf: dict[str, tuple[str, float]] = {}
    return lambda clock, sleep: InMemoryLeases(shelf, clock=clock, sleep=sleep)


def files(folder: Path) -> MakeLeases:
    return lambda clock, sleep: FileLeases(folder / "leases", clock=clock, sleep=sleep)


def files_on_a_simulated_disk(_: Path) -> MakeLeases:
    disk = FaultyDisk()
    return lambda clock, sleep: FileLeases(Path("/w/l"), disk=disk, clock=clock, sleep=sleep)


@pytest.mark.parametrize("check", LEASES_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("place", [in_memory, files, files_on_a_simulated_disk])
async def test_leases_contract(
    place: Callable[[Path], MakeLeases], check: LeasesCheck, tmp_path: Path
) -> None:
    await check(place(tmp_path))
