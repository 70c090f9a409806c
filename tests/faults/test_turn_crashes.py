"""A turn with tool calls, cut off at every operation that changes the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest
from tests.faults.crashing_turn import check, run, whole

from wayfare.errors import StoreError
from wayfare.testing import Fault, FaultyDisk, Keep, is_power_cut

pytestmark = pytest.mark.anyio
WORKSPACE = Path("/w")


def new_disk(seed: int = 0) -> FaultyDisk:
    """A disk on which the workspace is there and safe."""
    disk = FaultyDisk(seed=seed)
    disk.make_folder(WORKSPACE)
    disk.sync_folder(WORKSPACE.parent)
    return disk


async def power_went(job: Awaitable[object]) -> bool:
    """Whether the power went before `job` came to its end."""
    try:
        await job
    except BaseException as error:
        if is_power_cut(error):
            return True
        raise
    return False


@pytest.mark.parametrize(
    ("keep", "seed"), [("nothing", 0), ("all", 0), ("some", 1), ("some", 2), ("some", 3)]
)
async def test_the_power_goes_at_any_operation_of_a_turn(keep: Keep, seed: int) -> None:
    undisturbed = await whole(WORKSPACE, new_disk())
    found: list[str] = []
    at = 0
    while True:
        at += 1
        disk = new_disk(seed * 1_000 + at)
        acknowledged: list[int] = [0]
        ran: list[str] = []
        disk.inject("crash", at=at)
        if not await power_went(run(WORKSPACE, disk, acknowledged.append, ran)):
            break
        disk.crash(keep)
        how = await check(
            WORKSPACE, disk, acknowledged=max(acknowledged), undisturbed=undisturbed, ran=ran
        )
        found.append(how)
    assert len(found) > 40, "so many operations there are; the power went at each"
    assert found[-1] == "resumed"


@pytest.mark.parametrize("fault", ["full", "io_error"])
async def test_a_disk_that_refuses_a_write_ends_the_turn_and_loses_nothing(fault: Fault) -> None:
    undisturbed = await whole(WORKSPACE, new_disk())
    refused = 0
    for at in range(1, 40):
        disk = new_disk(at)
        acknowledged: list[int] = [0]
        ran: list[str] = []
        disk.inject(fault, at=at, where="transcript.jsonl")
        try:
            how = await run(WORKSPACE, disk, acknowledged.append, ran)
        except StoreError:
            refused += 1
        else:
            if how == "unsaved":  # in memory alone, as an event said
                continue
        disk.heal()
        disk.crash("all")
        await check(
            WORKSPACE, disk, acknowledged=max(acknowledged), undisturbed=undisturbed, ran=ran
        )
    assert refused > 10


def test_a_process_killed_at_any_operation_of_a_turn(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killed_turns.py")), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 40, "so many operations there are; a child was killed at each"
