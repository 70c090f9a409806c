"""A model that says what it is told to: the public double for tests, cases and replays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio.lowlevel import checkpoint

from wayfare.errors import OutputTooLarge, PromptTooLong
from wayfare.errors import ScriptIsOver as ScriptIsOver
from wayfare.messages import Message, Text, Thinking, ToolCall
from wayfare.model import CountsTokens, Model, Prices, Reply, Request, Usage, Watcher
from wayfare.providers.errors_from import Asked
from wayfare.providers.replying import checked, estimated_tokens
from wayfare.providers.script import (
    Scripted,
    Turn,
    read_script,
    recorded_replies,
    scripted,
)
from wayfare.providers.waiting import Sleep, sleep
from wayfare.tokens import TokenMeter

PIECE_CHARS: Final = 16
"""Characters that stream in at once."""


class ScriptedModel:
    """Answers requests in turn from a script, and keeps them.

    Args:
        script: the answers, in order; see `Line` and `Scripted`.
        always: answers when the script is over, instead of raising.
        name: how people and the log call it.
        window_tokens: its window.
        max_output_tokens: its longest reply.
        prices: what it charges.
        refuses: refuse requests above the window by its own count, and those whose output does
            not fit beside the input, as a provider does.
        count: its own count of a request; the default meter's by default.
        sleep: how it waits for `Scripted.delay_seconds`.
        piece_chars: characters that stream in at once.
        format: the wire format it says its replies are in; see `wayfare.model.format_of`.

    Attributes:
        requests: every request it got, in order, refused ones included.
    """

    def __init__(
        self,
        script: Iterable[Turn] = (),
        *,
        always: Turn | None = None,
        name: str = "scripted",
        window_tokens: int = 200_000,
        max_output_tokens: int = 16_384,
        prices: Prices | None = None,
        refuses: bool = False,
        count: Callable[[Request], int] = estimated_tokens,
        sleep: Sleep = sleep,
        piece_chars: int = PIECE_CHARS,
        format: str = "anthropic",
    ) -> None:
        self._script = list(script)
        self._at = 0
        self._always = always
        self._name = name
        self._window_tokens = window_tokens
        self._max_output_tokens = max_output_tokens
        self._prices = prices or Prices()
        self._refuses = refuses
        self._count = count
        self._sleep = sleep
        self._piece_chars = piece_chars
        self.format = format
        self.requests: list[Request] = []

    @classmethod
    def from_file(
        cls, path: Path, *, window_tokens: int | None = None, max_output_tokens: int | None = None
    ) -> ScriptedModel:
        """A model that follows a JSON script; see `read_script`.

        Args:
            window_tokens: its window; None: 200,000.
            max_output_tokens: its longest reply; None: 16,384.

        Raises:
            ConfigError: no such file, or no script.
        """
        return cls(
            read_script(path),
            name=f"scripted:{path}",
            window_tokens=window_tokens or 200_000,
            max_output_tokens=max_output_tokens or 16_384,
        )

    @classmethod
    def from_recording(
        cls, messages: Iterable[Message], *, window_tokens: int = 200_000
    ) -> ScriptedModel:
        """A model that says what the assistant of a recorded session said, call ids included."""
        replies = recorded_replies(messages)
        spoken = next((reply.format for reply in replies if reply.format), "anthropic")
        return cls(replies, name="recording", window_tokens=window_tokens, format=spoken)

    @property
    def name(self) -> str:
        return self._name

    @property
    def window_tokens(self) -> int:
        return self._window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self._max_output_tokens

    @property
    def prices(self) -> Prices:
        return self._prices

    @property
    def left(self) -> int:
        """How many answers of the script are left."""
        return len(self._script) - self._at

    def extend(self, script: Iterable[Turn]) -> None:
        """Add answers at the end."""
        self._script.extend(script)

    async def count(self, request: Request) -> int:
        """Its own count of a request."""
        return self._count(request)

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Give the next answer.

        Raises:
            ScriptIsOver: there is none left.
            PromptTooLong: it refuses, and the request is above its window.
            OutputTooLarge: it refuses, and input and output do not fit together.
            EmptyReply: a line that says nothing and calls nothing, as from a real model.
            Exception: the one the script holds.
        """
        self.requests.append(request)
        await checkpoint()
        if self._refuses:
            self._refuse(request)
        turn = self._next(request)
        line = scripted(turn(request) if callable(turn) else turn)
        if isinstance(line, Scripted):
            return await self._say(line, request, watcher)
        reply = line if isinstance(line, Reply) else self._reply(line, "", None, request)
        await self._stream(reply.message, watcher)
        return reply

    def _next(self, request: Request) -> Turn:
        if self._at < len(self._script):
            self._at += 1
            return self._script[self._at - 1]
        if self._always is not None:
            return self._always
        last = request.messages[-1].text[:200] if request.messages else ""
        raise ScriptIsOver(
            f"{self._name} has {len(self._script)} answers and was asked once more; the request "
            f"has {len(request.messages)} messages, the last of them: {last!r}",
            request=request,
        )

    def _refuse(self, request: Request) -> None:
        sent, window = self._count(request), self._window_tokens
        if sent > window:
            raise PromptTooLong(
                f"{self._name}: prompt is too long: {sent} tokens > {window} maximum",
                sent_tokens=sent,
                limit_tokens=window,
                provider=self._name,
                status=400,
            )
        if sent + request.max_output_tokens > window:
            raise OutputTooLarge(
                f"{self._name}: input and output exceed the window: {sent} + "
                f"{request.max_output_tokens} > {window}",
                output_limit_tokens=window - sent,
                sent_tokens=sent,
                limit_tokens=window,
                provider=self._name,
                status=400,
            )

    async def _say(self, line: Scripted, request: Request, watcher: Watcher | None) -> Reply:
        if line.delay_seconds:
            await self._sleep(line.delay_seconds)
        message = line.message()
        await self._stream(message, watcher)
        if line.error is not None:
            raise line.error
        reply = self._reply(message, line.stop, line.usage, request)
        return checked(reply, Asked(provider=self._name), stop_reason=reply.stop)

    def _reply(self, message: Message, stop: str, usage: Usage | None, request: Request) -> Reply:
        if usage is None:
            made = TokenMeter().message(message).tokens
            usage = Usage(input_tokens=self._count(request), output_tokens=made)
        stop = stop or ("tools" if message.calls else "end")
        return Reply(message=message, stop=stop, usage=usage, model=self._name)

    async def _stream(self, message: Message, watcher: Watcher | None) -> None:
        """Tell the watcher piece by piece; others may run, and cancel, between two pieces."""
        for block in message.blocks:
            match block:
                case Text() | Thinking():
                    for piece in self._pieces(block.text):
                        if watcher is not None:
                            tell = watcher.text if isinstance(block, Text) else watcher.thinking
                            tell(piece)
                        await checkpoint()
                case ToolCall():
                    if watcher is not None:
                        watcher.call(block.name)
                    await checkpoint()
                case _:
                    pass

    def _pieces(self, text: str) -> Sequence[str]:
        size = self._piece_chars
        return [text[at : at + size] for at in range(0, len(text), size)]


if TYPE_CHECKING:
    _model: type[Model] = ScriptedModel
    _counts: type[CountsTokens] = ScriptedModel
