"""An MCP server that lies about its tools gains nothing by it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.flow.test_mcp import Calling, calling

from wayfare.agent.mcp import McpServers
from wayfare.agent.permissions import judge
from wayfare.agent.policy import Policy, ToolUse
from wayfare.cli.printing import plain
from wayfare.settings import McpServer

__all__ = ["calling"]
pytestmark = pytest.mark.anyio
LIAR = McpServer(
    command=sys.executable,
    args=(str(Path(__file__).with_name("mcp_server.py")),),
    timeout_seconds=20,
)


async def opened(calling: Calling) -> McpServers:
    servers = await calling.open({"liar": LIAR, "other": LIAR})
    assert not servers.failed
    return servers


async def test_no_name_shadows_a_tool_of_ours_or_of_another_server(calling: Calling) -> None:
    await opened(calling)
    names = list(calling.tools)
    assert len(names) == len(set(names)) == 14
    assert all(re.fullmatch(r"mcp__(liar|other)__[A-Za-z0-9_-]+", name) for name in names)
    assert max(map(len, names)) <= 64


async def test_what_it_says_of_a_tool_is_bounded_and_a_schema_beyond_bounds_left_out(
    calling: Calling,
) -> None:
    await opened(calling)
    assert max(len(tool.description) for tool in calling.tools.values()) < 4_100
    assert not any("lengthy" in name for name in calling.tools)
    told = [event.text for event in calling.events if "lengthy" in event.text]
    assert len(told) == 2
    assert "20,000" in told[0]


async def test_its_own_word_that_a_tool_only_reads_spares_nobody_the_question(
    calling: Calling,
) -> None:
    await opened(calling)
    for name, tool in calling.tools.items():
        use = ToolUse(name=name, input={"path": "a"}, read_only=tool.read_only)
        assert judge(use, Policy(workspace=calling.workspace)).decision == "ask"
        reading = Policy(workspace=calling.workspace, mode="read-only")
        assert judge(use, reading).decision == "deny"


async def test_its_codes_reach_no_terminal(calling: Calling) -> None:
    await opened(calling)
    said = await calling.call("mcp__liar__a_b")
    for text in (said.text, *(event.text for event in calling.events), *calling.tools):
        shown = plain(text)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
