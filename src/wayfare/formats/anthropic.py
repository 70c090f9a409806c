"""The Anthropic Messages format.

Where this format wants results: all results of a batch of calls in the one user message after
it, before any text. Results that came as several messages are therefore written as one, even
where each of them is untouched; their blocks stay the very objects they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from wayfare.formats.anthropic_blocks import NAME, build_block, read_content
from wayfare.formats.call_ids import fitting_call_id
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

    def decode(self, wire: WireValue) -> Message:
        """Read one message.

        `origin` of a user message: TOOL if results are all that speaks in it, else USER; then
        the user's own words are `message.text`, the text outside of the results.
        """
        role = _role(wire.get("role"))
        blocks = read_content(wire.get("content"))
        if role == "assistant":
            origin = Origin.ASSISTANT
        elif role in ("system", "developer"):
            origin = Origin.SYSTEM
        else:
            origin = _user_origin(blocks)
        return Message(role=role, blocks=blocks, origin=origin, format=NAME, wire=wire)

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages; those that have nothing to say in this format are left out."""
        written: list[Any] = []
        calls: Message | None = None  # the assistant message that results would answer
        in_run = False  # whether the message before this one was no assistant's
        start = start_written = 0  # where the run of such messages begins
        merge_to = 0  # one past the last message of the run that must be part of one message
        for index, message in enumerate(messages):
            if message.role == "assistant":
                if merge_to:
                    written[start_written:] = self._run(messages[start:index], merge_to, calls)
                    merge_to = 0
                in_run = False
                calls = message
            elif in_run:
                if _answers(message, calls):
                    merge_to = index - start + 1
            else:
                in_run = True
                start = index
                start_written = len(written)
            if message.format == NAME and not message.edited and message.wire is not None:
                written.append(message.wire)
            elif (built := _build(message, calls)) is not None:
                written.append(built)
        if merge_to:
            written[start_written:] = self._run(messages[start:], merge_to, calls)
        return written

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself: one wire message, or none if nothing in it can be said."""
        return self.encode((message,))

    def _run(
        self, run: Sequence[Message], merge_to: int, calls: Message | None
    ) -> list[dict[str, Any]]:
        """Write messages that stand between two assistant messages, the first ones as one."""
        merged = _merge(run[:merge_to], calls)
        return [*([merged] if merged else ()), *self.encode(run[merge_to:])]


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


def _answers(message: Message, calls: Message | None) -> bool:
    """Whether the message carries a result of the batch that `calls` made."""
    if calls is None:
        return False
    results = message.results
    if not results:
        return False
    asked = {call.id for call in calls.calls}
    return any(result.call_id in asked for result in results)


def _merge(run: Sequence[Message], calls: Message | None) -> dict[str, Any] | None:
    """One user message of all: results first, in the order of the calls, then the rest."""
    place: dict[str, int] = {}
    for call in calls.calls if calls else ():
        place.setdefault(call.id, len(place))
    results: list[tuple[int, dict[str, Any]]] = []
    rest: list[dict[str, Any]] = []
    for message in run:
        for block in message.blocks:
            content = _write(block, message, calls)
            if content is None:
                continue
            if isinstance(block, ToolResult):
                results.append((place.get(block.call_id, len(place)), content))
            else:
                rest.append(content)
    results.sort(key=lambda pair: pair[0])
    content = [block for _, block in results] + rest
    return {"role": "user", "content": content} if content else None


def _build(message: Message, calls: Message | None) -> dict[str, Any] | None:
    """A message that did not come in this format, or was edited; None if nothing is left."""
    results: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for block in message.blocks:
        if (content := _write(block, message, calls)) is not None:
            (results if isinstance(block, ToolResult) else rest).append(content)
    blocks = results + rest
    if not blocks:
        return None
    own = message.wire if message.format == NAME else None
    if own is None:
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": _plain(blocks)}
    return {**own, "content": blocks if isinstance(own.get("content"), list) else _plain(blocks)}


def _plain(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A single bare text as a string, the form in which a message of one text mostly comes."""
    if (
        len(blocks) == 1
        and blocks[0].get("type") == "text"
        and blocks[0].keys() == {"type", "text"}
    ):
        return cast(str, blocks[0]["text"])
    return blocks


def _write(block: Block, message: Message, calls: Message | None) -> dict[str, Any] | None:
    if message.format == NAME and block.wire is not None:
        return cast(dict[str, Any], block.wire)
    built = build_block(block, of=message.format)
    if built is None:
        return None
    if isinstance(block, ToolCall | ToolResult):
        key = "id" if isinstance(block, ToolCall) else "tool_use_id"
        asker = calls or message
        if asker.format not in ("", NAME):
            built[key] = fitting_call_id(built[key], _CALL_ID_CHARS)
        if message.format == NAME and message.wire is not None:
            built = _with_marks(built, key, message.wire)
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
