"""What a codec is, and the three there are."""

from __future__ import annotations

from collections.abc import Sequence
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

        An untouched message of the same format comes back as the very object it came in.
        Messages of other formats are built from their blocks; results that belong to one batch
        of calls are put where this format wants them.
        """
        ...

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself (several items where the format splits it), for the log."""
        ...


def codec(name: str) -> Codec:
    """The codec of a wire format.

    Raises:
        ConfigError: no such format; the text names those there are.
    """
    from wayfare.formats.anthropic import AnthropicCodec
    from wayfare.formats.openai_chat import OpenAIChatCodec
    from wayfare.formats.openai_responses import OpenAIResponsesCodec

    codecs: dict[str, Codec] = {
        c.name: c for c in (AnthropicCodec(), OpenAIChatCodec(), OpenAIResponsesCodec())
    }
    found = codecs.get("openai-chat" if name == "openai" else name)
    if found is None:
        raise ConfigError(
            f"unknown format {name!r}; known: {', '.join(codecs)}", setting="format", value=name
        )
    return found


def format_names() -> tuple[str, ...]:
    """The names `codec` knows."""
    return ("anthropic", "openai-chat", "openai-responses")
