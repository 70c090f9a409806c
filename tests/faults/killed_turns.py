"""Run by `test_turn_crashes`: kills a child at every operation of a turn and looks at what it left.

A program of its own, because it forks: a test runner has threads.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
from tests.faults.crashing_turn import check, run, whole

from wayfare.backends import OsDisk
from wayfare.testing import KillingDisk


def killed(workspace: Path, at: int) -> tuple[int, int]:
    """How a child that is killed at operation `at` ended, and the newest entry it acknowledged."""
    workspace.mkdir()
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)

        def seen(newest: int) -> None:
            os.write(written, bytes([newest]))

        anyio.run(run, workspace, KillingDisk(at=at), seen, list[str]())
        os._exit(0)
    os.close(written)
    with os.fdopen(read, "rb") as pipe:
        acknowledged = pipe.read()
    return os.waitpid(child, 0)[1], max(acknowledged, default=0)


async def looked_at(workspace: Path, acknowledged: int, undisturbed: list[object]) -> None:
    await check(workspace, OsDisk(), acknowledged=acknowledged, undisturbed=undisturbed, ran=[])


def main(folder: Path) -> int:
    (folder / "whole").mkdir()
    undisturbed = anyio.run(whole, folder / "whole", OsDisk())
    kills = 0
    while True:
        workspace = folder / str(kills + 1)
        status, acknowledged = killed(workspace, kills + 1)
        if status == 0:
            return kills
        assert os.WIFSIGNALED(status), f"the child ended with {status}"
        assert os.WTERMSIG(status) == signal.SIGKILL
        anyio.run(looked_at, workspace, acknowledged, undisturbed)
        kills += 1


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve()))
