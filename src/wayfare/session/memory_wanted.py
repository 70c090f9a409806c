"""Which memories a session opens, and the stores they become."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayfare.backends.disk import Disk
from wayfare.clock import Clock
from wayfare.errors import StoreError
from wayfare.events import Event, Watched, ignore
from wayfare.lexical import LexicalIndex
from wayfare.memory import (
    MemoryLimits,
    MemorySearch,
    MemoryStore,
    project_memory,
    user_memory,
)
from wayfare.memory.gate import Check, judge
from wayfare.session.memory_files import OWN_FOLDER, memory_in_files


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWanted:
    """Which memories a session has.

    Args:
        project: The folder of the project's records.
        user: The folder of the user's own, for all projects; None: not used.
        limits: The settings group `memory`.
        start_dream: Starts upkeep as a process of its own; None: there is none.
        asks_model: Whether a model may be asked: without one, words choose what is recalled and
            nothing is extracted or consolidated.
        disk: For tests: what files are written through.
        gate: For tests: decides what may be written, in place of the gate.
    """

    project: Path
    user: Path | None = None
    limits: MemoryLimits = field(default_factory=MemoryLimits)
    start_dream: Callable[[], None] | None = None
    asks_model: bool = True
    disk: Disk | None = None
    gate: Check = judge

    @classmethod
    def of(cls, workspace: Path, *, folder: str = "", user: str = "", **more: Any) -> MemoryWanted:
        """The memories of a workspace.

        Args:
            workspace: Where the session works; worktrees of one repository share one memory.
            folder: Another folder than `.memory`: relative to the project's root, or absolute,
                by which clones may share one.
            user: Another folder than the user's data folder.
            more: The other fields.
        """
        project = project_memory(workspace)
        if folder:
            project = project.parent / Path(folder).expanduser()
        own = Path(user).expanduser() if user else user_memory()
        return cls(project=project, user=own, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMemory:
    """One memory, open: its records and their words."""

    folder: Path
    store: MemoryStore
    search: MemorySearch
    index: LexicalIndex

    async def close(self) -> None:
        """Save the caches; what cannot be saved is made again."""
        with suppress(StoreError):
            await self.store.close()
        self.index.close()


def memory_store(
    folder: Path,
    *,
    clock: Clock,
    scope: str = "project",
    limits: MemoryLimits | None = None,
    watch: Watched = ignore,
    disk: Disk | None = None,
    gate: Check = judge,
) -> OpenMemory:
    """The memory in a folder, not yet read; nothing is made before something is written."""
    store = MemoryStore(
        memory_in_files(folder, clock=clock, disk=disk),
        holder=f"wayfare {os.getpid()} {clock.token()}",
        scope=scope,
        limits=limits or MemoryLimits(),
        clock=clock,
        watch=watch,
        gate=gate,
    )
    index = _search_index(folder)
    search = MemorySearch(store, index)
    store.likely = search.likely
    return OpenMemory(folder=folder, store=store, search=search, index=index)


def _search_index(folder: Path) -> LexicalIndex:
    """In the folder where memory was written before, else in this process alone."""
    own = folder / OWN_FOLDER
    if own.is_dir() and own.resolve().is_relative_to(folder.parent.resolve()):
        with suppress(StoreError):
            return LexicalIndex(own / "search.sqlite")
    return LexicalIndex(":memory:")


async def opened_memory(
    folder: Path,
    *,
    clock: Clock,
    scope: str,
    limits: MemoryLimits,
    watch: Watched,
    disk: Disk | None = None,
    gate: Check = judge,
) -> OpenMemory | None:
    """The memory in a folder, read and in step with its files; None, and said, when it cannot be
    read. One that cannot be written is still read."""
    memory = memory_store(
        folder, clock=clock, scope=scope, limits=limits, watch=watch, disk=disk, gate=gate
    )
    try:
        if folder.is_dir():
            try:
                await memory.store.sync()
            except StoreError as error:
                text = f"the {scope} memory is only read: {error}"
                watch(Event(name="memory.read_only", text=text))
                await memory.store.refresh()
        else:
            await memory.store.open()
    except StoreError as error:
        watch(Event(name="memory.off", text=f"the {scope} memory is off: {error}"))
        memory.index.close()
        return None
    return memory
