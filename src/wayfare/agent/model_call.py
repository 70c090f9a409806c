"""One model call, seen through: shrinking or lowering the output as a refusal asks for.

What waiting cures is not seen here: the session's model waits by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Final

from wayfare.agent.compaction import compact, compact_if_due
from wayfare.agent.kit import Kit
from wayfare.context.pipeline import Prepared
from wayfare.context.recovery import Ladder, cannot_fit, without_reasoning
from wayfare.errors import (
    CannotFit,
    ModelError,
    ModelRefused,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.events import Event, Watched
from wayfare.model import Reply, Request

WINDOW: Final = "window"
"""Name of the mark that keeps the window a refusal taught."""
_LEAST_OUTPUT_TOKENS: Final = 256
"""A reply shorter than this holds no tool call worth having: the input must shrink instead."""
_OUTPUT_TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class Streamed:
    """Tells what streams in as events: `stream.text`, `stream.thinking`, `stream.call`."""

    watch: Watched

    def text(self, piece: str) -> None:
        """A piece of the visible answer."""
        self.watch(Event(name="stream.text", text=piece))

    def thinking(self, piece: str) -> None:
        """A piece of reasoning."""
        self.watch(Event(name="stream.thinking", text=piece))

    def call(self, name: str) -> None:
        """A tool call begins."""
        self.watch(Event(name="stream.call", text=name))


async def ask(kit: Kit) -> Reply:
    """Prepare the context and have the model answer.

    Raises:
        CannotFit: nothing is left to shrink; names what takes the room.
        ModelError: what shrinking does not cure.
        WriteFailed: what had to leave the context could not be archived.
    """
    call = _Call(kit)
    prepared = await _prepared(kit)
    for _ in count():
        try:
            reply = await kit.model.complete(call.request(prepared), Streamed(kit.watch))
        except PromptTooLong as error:
            prepared = await call.shrink(prepared, error)
        except OutputTooLarge as error:
            prepared = await call.lower(prepared, error)
        except ModelRefused as error:
            prepared = await call.mend(error)
        else:
            kit.totals.count(reply.usage, kit.model.prices)
            return reply
    raise AssertionError("unreachable")


async def _prepared(kit: Kit) -> Prepared:
    await kit.before_call()
    await compact_if_due(kit)
    try:
        return await kit.governor.prepare()
    except CannotFit as error:
        budget = kit.governor.budget
        text = (
            f"the request does not fit a window of {budget.window_tokens:,} tokens, of which "
            f"{budget.reserve_tokens:,} are kept for the reply"
        )
        raise cannot_fit(kit.governor, kit.fixed, text) from error


class _Call:
    """What was tried for one reply so far."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._ladder = Ladder(
            kit.governor,
            watch=kit.watch,
            fixed=kit.fixed,
            reactive=lambda: compact(kit, trigger="reactive"),
        )
        self._lowered = 0
        self._mended = False
        most = min(kit.model.max_output_tokens, kit.governor.budget.reserve_tokens)
        learned = kit.learned.output_tokens
        self._output_tokens = most if learned is None else min(most, learned)

    def request(self, prepared: Prepared) -> Request:
        """What is sent."""
        kit = self._kit
        return Request(
            messages=prepared.messages,
            system=kit.prompt,
            tools=kit.tools.specs(),
            max_output_tokens=self._output_tokens,
            stable_messages=prepared.stable_messages,
        )

    async def shrink(self, prepared: Prepared, error: PromptTooLong) -> Prepared:
        """The next rung of the ladder."""
        self._tell(error)
        governor = self._kit.governor
        believed = governor.budget.window_tokens
        smaller = await self._ladder.climb(prepared, error)
        window = governor.budget.window_tokens
        if window != believed:
            detail = {"model": self._kit.model.name, "window_tokens": window}
            await governor.transcript.mark(WINDOW, detail)
        self._output_tokens = min(self._output_tokens, governor.budget.reserve_tokens)
        return smaller

    async def lower(self, prepared: Prepared, error: OutputTooLarge) -> Prepared:
        """The same request with less output asked for; with no room for any, a smaller one."""
        self._tell(error)
        room = error.output_limit_tokens or self._output_tokens // 2
        self._lowered += 1
        if (
            room < _LEAST_OUTPUT_TOKENS
            or room >= self._output_tokens
            or self._lowered > _OUTPUT_TRIES
        ):
            too_long = PromptTooLong(
                str(error),
                sent_tokens=error.sent_tokens,
                limit_tokens=error.limit_tokens,
                provider=error.provider,
                status=error.status,
            )
            too_long.__cause__ = error
            return await self._ladder.climb(prepared, too_long)
        self._output_tokens = room
        if error.limit_tokens is None:
            # Not the room left beside this input but the model's own cap: it holds for later, too.
            self._kit.learned.output_tokens = room
        text = f"asked for too much output; at most {room:,} tokens from now on"
        self._kit.tell("model.output_lowered", text, max_output_tokens=room)
        return prepared

    async def mend(self, error: ModelRefused) -> Prepared:
        """Once, a history the provider calls malformed is sent without earlier reasoning."""
        if not error.repairable or self._mended:
            raise error
        self._mended = True
        self._tell(error)
        if not await self._kit.governor.edit(without_reasoning):
            raise error
        return await self._kit.governor.prepare()

    def _tell(self, error: ModelError) -> None:
        fields = {"error": type(error).__name__, "status": error.status}
        self._kit.tell("model.refused", str(error), **fields)
