"""What a model must be: one protocol, and the values that go in and come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from wayfare.messages import Message, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the provider reports them; the three inputs add up to the prompt."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Everything that was sent."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Everything that stands in the context after the call."""
        return self.prompt_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a token costs, per million, in any one currency; the defaults are ratios to input.

    The ratios are those of providers that charge for cache writes (Anthropic's price list).
    `currency` is empty for ratios: what they cost is no money and is not shown as such.
    """

    input: float = 1.0
    cache_read: float = 0.1
    cache_write: float = 1.25
    output: float = 5.0
    currency: str = ""

    def cost(self, usage: Usage) -> float:
        """The price of one call, in the currency of the prices."""
        return (
            usage.input_tokens * self.input
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
            + usage.output_tokens * self.output
        ) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it: its name, what it is for, the JSON schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent: system prompt, tools, messages.

    `stable_messages` says how many leading messages will stay as they are, for providers that
    want cache breakpoints. `schema` asks for a JSON reply of that shape where a provider can.
    """

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int = 4_096
    stable_messages: int = 0
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back: one assistant message, why it ended, what it cost.

    `stop` is `end`, `tools`, `length` (cut by the output limit) or `refused`.
    """

    message: Message
    stop: str = "end"
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools it asks for, in order."""
        return self.message.calls


class Watcher(Protocol):
    """Is told what streams in, as it comes; carries no truth."""

    def text(self, piece: str) -> None:
        """A piece of the visible answer."""
        ...

    def thinking(self, piece: str) -> None:
        """A piece of reasoning."""
        ...

    def call(self, name: str) -> None:
        """A tool call begins."""
        ...


class Model(Protocol):
    """What can answer a request. Cancelling the surrounding scope cancels the call."""

    @property
    def name(self) -> str:
        """How people and the log call it, e.g. `anthropic:claude-…`."""
        ...

    @property
    def window_tokens(self) -> int:
        """Its window."""
        ...

    @property
    def max_output_tokens(self) -> int:
        """The longest reply it can give."""
        ...

    @property
    def prices(self) -> Prices:
        """What it charges."""
        ...

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """Answer.

        Raises:
            PromptTooLong: the request does not fit; the limit where the provider names it.
            ModelRateLimited: waiting cures it.
            ModelUnreachable: no connection, a broken stream, a server error.
            ModelTimeout: nothing came for the idle time.
            ModelAuthError: the key is missing, wrong or powerless.
            ModelRefused: the provider will refuse it again.
            EmptyReply: it stopped without a word and without a call.
            OutputTooLarge: the input fits, the output asked for does not.
        """
        ...


def format_of(model: Model) -> str:
    """The wire format of a model's replies; a transcript in it keeps them byte for byte.

    Models say it in an attribute `format`; `anthropic` for one that does not.
    """
    return str(getattr(model, "format", "anthropic"))


class Closes(Protocol):
    """A model that holds connections or a server, and lets go of them."""

    async def close(self) -> None:
        """Let go; the model may be used again afterwards and then begins anew."""
        ...


class CountsTokens(Protocol):
    """A model that can also count a request exactly."""

    async def count(self, request: Request) -> int:
        """Tokens the request would take as a prompt."""
        ...


def texts(messages: Sequence[Message]) -> str:
    """All plain text of `messages`, one after the other, for searching in a request."""
    return "\n".join(m.text for m in messages)
