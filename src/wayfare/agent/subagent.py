"""Sub-agents: the same loop with a context of its own, whose last words come back as a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import anyio

from wayfare.agent.kit import Kit
from wayfare.agent.limits import Totals
from wayfare.agent.loop import run_turn
from wayfare.agent.ports import SubagentReport
from wayfare.agent.registry import Registry

STARTERS: Final = ("task",)
"""Tools a sub-agent does not get: it starts no others, so none can multiply."""
ROLE: Final = (
    "You are a sub-agent. Work on the task below on your own and nobody can be asked. Your last "
    "message is all that comes back: make it a complete report with what was found or done, the "
    "files concerned and what is open."
)


class OpenChild(Protocol):
    """Opens the kit of a sub-agent: a log of its own, all else as its parent has it."""

    def __call__(self, number: int, tools: Registry, /) -> AbstractAsyncContextManager[Kit]:
        """The kit, closed on the way out. `number` counts from 1."""
        ...


class Subagents:
    """Runs sub-agents of one session.

    Args:
        open_child: Opens the kit of one.
        tools: The session's tools as they are now; more may join.
        totals: The session's, to which what they use is added.
        parallel: So many at once; further ones wait.
    """

    def __init__(
        self,
        open_child: OpenChild,
        *,
        tools: Callable[[], Registry],
        totals: Totals,
        parallel: int = 4,
    ) -> None:
        self._open = open_child
        self._tools = tools
        self._totals = totals
        self._places = anyio.Semaphore(parallel)
        self._started = 0
        self._running: dict[int, str] = {}

    async def run(
        self, task: str, *, description: str = "", tools: Sequence[str] | None = None
    ) -> SubagentReport:
        """Let one work on `task` until it stops.

        Raises:
            WayfareError: its model cannot be reached, or its log cannot be written.
        """
        self._started += 1
        number = self._started
        async with self._places:
            self._running[number] = description or task.splitlines()[0][:80]
            try:
                return await self._run(number, task, tools)
            finally:
                del self._running[number]

    async def _run(self, number: int, task: str, tools: Sequence[str] | None) -> SubagentReport:
        chosen = self._tools().without(STARTERS)
        if tools is not None:
            chosen = chosen.only(tools)
        async with self._open(number, chosen) as kit:
            try:
                ended = await run_turn(kit, f"{ROLE}\n\n{task}")
            finally:
                self._totals.usage += kit.totals.usage
                self._totals.cost += kit.totals.cost
                self._totals.calls += kit.totals.calls
            return SubagentReport(
                text=ended.text if ended.how == "done" else _last_words(kit) or ended.text,
                ended=ended.how,
                steps=ended.steps,
                usage=ended.usage,
                transcript=kit.governor.transcript.path,
            )

    def running(self) -> Sequence[str]:
        """One line for each that is at work."""
        return tuple(f"{number}: {what}" for number, what in self._running.items())


def _last_words(kit: Kit) -> str:
    """What the sub-agent said last, for one that was stopped."""
    messages = kit.governor.view.messages()
    said = (m.text for m in reversed(messages) if m.role == "assistant" and m.text.strip())
    return next(said, "")
