"""A real MCP server for tests, run as a program: `stdio`, `http PORT`, or `old-http PORT` for one
that knows only the handshake with a session of before 2026."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    METHOD_NOT_FOUND,
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
WAV = b"RIFF\x04\x00\x00\x00WAVE"
server = MCPServer("tests", log_level="CRITICAL")
READING = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READING)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no luck")


@server.tool()
def everything() -> list[Any]:
    """One block of every kind."""
    return [
        TextContent(type="text", text="before"),
        ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png"),
        TextContent(type="text", text="after"),
        AudioContent(type="audio", data=base64.b64encode(WAV).decode(), mime_type="audio/x-wav"),
        EmbeddedResource(
            type="resource", resource=TextResourceContents(uri="file:///a.txt", text="inside")
        ),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(
                uri="file:///b.bin",
                mime_type="application/x-odd",
                blob=base64.b64encode(b"\0odd").decode(),
            ),
        ),
        ResourceLink(type="resource_link", name="there", uri="file:///c.txt"),
    ]


@server.tool(meta={"anthropic/maxResultSizeChars": 60_000})
def plenty() -> str:
    """Say much, all of which is needed."""
    return "many words of a report " * 2_500


@server.tool()
async def slow(seconds: float, ctx: Context[Any]) -> str:
    """Take so long, and say how far it is."""
    await ctx.report_progress(1, 3, "working")
    await asyncio.sleep(seconds)
    return "done"


def _die_once(marker: str) -> str:
    """End the server at the first call; the file says that this was done."""
    if Path(marker).exists():
        return "alive"
    Path(marker).touch()
    print("last words", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def die_once(marker: str) -> str:
    """End the server at the first call."""
    return _die_once(marker)


@server.tool(annotations=READING)
def die_once_reading(marker: str) -> str:
    """End the server at the first call, which changes nothing else."""
    return _die_once(marker)


@server.tool()
def about() -> list[str]:
    """The process, its folder and a variable of its environment."""
    return [str(os.getpid()), str(Path.cwd()), os.environ.get("SERVER_KEY", "")]


async def knows_no_discovery(ctx: Any, call_next: Any) -> Any:
    """Refuse what servers of before 2026 do not know."""
    if ctx.method == "server/discover":
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


if __name__ == "__main__":
    if sys.argv[1] == "old-http":
        server.middleware.append(knows_no_discovery)
    if sys.argv[1].endswith("http"):
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
