"""Tools of MCP servers, through the official client."""

from wayfare.agent.mcp.servers import McpServers

__all__ = ["McpServers"]
