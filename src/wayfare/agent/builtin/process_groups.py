"""Processes in groups: a command and all that it starts, ended together."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.abc import Process

_LOOK_SECONDS = 0.02
"""How often it is looked whether a group that was asked to end has ended."""
_REAP_SECONDS = 2.0


async def start(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
) -> Process:
    """Start a program in a session and a process group of its own, nothing to read from.

    Args:
        output: Where it writes what it prints, on both channels.

    Raises:
        OSError: it cannot be started.
        ValueError: an argument with a zero byte.
    """
    return await anyio.open_process(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env=environment,
        start_new_session=True,
    )


def members(group: int) -> dict[int, str]:
    """The living processes of a group, each with its start as the system counts it.

    Without `/proc` only the group's number is given, if it lives.
    """
    if not _signal(group, 0):
        return {}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {group: ""}
    found: dict[int, str] = {}
    for pid in pids:
        fields = _stat(pid)
        if len(fields) > 19 and fields[2] == str(group) and fields[0] not in "ZX":
            found[pid] = fields[19]
    return found


def any_lives(known: Mapping[int, str]) -> bool:
    """Whether one of these processes still runs, and is no later one of its number."""
    for pid, started in known.items():
        if not started:
            return _signal(pid, 0)
        fields = _stat(pid)
        if len(fields) > 19 and fields[19] == started and fields[0] not in "ZX":
            return True
    return False


async def end(group: int, process: Process, *, grace_seconds: float) -> None:
    """Ask a group to end, end it when it does not, and wait for its leader.

    Not to be called for a group whose processes ended long ago: its number may be another's.
    Not to be cancelled either.
    """
    if _signal(group, signal.SIGTERM):
        with anyio.move_on_after(grace_seconds):
            while process.returncode is None or members(group):
                await anyio.sleep(_LOOK_SECONDS)
        _signal(group, signal.SIGKILL)
    with anyio.move_on_after(_REAP_SECONDS):
        await process.wait()


def _signal(group: int, number: int) -> bool:
    """Signal a group; whether there is one."""
    try:
        # A group that changed its user lives, too.
        with suppress(PermissionError):
            os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/<pid>/stat` from the state on; none for a process that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    # The name in brackets may hold blanks and brackets; what follows the last one is fixed.
    return text.rpartition(")")[2].split()
