"""What a codec is, and the three there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from wayfare.errors import ConfigError
from wayfare.messages import Message, WireValue


class Codec(Protocol):
    """Reads and writes one wire format. Decoding never fails on what it does not know."""

    name: str

    def decode(self, wire: WireValue) -> Message:
        """Read one wire message (one item in the Responses format).

        The message keeps `wire`. Unknown roles are read as user, unknown blocks as `Opaque`.
        """
        ...

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages as the provider wants them, one wire list for the whole request.

        An untouched message of the same format comes back as the very object it came in, an
        edited one in its envelope, with the very objects of those blocks that still have their
        `wire`: a changed block must not keep it. Messages of other formats are built from their
        blocks, and one with nothing to say in this format is left out. Parallel calls, and the
        results of one batch, are put where this format wants them, also when they came apart;
        what is joined so is a new message made of the very blocks.
        """
        ...

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself (several items where the format splits it), for the log."""
        ...


_FORMATS: Mapping[str, tuple[str, str]] = {
    "anthropic": ("wayfare.formats.anthropic", "AnthropicCodec"),
    "openai-chat": ("wayfare.formats.openai_chat", "OpenAIChatCodec"),
    "openai-responses": ("wayfare.formats.openai_responses", "OpenAIResponsesCodec"),
}


@cache
def codec(name: str) -> Codec:
    """The codec of a wire format; `openai` is short for `openai-chat`. A codec holds no
    more than what it wrote of messages that are still there.

    Raises:
        ConfigError: no such format; the text names those there are.
    """
    found = _FORMATS.get("openai-chat" if name == "openai" else name)
    if found is None:
        raise ConfigError(
            f"unknown format {name!r}; known: {', '.join(_FORMATS)}", setting="format", value=name
        )
    module, kind = found
    return getattr(import_module(module), kind)()


def format_names() -> tuple[str, ...]:
    """The names `codec` knows."""
    return tuple(_FORMATS)


def split_system(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The system and developer messages a history opens with, and the rest.

    For formats that carry the system prompt inside of the list (the OpenAI ones): their text is
    the system prompt of the request, and what a codec gets is the rest.
    """
    for index, message in enumerate(messages):
        if message.role not in ("system", "developer"):
            return tuple(messages[:index]), tuple(messages[index:])
    return tuple(messages), ()
