"""Which memory a command works on, and which a session may use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from wayfare.cli.printing import say
from wayfare.cli.settings_files import (
    Read,
    brought_along,
    is_trusted,
    own_workspace,
    read_settings,
    trust_nothing,
)
from wayfare.clock import SystemClock
from wayfare.errors import WriteFailed
from wayfare.events import Event
from wayfare.memory import project_memory
from wayfare.session.memory_wanted import MemoryWanted, OpenMemory, memory_store

_TOLD = frozenset(
    {
        *(
            "memory.index_failed",
            "memory.unclear",
            "memory.journal_damaged",
            "memory.journal_rebuilt",
        ),
        *("memory.journal_torn", "memory.recovered", "memory.index_edited"),
        "memory.secret_replaced",
    }
)


def wanted_of(read: Read) -> MemoryWanted:
    """The memories of a workspace by its settings."""
    settings = read.settings
    folder = settings.folders.memory
    return MemoryWanted.of(
        read.workspace,
        folder="" if folder == ".memory" else folder,
        user=settings.folders.user_memory,
        limits=settings.memory,
    )


def session_memories(read: Read) -> MemoryWanted | None:
    """What a session may use: nothing where memory is off or the project's is not trusted."""
    if not read.settings.memory.enabled or not read.trusted:
        return None
    wanted = wanted_of(read)
    if not _owned(read):
        return None
    return MemoryWanted(
        project=wanted.project,
        user=wanted.user,
        limits=wanted.limits,
        start_dream=lambda: start_dream(read),
    )


def _owned(read: Read) -> bool:
    """Whether the project above the workspace is trusted; one that brings nothing along is noted
    as the person's own, so that what appears there from now on is.

    The memory of a project stands at its root, wherever in it one works.
    """
    root = project_memory(read.workspace).parent
    if root == read.workspace or not root.is_dir():
        return True
    folder = read.settings.folders.memory
    found = brought_along(root, memory=folder)
    if found is not None:
        return is_trusted(found) or "records" not in found.kinds
    try:
        return trust_nothing(root, memory=folder)
    except WriteFailed:
        return True


def start_dream(read: Read) -> None:
    """Start upkeep as a process that outlives this one; its gates are asked there.

    Without `-P`, Python would look for modules in the current folder first, which is a stranger's.
    """
    command = [sys.executable, "-P", "-m", "wayfare", "memory", "dream", "--detached"]
    command += ["-C", str(read.workspace)]
    if read.settings.model.name:
        command += ["--model", read.settings.model.name]
    subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(os.environ),
    )


@asynccontextmanager
async def opened(root: Path, *, user: bool) -> AsyncGenerator[OpenMemory]:
    """The project's memory, or the user's own, read and searchable.

    Raises:
        NotFound: the folder is there and cannot be read, or leads out of its place.
        ConfigError: a setting that is not valid.
    """
    read = read_settings(root)
    wanted = wanted_of(read)
    folder = wanted.user if user and wanted.user is not None else wanted.project
    if not user:
        # What the person writes into an empty workspace is the person's own.
        own_workspace(read)
        _owned(read)
    memory = memory_store(
        folder,
        clock=SystemClock(),
        scope="user" if user else "project",
        limits=wanted.limits,
        watch=tell,
    )
    try:
        await memory.store.refresh()
        yield memory
    finally:
        await memory.close()


def tell(event: Event) -> None:
    """What a person should know beside the answer, on stderr."""
    if event.name in _TOLD:
        say(f"wayfare: {event.text}")
