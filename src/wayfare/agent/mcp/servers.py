"""All MCP servers of a session, and their tools."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import TaskGroup

from wayfare import json_text
from wayfare.agent.mcp.connection import CannotConnect, Connection
from wayfare.agent.tools import Tool, ToolContext, ToolOutput
from wayfare.context.stubs import cut
from wayfare.events import Event, Watched, ignore
from wayfare.settings import McpServer

if TYPE_CHECKING:
    from mcp_types import Tool as McpTool

_NAME_CHARS: Final = 64
"""The longest name of a tool that Anthropic and OpenAI take."""
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")
_DESCRIPTION_CHARS: Final = 4_000
"""A longer description is cut: it is sent with every request."""
_SCHEMA_CHARS: Final = 20_000
"""A tool with a longer schema is left out, since a cut one is none."""
_MOST_CHARS: Final = "anthropic/maxResultSizeChars"
"""Where a server says how long a tool's result may be (`_meta` of the tool), as Claude Code reads
it."""
_GRACE_SECONDS: Final = 30.0
"""The server's own time-out comes first and says more."""


class McpServers:
    """MCP servers by name. Nothing is started, and the official client not imported, before
    `tools` is asked for. Close it with `aclose`, which `Kept` does for what it holds.

    Args:
        servers: From the settings; those not enabled are left out.
        tasks: Holds the connections; must outlive this.
        workspace: Where servers are started.
        folder: Takes what they say on their error channels, a file each.
        environment: Where variables that the settings name are looked up; the process's own.
        watch: Told when servers come, go and fail.

    Attributes:
        failed: Why servers could not be used, by name.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        *,
        tasks: TaskGroup,
        workspace: Path,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        watch: Watched = ignore,
    ) -> None:
        self._watch = watch
        self.failed: dict[str, str] = {}
        self._connections = {
            name: Connection(
                name,
                settings,
                tasks=tasks,
                workspace=workspace,
                log=folder / f"mcp-{_UNFIT.sub('_', name)}.log",
                environment=os.environ if environment is None else environment,
                watch=watch,
            )
            for name, settings in servers.items()
            if settings.enabled
        }

    async def tools(self) -> tuple[Tool, ...]:
        """Start all servers, side by side, and make tools of what they offer, in their order.

        A server that cannot be used is told (`mcp.failed`) and left out.
        """
        offered: dict[str, list[McpTool]] = {}

        async def ask(connection: Connection) -> None:
            try:
                offered[connection.name] = list(await connection.tools())
            except CannotConnect as error:
                self.failed[connection.name] = str(error)
                fields = {"server": connection.name}
                self._watch(Event(name="mcp.failed", text=str(error), fields=fields))

        async with anyio.create_task_group() as starting:
            for connection in self._connections.values():
                starting.start_soon(ask, connection)
        made: dict[str, Tool] = {}
        for name, connection in self._connections.items():
            for each in offered.get(name, ()):
                schema_chars = len(json_text.dumps(each.input_schema))
                if schema_chars > _SCHEMA_CHARS:
                    self._leave_out(name, each.name, schema_chars)
                    continue
                tool = _tool(connection, each, made)
                made[tool.name] = tool
        return tuple(made.values())

    def _leave_out(self, server: str, tool: str, schema_chars: int) -> None:
        text = (
            f"the server {server} describes the input of {cut(tool, _NAME_CHARS)} in "
            f"{schema_chars:,} characters, over {_SCHEMA_CHARS:,}: the tool is left out"
        )
        self._watch(Event(name="mcp.failed", text=text, fields={"server": server}))

    async def aclose(self) -> None:
        """Let go of all servers, the last one first."""
        for connection in reversed(self._connections.values()):
            await connection.close()


def _tool(connection: Connection, offered: McpTool, taken: Mapping[str, Tool]) -> Tool:
    # What a server says of itself spares nobody a question: that is the person's word alone.
    read_only = offered.name in connection.settings.read_only_tools
    hint = offered.annotations is not None and offered.annotations.read_only_hint is True
    again = read_only or hint

    async def run(given: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        return await connection.call(offered.name, given, context, again=again)

    description = offered.description or offered.title or f"{offered.name} of {connection.name}"
    if len(description) > _DESCRIPTION_CHARS:
        description = description[:_DESCRIPTION_CHARS] + " […]"
    return Tool(
        name=tool_name(connection.name, offered.name, taken),
        description=description,
        schema={"type": "object", **offered.input_schema},
        run=run,
        read_only=read_only,
        max_result_chars=_most_chars(connection.settings, offered.meta),
        timeout_seconds=connection.settings.timeout_seconds + _GRACE_SECONDS,
    )


def _most_chars(settings: McpServer, meta: Mapping[str, Any] | None) -> int | None:
    """From how many characters on a result is offloaded: the person's word, then the server's."""
    if settings.max_result_chars:
        return settings.max_result_chars
    said = (meta or {}).get(_MOST_CHARS)
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else None


def tool_name(server: str, tool: str, taken: Mapping[str, Any]) -> str:
    """`mcp__server__tool` with signs that providers take, short enough and unlike any in `taken`."""
    name = f"mcp__{_UNFIT.sub('_', server)}__{_UNFIT.sub('_', tool)}"
    if len(name) <= _NAME_CHARS and name not in taken:
        return name
    mark = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:8]
    return f"{name[: _NAME_CHARS - 9]}_{mark}"
