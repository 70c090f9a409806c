"""A provider's server on loopback that answers as it is told, for tests of real SDKs.

```python
async with WireServer() as server:
    server.answer(Answered(body={"error": {"message": "no"}}, status=400))
    ...                                 # point a model at server.base_url
    assert server.received[0].body["model"] == "m"
```
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

_REASONS = {200: "OK", 400: "Bad Request", 429: "Too Many Requests"}


def _no_headers() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One HTTP answer.

    Attributes:
        status: HTTP status.
        body: sent as JSON, or as it is if it is text; ignored where there are `events`.
        events: pieces of an event stream, each sent by itself.
        ending: `whole`; `stall` sends nothing more and waits for the client to go; `break` cuts
            the connection in the middle of the answer.
        headers: more headers.
    """

    status: int = 200
    body: object = None
    events: tuple[bytes, ...] = ()
    ending: Literal["whole", "stall", "break"] = "whole"
    headers: Mapping[str, str] = field(default_factory=_no_headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Respond = Callable[[Received], Answered]


class WireServer:
    """An HTTP server that answers requests in turn, or by a function of the request.

    Attributes:
        received: every request, in order of arrival.
        left: how many streams the client left before their end.
        connections: how many connections were opened.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.left = 0
        self.connections = 0
        self._answers: list[Answered] = []
        self._respond: Respond | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._someone_left = asyncio.Condition()

    def answer(self, *answers: Answered) -> None:
        """Give these answers to the next requests, in order."""
        self._answers.extend(answers)

    def respond(self, respond: Respond) -> None:
        """Answer by a function whenever no answer is queued."""
        self._respond = respond

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:<port>`, without a path."""
        assert self._server is not None, "the server is not started"
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    async def client_left(self, count: int = 1) -> None:
        """Wait until `count` streams were left by their client."""
        async with self._someone_left:
            await self._someone_left.wait_for(lambda: self.left >= count)

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while await self._serve(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether the connection may be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        body = json.loads(raw) if raw else None
        received = Received(method=method, path=path, headers=headers, body=body)
        self.received.append(received)
        if self._answers:
            answer = self._answers.pop(0)
        elif self._respond is not None:
            answer = self._respond(received)
        else:
            answer = Answered(status=500, body={"error": "the test expected no request"})
        return await self._send(answer, reader, writer)

    async def _send(
        self, answer: Answered, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        streams = bool(answer.events) or answer.ending != "whole"
        body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        pieces = answer.events if streams else (body.encode(),)
        kind = "text/event-stream" if streams else "application/json"
        headers = {
            "content-type": kind,
            "transfer-encoding": "chunked",
            "request-id": f"req_{len(self.received)}",
            "x-request-id": f"req_{len(self.received)}",
            **answer.headers,
        }
        reason = _REASONS.get(answer.status, "Answer")
        lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{k}: {v}" for k, v in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in pieces:
            if piece:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
        if answer.ending == "whole":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        if answer.ending == "break":
            await writer.drain()
            writer.transport.abort()
            return False
        await reader.read()
        async with self._someone_left:
            self.left += 1
            self._someone_left.notify_all()
        return False
