"""Roles of wire messages: those a provider takes, and who speaks where the role says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from wayfare.messages import Block, Message, Thinking, ToolCall, ToolResult, WireValue

_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("user", "assistant", "system"),
    "openai-chat": ("system", "developer", "user", "assistant", "tool", "function"),
    "openai-responses": ("user", "assistant", "system", "developer"),
}


def speaks_as_model(blocks: Iterable[Block]) -> bool:
    """Whether blocks are a model's whatever the role says: it alone calls and reasons."""
    found = tuple(blocks)
    return any(isinstance(block, ToolCall | Thinking) for block in found) and not any(
        isinstance(block, ToolResult) for block in found
    )


def has_wrong_role(message: Message) -> bool:
    """Whether a message came with a role that its provider refuses, or that is another's."""
    wire = message.wire
    if wire is None or message.format not in _KNOWN:
        return False
    if message.format == "openai-responses":
        kind = wire.get("type")
        if kind != "message" and (kind is not None or "role" not in wire):
            return False  # Items of other kinds have no role.
    given = wire.get("role")
    if given not in _KNOWN[message.format]:
        return True
    return (given == "assistant") != (message.role == "assistant")


def envelope(message: Message, wire: WireValue) -> dict[str, Any]:
    """The keys of a message that is written anew, its role set right where it was wrong."""
    if not has_wrong_role(message):
        return {**wire}
    known = message.role in _KNOWN[message.format]
    return {**wire, "role": message.role if known else "user"}
