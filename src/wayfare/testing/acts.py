"""What a model under test shall do next: the words of the model contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wayfare.messages import ToolCall
from wayfare.model import Usage

SENT_TOKENS = 219_898
LIMIT_TOKENS = 200_000
ROOM_TOKENS = 10_000
RETRY_AFTER_SECONDS = 7.0

Failure: TypeAlias = Literal[
    "overflow",  # SENT_TOKENS do not fit LIMIT_TOKENS
    "overflow_in_stream",  # the same, told after the stream began
    "output_too_large",  # input fits LIMIT_TOKENS, ROOM_TOKENS are left for the output
    "rate_limited",  # asks to wait RETRY_AFTER_SECONDS
    "overloaded",
    "overloaded_in_stream",
    "server_error",
    "auth",
    "unknown_model",
    "broken_rule",  # a request that could be mended
    "empty",  # a reply without a word and without a call
    "garbage",  # a stream of no JSON
    "html",  # a page of a proxy
    "nothing",  # a stream that ends before it begins
]


def _usage() -> Usage:
    return Usage(input_tokens=40, cache_read_tokens=900, cache_write_tokens=60, output_tokens=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """A reply. A `signature` is the provider's, over the thinking."""

    text: str = ""
    thinking: str = ""
    signature: str = "c2lnbmF0dXJl"
    calls: tuple[ToolCall, ...] = ()
    stop: Literal["end", "tools", "length", "refused"] = "end"
    usage: Usage = field(default_factory=_usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """A failure of one kind."""

    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """Says a piece, then nothing more, without an end."""

    text: str = "and then"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """Says a piece, then the connection breaks."""

    text: str = "and then"


@dataclass(frozen=True, slots=True, kw_only=True)
class IsGone:
    """Nobody is there to connect to."""


Act: TypeAlias = Says | Fails | Stalls | Breaks | IsGone


class CannotStage(Exception):
    """This implementation cannot be made to act so."""
