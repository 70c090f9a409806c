"""The OpenAI Responses format: one item, one message; or one whole response.

Calls and results are items of their own here, tied by `call_id` alone, so nothing has to be
joined or moved. A reasoning item may only be sent with the item that came right behind it: a
reply of several items is therefore one message, whose wire value is the response with its
`output` list, and goes back as the very items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from wayfare.formats.openai_items import (
    NAME,
    read_content,
    read_item,
    write_call,
    write_output,
    write_parts,
)
from wayfare.formats.roles import envelope
from wayfare.formats.runs import written_call_id
from wayfare.formats.written import Written
from wayfare.messages import (
    Block,
    Message,
    Origin,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    WireValue,
)

_CALL_ID_CHARS = 64
"""Longer ids of calls are refused by the provider ("string too long ... maximum length")."""

_ROLES: Mapping[Any, tuple[Role, Origin]] = {
    "user": ("user", Origin.USER),
    "assistant": ("assistant", Origin.ASSISTANT),
    "system": ("system", Origin.SYSTEM),
    "developer": ("developer", Origin.SYSTEM),
    "tool": ("tool", Origin.TOOL),
}
_FROM_USER = frozenset({"mcp_approval_response"})
"""Items without a role that the user's side authors."""


class OpenAIResponsesCodec:
    """Reads and writes the items of the OpenAI Responses format."""

    name: str = NAME

    def __init__(self) -> None:
        self.written = Written()

    def decode(self, wire: WireValue) -> Message:
        """Read one item. What the provider ran itself (web search and the like) and items of
        unknown kinds are assistant messages of one `Opaque`; calls that the client must answer
        are tool calls. A whole response is one assistant message with the blocks of all items."""
        kind, given = wire.get("type"), wire.get("role")
        if (items := _output_items(wire)) is not None:
            blocks = tuple(block for item in items for block in self.decode(item).blocks)
            return Message(
                role="assistant", blocks=blocks, origin=Origin.ASSISTANT, format=NAME, wire=wire
            )
        if kind == "message" or (kind is None and "role" in wire):
            role, origin = _ROLES.get(given if isinstance(given, str) else "", _speaker(wire))
            blocks = read_content(wire.get("content"))
            return Message(role=role, blocks=blocks, origin=origin, format=NAME, wire=wire)
        block = read_item(wire)
        if isinstance(block, ToolResult):
            role, origin = _ROLES["tool"]
        elif isinstance(kind, str) and kind in _FROM_USER:
            role, origin = _ROLES["user"]
        else:
            role, origin = _ROLES.get(given if isinstance(given, str) else "", _ROLES["assistant"])
        return Message(role=role, blocks=(block,), origin=origin, format=NAME, wire=wire)

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages; those that have nothing to say in this format are left out."""
        written: list[Any] = []
        asked_from = asked_to = 0  # the assistant messages in a row that were the last to ask
        for index, message in enumerate(messages):
            if message.role == "assistant":
                if asked_to != index:
                    asked_from = index
                asked_to = index + 1
            if message.format == NAME and not message.edited and message.wire is not None:
                items = _output_items(message.wire)
                written.extend([message.wire] if items is None else items)
            else:
                asked = messages[asked_from:asked_to]
                written.extend(self.written(message, asked, _write))
        return written

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself: an item for each thing it says, calls or answers."""
        return self.encode((message,))


def _speaker(wire: WireValue) -> tuple[Role, Origin]:
    """Who speaks in a message whose role says nothing."""
    parts = wire.get("content")
    found = cast("list[object]", parts) if isinstance(parts, list) else []
    kinds = {cast("WireValue", part).get("type") for part in found if isinstance(part, dict)}
    return _ROLES["assistant" if kinds & {"output_text", "refusal"} else "user"]


def _output_items(wire: WireValue) -> list[dict[str, Any]] | None:
    """The items of a whole response, None for anything else (items have a type or a role)."""
    output = wire.get("output")
    if (
        "type" in wire
        or "role" in wire
        or not isinstance(output, list)
        or wire.get("object") != "response"
    ):
        return None
    items = cast(list[object], output)
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]


def _write(message: Message, asked: Sequence[Message]) -> list[dict[str, Any]]:
    """The items of a message in the order of its blocks, results first."""
    own = message.wire if message.format == NAME else None
    results: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    said: list[Block] = []
    for block in message.blocks:
        if own is not None and own is block.wire:
            items.append(cast(dict[str, Any], own))
        elif isinstance(block, ToolCall | ToolResult):
            call_id = block.id if isinstance(block, ToolCall) else block.call_id
            was = own if own is not None and own.get("call_id", own.get("id")) == call_id else None
            call_id = written_call_id(
                call_id, message, asked, name=NAME, limit_chars=_CALL_ID_CHARS
            )
            if isinstance(block, ToolCall):
                items += _said(said, message)
                said = []
                items.append(write_call(block, call_id, was))
            else:
                results.append(write_output(block, call_id, was, of=message.format))
        elif not isinstance(block, Thinking):
            said.append(block)
    return [*results, *items, *_said(said, message)]


def _said(said: Sequence[Block], message: Message) -> list[dict[str, Any]]:
    """What is said between two calls, as one message item."""
    parts = write_parts(said, of=message.format, spoken=message.role == "assistant")
    if not parts:
        return []
    own = message.wire if message.format == NAME else None
    if own is None or "content" not in own or own.get("type") not in (None, "message"):
        role = "user" if message.role == "tool" else message.role
        return [{"type": "message", "role": role, "content": parts}]
    texts = [block.text for block in said if isinstance(block, Text)]
    if isinstance(own.get("content"), str) and len(texts) == len(said):
        return [{**envelope(message, own), "content": "\n".join(texts)}]
    return [{**envelope(message, own), "content": parts}]
