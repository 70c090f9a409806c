"""The tools of a session, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Tool
from wayfare.context.tool_use import Declared
from wayfare.errors import ConfigError
from wayfare.model import ToolSpec

ToolLike: TypeAlias = Tool | Callable[..., Any]
"""A tool, or a function to make one of."""


class Registry(Mapping[str, Tool]):
    """The tools of a session by name; frozen. Functions are made tools on the way in; another
    registry is taken as it is.

    Raises:
        ConfigError: two tools of one name.
    """

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[ToolLike] | Registry = ()) -> None:
        self._tools: Mapping[str, Tool] = {}
        found: dict[str, Tool] = {}
        listed: Iterable[ToolLike] = tools.values() if isinstance(tools, Registry) else tools
        for one in listed:
            made = one if isinstance(one, Tool) else tool(one)
            if made.name in found:
                raise ConfigError(f"two tools are called {made.name!r}", setting="tools")
            found[made.name] = made
        self._tools = found

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def with_tool(self, *tools: ToolLike) -> Registry:
        """With more tools; one of a name already there takes its place."""
        made = [one if isinstance(one, Tool) else tool(one) for one in tools]
        return Registry({**self._tools, **{one.name: one for one in made}}.values())

    def only(self, names: Iterable[str]) -> Registry:
        """Those of `names` that are here."""
        wanted = set(names)
        return Registry(t for t in self._tools.values() if t.name in wanted)

    def without(self, names: Iterable[str]) -> Registry:
        """All but those of `names`."""
        gone = set(names)
        return Registry(t for t in self._tools.values() if t.name not in gone)

    def specs(self) -> tuple[ToolSpec, ...]:
        """As the model sees them, in order."""
        return tuple(t.spec for t in self._tools.values())

    def declared(self) -> Declared:
        """As the governor sees them."""
        return {t.name: t.traits for t in self._tools.values()}
