"""wayfare's own governor as a policy, so that it is judged exactly as the others are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from bench.judges.provider import Usage as Billed
from bench.policy import Setting
from bench.wire import Wire, is_model_output
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.formats import codec
from wayfare.model import Usage
from wayfare.session import Places, file_transcript, governed

STEP_SECONDS = 20.0


class Governed:
    """Feeds the history to a session in files and sends what its governor prepares."""

    def __init__(self, setting: Setting, budget: str) -> None:
        self._format = setting.format
        self._codec = codec(setting.format)
        self._loop = asyncio.new_event_loop()
        self._clock = MovableClock()
        self._edits: dict[str, int] = {}
        self._known = 0
        self._usage: Usage | None = None
        transcript = file_transcript(
            Places(workspace=setting.root),
            setting.session,
            clock=self._clock,
            format=setting.format,
            sync="never",
        )
        self._governor = self._loop.run_until_complete(
            governed(
                transcript,
                Budget.named(budget, setting.window_tokens),
                clock=self._clock,
                fixed_tokens=setting.fixed_tokens,
            )
        )

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """The governed messages for `history`."""
        return self._loop.run_until_complete(self._prepare(history))

    async def _prepare(self, history: Sequence[Wire]) -> list[Wire]:
        self._clock.advance(STEP_SECONDS)
        new = [self._codec.decode(wire) for wire in history[self._known :]]
        answered = self._usage is not None and bool(new)
        if answered and is_model_output(history[self._known], self._format):
            await self._governor.add(new[:1], usage=self._usage)
            new = new[1:]
        await self._governor.add(new)
        self._known, self._usage = len(history), None
        await self._before_call()
        prepared = await self._governor.prepare()
        for entry in prepared.edits:
            self._edits[entry.by] = self._edits.get(entry.by, 0) + 1
        return self._codec.encode(prepared.messages)

    async def _before_call(self) -> None:
        """What happens before the governor prepares; nothing here."""

    def observe(self, usage: Billed) -> None:
        """Usage of the request just sent, which the governor learns from."""
        self._usage = Usage(
            input_tokens=usage.input,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        )

    def report(self) -> dict[str, Any]:
        """Edits by pass."""
        self._loop.run_until_complete(self._governor.transcript.close())
        self._loop.close()
        return {"edits": self._edits}


def window(setting: Setting) -> Governed:
    """The preset `window`."""
    return Governed(setting, "window")


def classic(setting: Setting) -> Governed:
    """The preset `classic`."""
    return Governed(setting, "classic")


WAYFARE = {"wayfare window": window, "wayfare classic": classic}
