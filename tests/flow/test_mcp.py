"""Tools of a real MCP server in a process of its own: called, dying, coming back, through the loop."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from tests.flow.mcp_server import PNG, WAV
from tests.flow.opened import Watching, answers, asked

from wayfare.agent.mcp import McpServers
from wayfare.agent.mcp.servers import tool_name
from wayfare.agent.registry import Registry
from wayfare.agent.tools import ToolContext, ToolOutput
from wayfare.clock import MovableClock
from wayfare.events import Event, ignore
from wayfare.messages import Media, Text
from wayfare.session.opening import memory_transcript
from wayfare.settings import McpServer

pytestmark = pytest.mark.anyio
PROGRAM = str(Path(__file__).with_name("mcp_server.py"))
STDIO = McpServer(command=sys.executable, args=(PROGRAM, "stdio"), timeout_seconds=20)


class Calling:
    """Servers of a workspace, and a way to call their tools."""

    def __init__(self, workspace: Path, tasks: TaskGroup) -> None:
        self.workspace = workspace
        self.tasks = tasks
        self.events: list[Event] = []
        self.progress: list[str] = []
        self.opened: list[McpServers] = []
        self.tools = Registry()

    async def open(
        self, servers: Mapping[str, McpServer], environment: Mapping[str, str] | None = None
    ) -> McpServers:
        made = McpServers(
            servers,
            tasks=self.tasks,
            workspace=self.workspace,
            folder=self.workspace / "logs",
            environment=environment,
            watch=self.events.append,
        )
        self.opened.append(made)
        self.tools = Registry(await made.tools())
        return made

    async def call(self, name: str, **given: Any) -> ToolOutput:
        context = ToolContext(
            workspace=self.workspace,
            session="s",
            session_folder=self.workspace / ".transcripts/s",
            results_folder=self.workspace / ".task_outputs/tool-results/s",
            clock=MovableClock(),
            history=memory_transcript("s", clock=MovableClock(), watch=ignore),
            sight=Nothing(),
            subagents=Nobody(),
            progress=self.progress.append,
        )
        return await self.tools[name].run(given, context)


class Nothing:
    def shows(self, call_id: str) -> bool:
        return False

    def todos(self) -> tuple[()]:
        return ()


class Nobody:
    async def run(self, task: str, **_: Any) -> Any:
        raise AssertionError("no sub-agent is started here")

    def running(self) -> tuple[()]:
        return ()


@pytest.fixture
async def calling(tmp_path: Path) -> AsyncIterator[Calling]:
    async with anyio.create_task_group() as tasks:
        made = Calling(tmp_path.resolve(), tasks)
        yield made
        for servers in made.opened:
            await servers.aclose()


async def test_a_server_is_used_dies_and_comes_back(calling: Calling) -> None:
    settings = McpServer(
        command=sys.executable,
        args=(PROGRAM, "stdio"),
        env_from=("SERVER_KEY",),
        read_only_tools=("about",),
        timeout_seconds=20,
    )
    await calling.open({"one": settings}, {"SERVER_KEY": "from outside"})
    names = list(calling.tools)
    assert names[:2] == ["mcp__one__add", "mcp__one__fail"]
    read_only = {name for name, tool in calling.tools.items() if tool.read_only}
    assert read_only == {"mcp__one__about"}  # a server's own word spares no question
    assert calling.tools["mcp__one__add"].description == "Add two numbers."

    assert (await calling.call("mcp__one__add", a=2, b=3)).text == "5"
    wrong = await calling.call("mcp__one__add", a="x")
    assert wrong.is_error
    assert "Field required" in wrong.text
    failed = await calling.call("mcp__one__fail")
    assert failed.is_error
    assert "fail" in failed.text
    pid, folder, key = (await calling.call("mcp__one__about")).text.splitlines()
    assert (folder, key) == (str(calling.workspace), "from outside")

    marker = str(calling.workspace / "died")
    died = await calling.call("mcp__one__die_once", marker=marker)
    assert died.is_error
    assert "ended during this call (it said: last words)" in died.text
    assert "may or may not have had its effect" in died.text
    assert (await calling.call("mcp__one__die_once", marker=marker)).text == "alive"
    again = str(calling.workspace / "died again")
    assert (await calling.call("mcp__one__die_once_reading", marker=again)).text == "alive"

    other = (await calling.call("mcp__one__about")).text.splitlines()[0]
    assert other != pid
    closed = len([e for e in calling.events if e.name == "mcp.closed"])
    os.kill(int(other), signal.SIGKILL)
    while len([e for e in calling.events if e.name == "mcp.closed"]) == closed:
        await anyio.sleep(0.01)
    slow = await calling.call("mcp__one__slow", seconds=0)
    assert slow.text == "done", "a server that died meanwhile is started anew before the call"
    assert calling.progress == ["1 of 3 working"]


async def test_blocks_of_every_kind(calling: Calling) -> None:
    await calling.open({"one": STDIO})
    found = await calling.call("mcp__one__everything")
    assert found.text == "before"
    image, after, audio, inside, odd, link = found.blocks
    assert isinstance(image, Media)
    assert image.media_type == "image/png"
    texts = [block.text for block in (after, audio, inside, odd, link) if isinstance(block, Text)]
    assert texts[0] == "after"
    assert texts[2] == "[resource file:///a.txt]\ninside"
    assert texts[4] == "[resource there at file:///c.txt]"
    for text, content in ((texts[1], WAV), (texts[3], b"\0odd")):
        address = text.rpartition(": ")[2].rstrip("]")
        assert (calling.workspace / address).read_bytes() == content
    assert base64.b64decode(image.content) == PNG


async def test_a_call_that_takes_too_long_is_given_up_and_the_server_stays(
    calling: Calling,
) -> None:
    settings = McpServer(command=sys.executable, args=(PROGRAM, "stdio"), timeout_seconds=0.5)
    await calling.open({"one": settings})
    found = await calling.call("mcp__one__slow", seconds=60)
    assert found.text == "one gave no answer within 0.5 seconds"
    with anyio.move_on_after(0.2):
        await calling.call("mcp__one__slow", seconds=60)
    assert [e.name for e in calling.events] == ["mcp.connected"]


async def test_servers_that_cannot_be_used_are_told_and_left_out(calling: Calling) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed_port = taken.getsockname()[1]
    servers = await calling.open(
        {
            "gone": McpServer(command="/no/such/program"),
            "broken": McpServer(
                command=sys.executable, args=("-c", "raise SystemExit('bad set-up')")
            ),
            "silent": McpServer(url=f"http://127.0.0.1:{closed_port}/mcp"),
            "keyless": McpServer(
                url="http://127.0.0.1:9/mcp", header_variables={"X-Key": "NO_KEY"}
            ),
            "off": McpServer(command="/never", enabled=False),
        },
        {},
    )
    assert list(calling.tools) == []
    assert "No such file or directory" in servers.failed["gone"]
    assert "(it said: bad set-up)" in servers.failed["broken"]
    assert "cannot be reached" in servers.failed["silent"]
    assert "the environment variable NO_KEY is not set" in servers.failed["keyless"]
    assert "off" not in servers.failed
    assert {e.name for e in calling.events} == {"mcp.failed"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(port: int, kind: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, PROGRAM, kind, str(port)], stderr=subprocess.DEVNULL)


async def answers_on(port: int) -> None:
    while True:
        try:
            stream = await anyio.connect_tcp("127.0.0.1", port)
        except OSError:
            await anyio.sleep(0.05)
            continue
        await stream.aclose()
        return


@pytest.mark.parametrize(("kind", "noticed"), [("http", True), ("old-http", False)])
async def test_a_server_over_http_is_used_and_found_again_after_a_restart(
    calling: Calling, kind: str, noticed: bool
) -> None:
    port = free_port()
    processes = [serve(port, kind)]
    try:
        await answers_on(port)
        settings = McpServer(url=f"http://127.0.0.1:{port}/mcp", timeout_seconds=20)
        await calling.open({"web": settings})
        assert (await calling.call("mcp__web__add", a=1, b=1)).text == "2"
        processes[0].kill()
        processes[0].wait()
        if noticed:
            assert (await calling.call("mcp__web__slow", seconds=0)).is_error
        processes.append(serve(port, kind))
        await answers_on(port)
        # A session that the new server does not know was not used, so nothing happened twice.
        assert (await calling.call("mcp__web__slow", seconds=0)).text == "done"
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def test_tools_of_a_server_are_called_by_the_loop(tmp_path: Path) -> None:
    script = [
        [asked("mcp__one__add", "c1", a=2, b=40), asked("mcp__one__nothing", "c2")],
        asked("mcp__one__everything", "c3"),
        "done",
    ]
    watching = Watching(tmp_path, script)
    async with watching.open() as session:
        servers = McpServers(
            {"one": STDIO},
            tasks=session.background,
            workspace=tmp_path,
            folder=session.kit.context.session_folder,
            watch=watching.events.append,
        )
        session.kit.context.kept.put(servers)
        session.add_tools(*await servers.tools())
        ended = await session.run("add")
        assert ended.text == "done"
        found = answers(watching.model.requests[-1].messages)
        assert found[0] == ("c1", "42", False)
        assert found[1][1].startswith("there is no tool 'mcp__one__nothing'.")
        media = [
            b for m in watching.model.requests[-1].messages for r in m.results for b in r.content
        ]
        assert any(isinstance(b, Media) for b in media)
    assert watching.names.count("mcp.closed") == 1


async def test_a_server_or_the_settings_say_how_long_results_may_be(calling: Calling) -> None:
    await calling.open({"one": STDIO, "two": replace(STDIO, max_result_chars=700)})
    assert calling.tools["mcp__one__plenty"].max_result_chars == 60_000
    assert calling.tools["mcp__one__add"].max_result_chars is None
    assert calling.tools["mcp__two__plenty"].max_result_chars == 700
    assert calling.tools.declared()["mcp__one__plenty"].max_result_chars == 60_000


def test_names_are_such_as_providers_take() -> None:
    assert tool_name("my server", "do.it", {}) == "mcp__my_server__do_it"
    long = tool_name("server", "x" * 100, {})
    assert len(long) == 64
    assert long != tool_name("server", "x" * 101, {})
    assert tool_name("a", "b c", {"mcp__a__b_c": 1}) not in ("mcp__a__b_c",)
