"""Local lease files: dead holders, reused process numbers, clocks that jump, files that lie."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wayfare.backends import FileLeases
from wayfare.backends.process import ProcessMark, is_gone, this_process
from wayfare.clock import MovableClock
from wayfare.errors import LeaseHeld, WriteFailed
from wayfare.testing import FaultyDisk

HERE = this_process()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


def dead_process() -> ProcessMark:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return ProcessMark(pid=process.pid, host=HERE.host)


async def taken_by(process: ProcessMark, folder: Path, clock: MovableClock) -> FileLeases:
    """Leases of this process on a folder where another one has taken "dream" for a minute."""
    other = FileLeases(folder, clock=clock, process=process)
    await other.acquire("dream", holder="other", seconds=60, wait_seconds=0)
    return FileLeases(folder, clock=clock)


async def take(leases: FileLeases) -> None:
    await leases.acquire("dream", holder="me", seconds=60, wait_seconds=0)


async def test_a_dead_process_holds_nothing(tmp_path: Path, clock: MovableClock) -> None:
    leases = await taken_by(dead_process(), tmp_path / "l", clock)
    assert await leases.holder("dream") is None
    await take(leases)


async def test_a_process_that_has_the_number_of_a_dead_one_holds_nothing(
    tmp_path: Path, clock: MovableClock
) -> None:
    reused = ProcessMark(pid=HERE.pid, host=HERE.host, started="1")
    leases = await taken_by(reused, tmp_path / "l", clock)
    assert HERE.started not in ("", "1"), "this machine tells when a process started"
    await take(leases)


async def test_a_living_process_is_named(tmp_path: Path, clock: MovableClock) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = ProcessMark(pid=process.pid, host=HERE.host)
        leases = await taken_by(mark, tmp_path / "l", clock)
        with pytest.raises(LeaseHeld, match=rf"other \(process {process.pid} on ") as held:
            await take(leases)
        assert held.value.holder == "other"
        process.communicate(b"\n")
    await take(leases)


async def test_of_another_machine_only_the_heartbeat_tells(
    tmp_path: Path, clock: MovableClock
) -> None:
    leases = await taken_by(ProcessMark(pid=1, host="elsewhere"), tmp_path / "l", clock)
    with pytest.raises(LeaseHeld):
        await take(leases)
    clock.advance(60)
    await take(leases)


async def test_the_same_name_in_another_process_is_another_holder(
    tmp_path: Path, clock: MovableClock
) -> None:
    elsewhere = FileLeases(
        tmp_path / "l", clock=clock, process=ProcessMark(pid=1, host="elsewhere")
    )
    await elsewhere.acquire("dream", holder="me", seconds=60, wait_seconds=0)
    leases = FileLeases(tmp_path / "l", clock=clock)
    with pytest.raises(LeaseHeld):
        await take(leases)
    await leases.release("dream", holder="me")
    assert await leases.holder("dream") == "me"


@pytest.mark.parametrize(
    ("jump_seconds", "held"), [(-30, True), (-61, False), (-86_400 * 365, False), (59, True)]
)
async def test_a_heartbeat_in_the_future_counts_as_none(
    jump_seconds: float, held: bool, tmp_path: Path, clock: MovableClock
) -> None:
    """Machines may disagree by less than the lease; what is further ahead is a clock set back."""
    leases = await taken_by(ProcessMark(pid=1, host="elsewhere"), tmp_path / "l", clock)
    clock.set(clock.now() + jump_seconds)
    assert await leases.holder("dream") == ("other" if held else None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff",
        b"{}",
        b"[]",
        b'{"name":"dream","holder":"x","pid":"1","host":"h","started":"","heartbeat":1,"seconds":9}',
        json.dumps(
            {"name": "dream", "holder": "x", "pid": 1, "host": "elsewhere", "started": ""}
            | {"heartbeat": 1_700_000_000.0 - 90_000, "seconds": 1e300}
        ).encode(),
        b'{"name":"dream","holder":"x","pid":1,"host":"h","started":"","heartbeat":NaN,"seconds":9}',
    ],
)
async def test_a_file_that_says_nothing_usable_holds_nothing(
    content: bytes, tmp_path: Path, clock: MovableClock
) -> None:
    folder = tmp_path / "l"
    folder.mkdir()
    (folder / "dream.lease").write_bytes(content)
    leases = FileLeases(folder, clock=clock)
    assert await leases.holder("dream") is None
    await take(leases)
    assert await leases.holder("dream") == "me"


async def test_nobody_looks_and_takes_but_under_the_lock(clock: MovableClock) -> None:
    """Between looking and taking no other process may take; the race itself cannot be forced."""
    disk = FaultyDisk()
    leases = FileLeases(Path("/w/l"), disk=disk, clock=clock)
    await take(leases)
    await leases.release("dream", holder="me")
    changes = [step.split()[0] for step in disk.trace if "make_folder" not in step]
    assert changes == ["lock", "open", "write", "rename", "lock", "unlink"]


async def test_a_folder_that_leads_out_is_refused(tmp_path: Path, clock: MovableClock) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "l").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteFailed, match="link"):
        await take(FileLeases(tmp_path / "work" / "l", clock=clock))
    assert list((tmp_path / "outside").iterdir()) == []


async def test_processes_racing_for_a_lease_find_one_winner(tmp_path: Path) -> None:
    code = (
        "import anyio, sys, pathlib\n"
        "from wayfare.backends import FileLeases\n"
        "from wayfare.errors import LeaseHeld\n"
        "async def main():\n"
        "    leases = FileLeases(pathlib.Path(sys.argv[1]))\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    try:\n"
        "        await leases.acquire('dream', holder=sys.argv[2], seconds=600, wait_seconds=0)\n"
        "        print('won', flush=True)\n"
        "    except LeaseHeld as error:\n"
        "        print(error.holder, flush=True)\n"
        "    sys.stdin.readline()\n"
        "anyio.run(main)\n"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "l"), f"racer {number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    try:
        for step in ("start", "end"):
            answers = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
            if step == "end":
                assert answers.count("won") == 1, answers
                winner = f"racer {answers.index('won')}"
                assert sorted(answers) == sorted(["won", winner, winner])
            for racer in racers:
                assert racer.stdin is not None
                racer.stdin.write("\n")
                racer.stdin.flush()
    finally:
        for racer in racers:
            racer.communicate(timeout=30)


def test_a_zombie_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, its status not yet taken
    assert is_gone(ProcessMark(pid=process.pid, host=HERE.host))
    process.wait()


def test_this_process_is_not_gone() -> None:
    assert not is_gone(HERE)
    assert not is_gone(ProcessMark(pid=HERE.pid, host=HERE.host))
    assert is_gone(ProcessMark(pid=0, host=HERE.host))
    assert is_gone(ProcessMark(pid=2**40, host=HERE.host))
