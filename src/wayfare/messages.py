"""Messages: frozen, made of ordered blocks, each with the origin that says who authored it.

A message that came from outside keeps the very wire value it came in (`Message.wire`), and so
does each of its blocks. Encoding an untouched message gives that value back, so nothing a codec
does not understand can be lost on the way; only a message that an edit touched is built anew,
from the wire values of its untouched blocks and the new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["user", "assistant", "system", "developer", "tool"]
WireValue: TypeAlias = Mapping[str, Any]


class Origin(StrEnum):
    """Who authored a message: what may instruct, and what may become evidence, hangs on it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    MEMORY = "memory"
    NOTES = "notes"
    SUMMARY = "summary"
    SYSTEM = "system"


class _Block(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower
):
    wire: WireValue | None = None
    """The block as it came, or None for a block made here (or for one that is no object there)."""


class Text(_Block, frozen=True, kw_only=True):
    """Plain text."""

    text: str


class Thinking(_Block, frozen=True, kw_only=True):
    """Reasoning of the model. `signature` is empty when the provider signs nothing; signed or
    redacted content is bound to what precedes it and may only be kept whole or dropped."""

    text: str
    signature: str = ""
    redacted: bool = False

    @property
    def bound(self) -> bool:
        """Whether a provider would refuse it behind a changed prefix."""
        return bool(self.signature) or self.redacted


class Media(_Block, frozen=True, kw_only=True):
    """An image, a document or a sound. `content` is base64 or plain text, or empty for a URL."""

    kind: Literal["image", "document", "audio"]
    media_type: str = ""
    content: str = ""
    url: str = ""
    encoded: bool = True


class ToolCall(_Block, frozen=True, kw_only=True):
    """The model asks for a tool. `arguments` is the raw JSON text where the format has one."""

    id: str
    name: str
    input: Mapping[str, Any]
    arguments: str | None = None


class ToolResult(_Block, frozen=True, kw_only=True):
    """What a tool answered. `plain` tells a content that is one string from a list of blocks."""

    call_id: str
    content: tuple[Block, ...]
    is_error: bool = False
    plain: bool = True

    @property
    def text(self) -> str:
        """The text of the result; other blocks are left out."""
        return text_of(self.content)


class Opaque(_Block, frozen=True, kw_only=True):
    """A block of a kind wayfare does not know. It passes through untouched."""

    kind: str
    text: str = ""
    """Text found in it, for measuring and search; never sent."""


Block: TypeAlias = Text | Thinking | Media | ToolCall | ToolResult | Opaque


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, weakref=True):
    """One message a model can read.

    `format` names the codec of `wire` ("" for a message made here). `edited` says that `blocks`
    no longer are what `wire` holds: encoding then takes only the envelope from `wire`.
    """

    role: Role
    blocks: tuple[Block, ...]
    origin: Origin
    format: str = ""
    wire: WireValue | None = None
    edited: bool = False

    @property
    def text(self) -> str:
        """The plain text of the message, results and calls left out."""
        return text_of(self.blocks)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls it makes, in order."""
        return tuple(b for b in self.blocks if isinstance(b, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results it carries, in order."""
        return tuple(b for b in self.blocks if isinstance(b, ToolResult))

    def with_blocks(self, blocks: Iterable[Block]) -> Message:
        """The same message with other blocks; its envelope stays."""
        return msgspec.structs.replace(self, blocks=tuple(blocks), edited=True)


def text_of(blocks: Iterable[Block]) -> str:
    """The texts among `blocks`, joined by line ends."""
    return "\n".join(b.text for b in blocks if isinstance(b, Text))


def user(text: str, *, origin: Origin = Origin.USER) -> Message:
    """A user message of one text."""
    return Message(role="user", blocks=(Text(text=text),), origin=origin)


def assistant(text: str = "", *calls: ToolCall) -> Message:
    """An assistant message: a text, if any, then calls."""
    said = (Text(text=text),) if text else ()
    return Message(role="assistant", blocks=(*said, *calls), origin=Origin.ASSISTANT)


def call(name: str, input: Mapping[str, Any] | None = None, *, id: str) -> ToolCall:
    """A tool call."""
    return ToolCall(id=id, name=name, input=dict(input or {}))


def result(call_id: str, text: str, *, is_error: bool = False) -> ToolResult:
    """A tool result of one text."""
    return ToolResult(call_id=call_id, content=(Text(text=text),), is_error=is_error)


def results(*blocks: ToolResult) -> Message:
    """The user message that carries the results of one batch of calls."""
    return Message(role="user", blocks=blocks, origin=Origin.TOOL)


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """Every block, those inside of results included, in order."""
    for block in blocks:
        yield block
        if isinstance(block, ToolResult):
            yield from walk(block.content)
