"""A whole turn over log, archive and table of contents, broken at every operation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from tests.faults.breaking import KEEPS, ROOT, chosen
from tests.faults.crashing_turn import check, run, whole

from wayfare.errors import StoreError
from wayfare.testing import Fault, FaultyDisk, Keep, is_power_cut
from wayfare.testing.faults import hits

REFUSALS: Final[tuple[Fault, ...]] = ("short_write", "full", "io_error", "denied", "rename_refused")


async def turn_points(share: int) -> AsyncIterator[tuple[str, str]]:
    """Yields what was done to the disk and what was found wrong; empty when all was well."""
    undisturbed = await whole(ROOT, _disk(0))
    calm = _disk(0)
    await run(ROOT, calm, lambda newest: None, [])
    ways: list[tuple[str, Fault, Keep]] = []
    for keep in KEEPS:
        ways.append((f"power cut, {keep} kept", "crash", keep))
    for fault in REFUSALS:
        ways.append((fault.replace("_", " "), fault, "all"))
    for way, fault, keep in ways:
        count = sum(hits(fault, line.partition(" ")[0]) for line in calm.trace[2:])
        for at in chosen(count, share):
            try:
                await _one(fault, keep, at, undisturbed)
            except Exception as error:
                yield way, f"at {at}: {type(error).__name__}: {error}"[:400]
            else:
                yield way, ""


def _disk(seed: int) -> FaultyDisk:
    disk = FaultyDisk(seed=seed)
    disk.make_folder(ROOT)
    disk.sync_folder(ROOT.parent)
    return disk


async def _one(fault: Fault, keep: Keep, at: int, undisturbed: list[Any]) -> None:
    disk = _disk(at)
    disk.inject(fault, at=at)
    newest, ran = [0], list[str]()
    try:
        how = await run(ROOT, disk, newest.append, ran)
    except StoreError:
        pass
    except BaseException as error:
        if not is_power_cut(error):
            raise
    else:
        if how == "unsaved":
            return  # in memory alone, as an event said: nothing on the disk was promised
    disk.heal()
    disk.crash(keep)
    await check(ROOT, disk, acknowledged=max(newest), undisturbed=undisturbed, ran=ran)
