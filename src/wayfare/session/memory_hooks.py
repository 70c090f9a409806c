"""`MemoryWrite` hooks for what is written to memory beside the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wayfare.agent.hooks import Hooks
from wayfare.memory import AskFirst


def asking(hooks: Hooks, payload: Callable[[], Mapping[str, Any]]) -> AskFirst:
    """Asks the hooks about a write of extraction, consolidation or a dream.

    Args:
        hooks: The session's.
        payload: What every hook is told; the write's own fields are added.
    """

    async def ask(write: Mapping[str, Any]) -> str:
        said = await hooks.run("MemoryWrite", {**payload(), **write})
        return (said.reason or "it gave no reason") if said.blocked else ""

    return ask
