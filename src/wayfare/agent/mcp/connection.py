"""The connection to one MCP server: made when it is needed, made anew when the server died.

The official client must be left by the task that entered it, whoever calls it meanwhile; so a
task of its own holds each connection.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from wayfare.agent.tools import ToolContext, ToolOutput, failure
from wayfare.events import Event, Watched
from wayfare.settings import McpServer

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import Tool as McpTool

CONNECT_SECONDS: Final = 60.0
"""A server may take so long to answer first: package runners fetch it on the first start."""
_CLOSE_SECONDS: Final = 10.0
_PAGES: Final = 100
_SAID_CHARS: Final = 500


class CannotConnect(Exception):
    """A server that cannot be reached; its text says why."""


@dataclass(slots=True, kw_only=True)
class _Line:
    """One connection: the client, an event that ends it, an event that says that it ended."""

    client: Client | None = None
    over: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)

    async def close(self) -> None:
        self.over.set()
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_SECONDS):
            await self.left.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    """The server ended during a call; `unheard` when it surely did not do anything before."""

    unheard: bool


class Connection:
    """One server.

    Args:
        name: As the settings call it.
        settings: How it is started or reached.
        tasks: Holds the connection; must outlive it.
        workspace: Where the server is started.
        log: Takes what it says on its error channel.
        environment: Where the variables that the settings name are looked up.
        watch: Told when it comes and goes.
    """

    def __init__(
        self,
        name: str,
        settings: McpServer,
        *,
        tasks: TaskGroup,
        workspace: Path,
        log: Path,
        environment: Mapping[str, str],
        watch: Watched,
    ) -> None:
        self.name = name
        self.settings = settings
        self._tasks = tasks
        self._workspace = workspace
        self._log = log
        self._environment = environment
        self._watch = watch
        self._one_at_a_time = anyio.Lock()
        self._line: _Line | None = None
        self._log_began = 0

    async def tools(self) -> Sequence[McpTool]:
        """What the server offers.

        Raises:
            CannotConnect: it cannot be reached, or does not say.
        """
        client, _ = await self._connected()
        found: list[McpTool] = []
        cursor: str | None = None
        try:
            for _ in range(_PAGES):
                page = await client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    break
        except Exception as error:
            raise CannotConnect(f"{self.name} does not list its tools: {_said(error)}") from error
        return found

    async def call(
        self, tool: str, given: Mapping[str, Any], context: ToolContext, *, again: bool
    ) -> ToolOutput:
        """Call a tool; what goes wrong is a result that says so.

        Args:
            again: Whether the call may be repeated when the server dies in the middle.
        """
        found = await self._attempt(tool, given, context)
        if isinstance(found, _Gone) and (found.unheard or again):
            found = await self._attempt(tool, given, context)
        if isinstance(found, ToolOutput):
            return found
        return failure(
            f"the server {self.name} ended during this call{self._last_words()}. The call may or "
            "may not have had its effect: check before you repeat it. The next call starts the "
            "server anew."
        )

    async def _attempt(
        self, tool: str, given: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput | _Gone:
        try:
            client, line = await self._connected()
        except CannotConnect as error:
            return failure(str(error))
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT

        from wayfare.agent.mcp.results import output_of

        async def told(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            context.progress(f"{share} {message or ''}".strip())

        seconds = self.settings.timeout_seconds
        unheard = False
        try:
            result = await client.call_tool(
                tool, dict(given), read_timeout_seconds=seconds, progress_callback=told
            )
            return output_of(result, context)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                return failure(f"{self.name} gave no answer within {seconds:g} seconds")
            # So a server over HTTP says that it knows nothing of the session any more.
            unheard = bool(self.settings.url) and error.code == INVALID_REQUEST
            if error.code != CONNECTION_CLOSED and not unheard:
                return failure(f"{self.name} refused the call: {error.message}")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        await line.close()
        return _Gone(unheard=unheard)

    async def close(self) -> None:
        """Let go of the server; a later call connects anew."""
        if self._line is not None:
            await self._line.close()

    async def _connected(self) -> tuple[Client, _Line]:
        async with self._one_at_a_time:
            line = self._line
            if line is not None and line.over.is_set():
                await line.left.wait()
            elif line is not None and line.client is not None:
                return line.client, line
            self._line = line = _Line()
            try:
                # It takes seconds to import, which must not hold up everything else.
                await anyio.to_thread.run_sync(importlib.import_module, "mcp")
                with anyio.fail_after(CONNECT_SECONDS):
                    return await self._tasks.start(self._hold, line), line
            except TimeoutError:
                raise CannotConnect(
                    f"the server {self.name} gave no answer within {CONNECT_SECONDS:g} seconds"
                ) from None
            except ImportError as error:
                raise CannotConnect(
                    f"the server {self.name} needs the package mcp: pip install 'wayfare[mcp]'"
                ) from error
            except Exception as error:
                text = f"the server {self.name} cannot be reached: {_said(error)}"
                raise CannotConnect(text + self._last_words()) from error
            finally:
                if line.client is None:
                    self._line = None

    async def _hold(self, line: _Line, *, task_status: TaskStatus[Client]) -> None:
        """Keep the connection until it is over; told ready, it must not raise any more."""
        try:
            async with AsyncExitStack() as stack:
                client = await self._open(stack, line)
                line.client = client
                task_status.started(client)
                self._tell("mcp.connected", f"the server {self.name} is connected")
                await line.over.wait()
        except Exception as error:
            if line.client is None:
                raise
            self._tell("mcp.failed", f"the server {self.name} failed: {_said(error)}")
        finally:
            line.over.set()
            line.left.set()
            if line.client is not None:
                self._tell("mcp.closed", f"the server {self.name} is closed")

    async def _open(self, stack: AsyncExitStack, line: _Line) -> Client:
        from mcp import Client

        transport = await self._transport(stack)
        return await stack.enter_async_context(Client(_noticed(transport, line.over)))

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        if self.settings.url:
            from httpx2 import AsyncClient, Timeout
            from mcp.client.streamable_http import streamable_http_client

            headers = {
                header: self._variable(variable)
                for header, variable in self.settings.header_variables.items()
            }
            seconds = self.settings.timeout_seconds
            client = AsyncClient(headers=headers, timeout=Timeout(30.0, read=seconds + 10.0))
            await stack.enter_async_context(client)
            return streamable_http_client(self.settings.url, http_client=client)
        from mcp import StdioServerParameters, stdio_client

        program = StdioServerParameters(
            command=self.settings.command,
            args=list(self.settings.args),
            env={
                **{name: self._variable(name) for name in self.settings.env_from},
                **self.settings.env,
            },
            cwd=self._workspace,
        )
        # Opened here and closed with the connection; the server's own channel goes on.
        log = stack.enter_context(os.fdopen(self._open_log(), "w", encoding="utf-8"))
        return stdio_client(program, errlog=log)

    def _variable(self, name: str) -> str:
        value = self._environment.get(name)
        if value is None:
            raise OSError(None, f"the environment variable {name} is not set")
        return value

    def _open_log(self) -> int:
        try:
            self._log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            opened = os.open(self._log, flags, 0o600)
            self._log_began = os.fstat(opened).st_size
            return opened
        except OSError:
            return os.open(os.devnull, os.O_WRONLY)

    def _last_words(self) -> str:
        """What the server said last on its error channel since it was started."""
        if self.settings.url:
            return ""
        with suppress(OSError):
            said = (
                self._log.read_bytes()[self._log_began :][-_SAID_CHARS:]
                .decode("utf-8", "replace")
                .strip()
            )
            lines = said.splitlines()[-3:]
            if lines:
                return f" (it said: {' / '.join(line.strip() for line in lines)})"
        return ""

    def _tell(self, name: str, text: str) -> None:
        self._watch(Event(name=name, text=text, fields={"server": self.name}))


def _said(error: BaseException) -> str:
    """What an error says, the first one of a group."""
    if isinstance(error, BaseExceptionGroup):
        return _said(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    if isinstance(error, OSError) and error.strerror:
        name = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{name}"
    return str(error) or type(error).__name__


@asynccontextmanager
async def _noticed(transport: Any, over: anyio.Event) -> AsyncGenerator[tuple[Any, Any]]:
    """A transport whose end is noticed, also while nobody calls."""
    async with transport as (read, write):
        yield _Noticed(read, over), write


class _Noticed:
    """A stream of messages that says when it ended."""

    def __init__(self, stream: Any, over: anyio.Event) -> None:
        self._stream = stream
        self._over = over

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._over.set()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Noticed:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Noticed:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._stream.__aexit__(*raised)
