"""The Anthropic Messages format.

Where this format wants results: all results of a batch of calls in the one user message after
it, before any text. Results that came as several messages are therefore written as one, even
where each of them is untouched; their blocks stay the very objects they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

from wayfare.formats.anthropic_blocks import NAME, build_block, read_content
from wayfare.formats.roles import envelope, speaks_as_model
from wayfare.formats.runs import call_places, write_runs, written_call_id
from wayfare.formats.written import Written
from wayfare.messages import (
    Block,
    Message,
    Origin,
    Role,
    Text,
    ToolCall,
    ToolResult,
    WireValue,
)

_CALL_ID_CHARS = 64
"""The provider names no limit; 64 is what others take, so an id survives a way back."""

_REWRITTEN = frozenset({"content", "input", "is_error"})
"""What an edit of a call or a result changes; every other key is the caller's and stays."""

_ROLES: Mapping[Any, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}


class AnthropicCodec:
    """Reads and writes the messages of the Anthropic Messages format."""

    name: str = NAME

    def __init__(self) -> None:
        self.written = Written()

    def decode(self, wire: WireValue) -> Message:
        """Read one message.

        `origin` of a user message: TOOL if results are all that speaks in it, else USER; then
        the user's own words are `message.text`, the text outside of the results.
        """
        role = _role(wire.get("role"))
        blocks = read_content(wire.get("content"))
        if role == "user" and speaks_as_model(blocks):
            role = "assistant"
        if role == "assistant":
            origin = Origin.ASSISTANT
        elif role in ("system", "developer"):
            origin = Origin.SYSTEM
        else:
            origin = _user_origin(blocks)
        return Message(role=role, blocks=blocks, origin=origin, format=NAME, wire=wire)

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages; those that have nothing to say in this format are left out.

        System and developer messages of other formats become user text: the system prompt is
        no message here (`split_system` takes it off).
        """
        return write_runs(messages, self)

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself: one wire message, or none if nothing in it can be said."""
        return write_runs((message,), self)

    def write(self, message: Message, asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write one message anew; an edited one keeps its envelope."""
        content = _content((message,), asked)
        if not content:
            return []
        own = message.wire if message.format == NAME else None
        if own is None:
            return [{"role": _written_role(message), "content": _plain(content)}]
        bare = not isinstance(own.get("content"), list)
        return [{**envelope(message, own), "content": _plain(content) if bare else content}]

    def join(self, run: Sequence[Message], asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages as one."""
        content = _content(run, asked)
        return [{"role": _written_role(run[0]), "content": content}] if content else []


def _role(role: object) -> Role:
    return _ROLES.get(role, "user") if isinstance(role, str) else "user"


def _user_origin(blocks: Sequence[Block]) -> Origin:
    carries_result = False
    for block in blocks:
        if isinstance(block, ToolResult):
            carries_result = True
        elif isinstance(block, Text) and block.text.strip():
            return Origin.USER
    return Origin.TOOL if carries_result else Origin.USER


def _written_role(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _content(run: Sequence[Message], asked: Sequence[Message]) -> list[dict[str, Any]]:
    """The blocks of all: results first, in the order of their calls, then the rest."""
    results: list[tuple[int, dict[str, Any]]] = []
    rest: list[dict[str, Any]] = []
    place = call_places(asked)
    for message in run:
        for block in message.blocks:
            if (written := _write(block, message, asked)) is None:
                continue
            if isinstance(block, ToolResult):
                results.append((place.get(block.call_id, len(place)), written))
            else:
                rest.append(written)
    results.sort(key=itemgetter(0))
    return [written for _, written in results] + rest


def _plain(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A single bare text as a string, the form in which a message of one text mostly comes."""
    if (
        len(blocks) == 1
        and blocks[0].get("type") == "text"
        and blocks[0].keys() == {"type", "text"}
    ):
        return cast(str, blocks[0]["text"])
    return blocks


def _write(block: Block, message: Message, asked: Sequence[Message]) -> dict[str, Any] | None:
    if message.format == NAME and block.wire is not None:
        return cast(dict[str, Any], block.wire)
    built = build_block(block, of=message.format)
    if built is None or not isinstance(block, ToolCall | ToolResult):
        return built
    key = "id" if isinstance(block, ToolCall) else "tool_use_id"
    built[key] = written_call_id(built[key], message, asked, name=NAME, limit_chars=_CALL_ID_CHARS)
    if message.format == NAME and message.wire is not None:
        return _with_marks(built, key, message.wire)
    return built


def _with_marks(built: dict[str, Any], key: str, wire: WireValue) -> dict[str, Any]:
    """A rewritten call or result with the other keys of the block it stands for."""
    content = wire.get("content")
    if isinstance(content, list):
        for old in cast(list[object], content):
            if not isinstance(old, Mapping):
                continue
            was = cast(Mapping[str, Any], old)
            if was.get("type") == built["type"] and was.get(key) == built[key]:
                marks = {k: v for k, v in was.items() if k not in _REWRITTEN}
                return built | {k: v for k, v in marks.items() if k not in built}
    return built
