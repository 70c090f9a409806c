"""Running a hook that is a command: JSON in, exit code and text out, no process left behind."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from wayfare.agent.piped_process import open_piped

MAX_OUTPUT_BYTES = 1_000_000
"""What is kept of each stream of a hook; the rest is read and dropped, so the hook never blocks."""
DRAIN_SECONDS = 1.0
"""How long output is awaited after a hook ended whose own children still hold its streams."""


class CommandFailed(Exception):
    """A hook that gave no usable answer; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


async def run_command(
    command: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> Finished:
    """Runs a shell command with the payload on its standard input.

    It runs in the payload's `cwd` when that folder exists, in a process group of its own; when the
    caller is cancelled, by a time-out for instance, the whole group is killed.

    Raises:
        CommandFailed: when it cannot be started.
    """
    cwd = payload.get("cwd")
    folder = cwd if isinstance(cwd, str) and os.path.isdir(cwd) else None
    known = {"WAYFARE_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder} if folder else {}
    try:
        process = await open_piped(
            ["/bin/sh", "-c", command],
            cwd=folder,
            environment={**os.environ, **known, **environment},
        )
    except OSError as error:
        raise CommandFailed(f"it cannot be started: {error}") from error
    try:
        return await _talk(process, json.dumps(payload, default=str).encode())
    except BaseException:
        _kill_group(process)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def _talk(process: Process, text: bytes) -> Finished:
    out, err = bytearray(), bytearray()
    assert process.stdout is not None
    assert process.stderr is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_feed, process, text)
        tasks.start_soon(_collect, process.stdout, out)
        tasks.start_soon(_collect, process.stderr, err)
        await process.wait()
        tasks.cancel_scope.deadline = anyio.current_time() + DRAIN_SECONDS
    assert process.returncode is not None
    return Finished(
        exit_code=process.returncode,
        stdout=out.decode("utf-8", "replace"),
        stderr=err.decode("utf-8", "replace"),
    )


async def _feed(process: Process, text: bytes) -> None:
    assert process.stdin is not None
    try:
        await process.stdin.send(text)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, OSError):
        return  # a hook need not read what it is told


async def _collect(stream: ByteReceiveStream, into: bytearray) -> None:
    try:
        async for chunk in stream:
            into.extend(chunk[: max(MAX_OUTPUT_BYTES - len(into), 0)])
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


def _kill_group(process: Process) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
