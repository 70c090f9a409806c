"""Programs that are talked with through pipes."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from anyio.abc import Process


async def open_piped(
    argv: Sequence[str],
    *,
    cwd: Path | str | None,
    environment: Mapping[str, str],
    feeds: bool = True,
) -> Process:
    """Start a program in a session of its own, its output in pipes.

    It is not to be cancelled: a program cancelled while its pipes are being connected would leave
    them open. Who awaits it is cancelled at the next thing it awaits.

    Args:
        argv: The program and its arguments.
        cwd: Where it runs; None: where this process does.
        environment: All of its variables.
        feeds: Whether it has a pipe to read from; else there is nothing to read.

    Raises:
        OSError: it cannot be started.
        ValueError: an argument with a zero byte.
    """
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(
            list(argv),
            stdin=subprocess.PIPE if feeds else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    raise AssertionError("a shielded scope ends with its body")
