"""Witnesses: every request as the model got it, every text as a tool returned it.

They stand outside of what is judged: the recorder behind everything the runtime does to a request,
the tape before everything it does to a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from wayfare import json_text
from wayfare.agent.tools import Tool, ToolContext, ToolOutput
from wayfare.clock import Clock
from wayfare.context.summary_request import prompt_text
from wayfare.model import Model, Prices, Reply, Request, Watcher, format_of

Kind: TypeAlias = Literal["step", "selection", "extraction", "summary", "notes", "other"]

CUT_OFF: Final = "cut off before it answered"
_KINDS: Mapping[str, Kind] = {
    "memory_select": "selection",
    "memory_extract": "extraction",
    "summary": "summary",
    "notes": "notes",
}


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and what came back.

    Attributes:
        number: From 1, over all sessions of a trial.
        session: Which session of the trial sent it, from 1.
        kind: A step of a turn, or what the side query was for.
        request: As it reached the model.
        reply: None where the model raised.
        error: What it raised, or that it was cut off before it answered.
        began: Seconds on the clock when it was sent.
        ended: Seconds on the clock when the reply was there.
    """

    number: int
    session: int
    kind: Kind
    request: Request
    reply: Reply | None = None
    error: str = ""
    began: float = 0.0
    ended: float = 0.0

    @property
    def said(self) -> str:
        """The text of the reply."""
        return "" if self.reply is None else self.reply.message.text

    @property
    def label(self) -> str:
        """For people: `request 4 (step)`."""
        return f"request {self.number} ({self.kind})"


def kind_of(request: Request) -> Kind:
    """What a request is for: it has tools, or the instructions of a side query."""
    for name, kind in _KINDS.items():
        if request.system == prompt_text(name):
            return kind
    return "step" if request.tools else "other"


@dataclass(slots=True, kw_only=True)
class Record:
    """The exchanges of a trial, and the file they are written to as they happen."""

    path: Path
    clock: Clock
    session: int = 0
    exchanges: list[Exchange] = field(default_factory=list[Exchange])

    def begin(self, request: Request) -> Exchange:
        """A request is about to be sent."""
        made = Exchange(
            number=len(self.exchanges) + 1,
            session=self.session,
            kind=kind_of(request),
            request=request,
            began=self.clock.monotonic(),
        )
        self.exchanges.append(made)
        return made

    def end(self, exchange: Exchange) -> None:
        """It was answered: note it on disk."""
        exchange.ended = self.clock.monotonic()
        line = {
            "number": exchange.number,
            "session": exchange.session,
            "kind": exchange.kind,
            "system": exchange.request.system,
            "tools": [spec.name for spec in exchange.request.tools],
            "messages": exchange.request.messages,
            "reply": None if exchange.reply is None else exchange.reply.message,
            "error": exchange.error,
        }
        # A line of a report, not of a log: what a crash takes of it is of no use to anybody.
        with self.path.open("ab") as lines:
            lines.write(json_text.dumps(line) + b"\n")


class Recorder:
    """A model that passes everything on and keeps what it saw.

    Args:
        model: Who answers.
        record: Where it is kept.
        window_tokens: Its window is said to be no larger.
        reply_tokens: Its longest reply is said to be no longer.
        change: Changes a request on its way: how a switched-off mechanism is played.
    """

    def __init__(
        self,
        model: Model,
        record: Record,
        *,
        window_tokens: int,
        reply_tokens: int,
        change: Callable[[Request], Request] | None = None,
    ) -> None:
        self._model = model
        self._record = record
        self._window_tokens = window_tokens
        self._reply_tokens = reply_tokens
        self._change = change

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window_tokens(self) -> int:
        return min(self._window_tokens, self._model.window_tokens)

    @property
    def max_output_tokens(self) -> int:
        return min(self._reply_tokens, self._model.max_output_tokens)

    @property
    def prices(self) -> Prices:
        return self._model.prices

    @property
    def format(self) -> str:
        """The wire format of its replies."""
        return format_of(self._model)

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer as the model does; raises what it raises."""
        if self._change is not None:
            request = self._change(request)
        exchange = self._record.begin(request)
        try:
            reply = exchange.reply = await self._model.complete(request, watcher)
        except Exception as error:
            exchange.error = f"{type(error).__name__}: {error}"
            raise
        finally:
            if exchange.reply is None and not exchange.error:
                exchange.error = CUT_OFF
            self._record.end(exchange)
        return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a tool gave back, before the runtime saw it."""

    session: int
    call_id: str
    tool: str
    input: Mapping[str, Any]
    text: str
    is_error: bool


Keep: TypeAlias = "Callable[[str, ToolContext, Mapping[str, Any], ToolOutput], None]"
"""Told the tool's name, what it was handed, its input and what it returned."""


def taped(tool: Tool, keep: Keep) -> Tool:
    """The same tool, with whatever it returns kept."""

    async def run(given: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        output = await tool.run(given, context)
        keep(tool.name, context, given, output)
        return output

    return replace(tool, run=run)


if TYPE_CHECKING:
    _recorder: type[Model] = Recorder
