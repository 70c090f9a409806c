"""Lines from standard input without a thread: one that waits in a read keeps a process from ending."""

from __future__ import annotations

import asyncio
import os

_CHUNK_BYTES = 65_536


class LineReader:
    """Reads lines from a file descriptor: a terminal, a pipe or a file.

    Args:
        descriptor: Where from.
        encoding: Of the text; what is no valid text becomes U+FFFD.
    """

    def __init__(self, descriptor: int, encoding: str = "utf-8") -> None:
        self._descriptor = descriptor
        self._encoding = encoding
        self._held = b""

    async def line(self) -> str:
        """The next line with its end; empty when there are no more."""
        while b"\n" not in self._held:
            chunk = await self._chunk()
            if not chunk:
                rest, self._held = self._held, b""
                return rest.decode(self._encoding, "replace")
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line.decode(self._encoding, "replace") + "\n"

    async def _chunk(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, _fulfil, ready)
        except (PermissionError, ValueError):
            return self._read()  # a plain file is always ready, and cannot be waited for
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)
        return self._read()

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK_BYTES)
        except OSError:
            return b""  # a terminal that is gone


def _fulfil(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
