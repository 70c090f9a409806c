"""wayfare keeps a long-running LLM agent on course in a finite context window."""

from __future__ import annotations

TYPE_CHECKING = False
"""Set here, since importing `typing` for it would take longer than all the rest."""
if TYPE_CHECKING:
    from wayfare.agent.registry import Registry as Registry
    from wayfare.agent.tool_function import tool as tool
    from wayfare.agent.tools import Tool as Tool
    from wayfare.agent.tools import ToolContext as ToolContext
    from wayfare.agent.tools import ToolOutput as ToolOutput
    from wayfare.context.budget import Budget as Budget
    from wayfare.context.pipeline import Governor as Governor
    from wayfare.host import Governed as Governed
    from wayfare.host import govern as govern
    from wayfare.host import govern_async as govern_async
    from wayfare.memory.memory_store import MemoryStore as MemoryStore
    from wayfare.session.agent import Agent as Agent
    from wayfare.session.session import Session as Session

__version__ = "0.1.0"

_HOMES = {
    "Agent": "wayfare.session.agent",
    "Budget": "wayfare.context.budget",
    "Governed": "wayfare.host",
    "Governor": "wayfare.context.pipeline",
    "MemoryStore": "wayfare.memory.memory_store",
    "Registry": "wayfare.agent.registry",
    "Session": "wayfare.session.session",
    "Tool": "wayfare.agent.tools",
    "ToolContext": "wayfare.agent.tools",
    "ToolOutput": "wayfare.agent.tools",
    "govern": "wayfare.host",
    "govern_async": "wayfare.host",
    "tool": "wayfare.agent.tool_function",
}
"""Where each public name lives; it is imported when it is first asked for, so that importing
wayfare costs next to nothing."""

__all__ = ["__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
