"""The OpenAI chat format.

Where this format wants results: each a `tool` message of its own, directly behind the assistant
message that made the calls, before anything else that is said. A result holds text alone here;
what else it held goes into the next user message, and the text says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from wayfare.formats import roles
from wayfare.formats.openai_assistant import (
    function_name,
    legacy_call_id,
    read_assistant,
    write_assistant,
)
from wayfare.formats.openai_calls import reads_as_error
from wayfare.formats.openai_chat_parts import (
    NAME,
    read_content,
    write_content,
    write_parts,
    write_result,
)
from wayfare.formats.runs import write_each, write_runs, written_call_id
from wayfare.formats.written import Written
from wayfare.messages import Block, Message, Origin, Role, ToolResult, WireValue

CALL_ID_CHARS = 40
"""Longer ids of tool calls are refused by the provider ("string too long ... maximum length")."""

_ROLES: Mapping[Any, tuple[Role, Origin]] = {
    "user": ("user", Origin.USER),
    "assistant": ("assistant", Origin.ASSISTANT),
    "system": ("system", Origin.SYSTEM),
    "developer": ("developer", Origin.SYSTEM),
    "tool": ("tool", Origin.TOOL),
    "function": ("tool", Origin.TOOL),
}


class OpenAIChatCodec:
    """Reads and writes the messages of the OpenAI chat format."""

    name: str = NAME

    def __init__(self) -> None:
        self.written = Written()

    def decode(self, wire: WireValue) -> Message:
        """Read one message; a call or result of the old `function` kind gets an id by its name."""
        given = wire.get("role")
        role, origin = _ROLES.get(given if isinstance(given, str) else "", _speaker(wire))
        if role == "assistant":
            blocks = read_assistant(wire)
        elif role == "tool":
            blocks = (_read_result(wire),)
        else:
            blocks = read_content(wire.get("content"))
        return Message(role=role, blocks=blocks, origin=origin, format=NAME, wire=wire)

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages; those that have nothing to say in this format are left out."""
        return write_runs(messages, self)

    def encode_one(self, message: Message) -> list[dict[str, Any]]:
        """Write a message by itself: `tool` messages for its results, then what else it holds."""
        return write_runs((message,), self)

    def write(self, message: Message, asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write one message anew; an edited one keeps its envelope."""
        if message.role == "assistant":
            return self.join((message,), asked)
        own = message.wire if message.format == NAME else None
        written: list[dict[str, Any]] = []
        said: list[Block] = []
        carried: list[dict[str, Any]] = []
        for block in message.blocks:
            if isinstance(block, ToolResult):
                result, parts = _write_result(block, message, asked)
                written.append(result)
                carried.extend(parts)
            else:
                said.append(block)
        if carried:
            parts = [*carried, *write_parts(said, of=message.format)]
            return [*written, {"role": "user", "content": parts}]
        if own is None or message.role == "tool":
            role = message.role if message.role in ("system", "developer") else "user"
            envelope: WireValue = {"role": role}
        else:
            envelope = roles.envelope(message, own)
        as_list = isinstance(envelope.get("content"), list)
        if content := write_content(said, of=message.format, as_list=as_list):
            written.append({**envelope, "content": content})
        return written

    def join(self, run: Sequence[Message], asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write assistant messages as one; of others, all results before all that is said."""
        if run[0].role == "assistant":
            return write_assistant(run, id_limit_chars=CALL_ID_CHARS)
        written = [one for message in run for one in write_each(message, asked, self)]
        return [*_results(written, True), *_results(written, False)]


def _speaker(wire: WireValue) -> tuple[Role, Origin]:
    """Who speaks where the role says nothing."""
    if wire.get("tool_calls") or wire.get("function_call"):
        return _ROLES["assistant"]
    return _ROLES["tool" if "tool_call_id" in wire else "user"]


def _results(written: Iterable[dict[str, Any]], wanted: bool) -> list[dict[str, Any]]:
    return [one for one in written if (one.get("role") in ("tool", "function")) is wanted]


def _read_result(wire: WireValue) -> ToolResult:
    content = wire.get("content")
    call_id = wire.get("tool_call_id")
    if not isinstance(call_id, str):
        call_id = legacy_call_id(wire.get("name"))
    return ToolResult(
        call_id=call_id,
        content=read_content(content),
        is_error=reads_as_error(content),
        plain=not isinstance(content, list | tuple),
        wire=wire,
    )


def _write_result(
    block: ToolResult, message: Message, asked: Sequence[Message]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One result as a message, and what of it only a user message can hold."""
    own = message.wire if message.format == NAME else None
    if own is not None and roles.has_wrong_role(message):
        own = roles.envelope(message, own)
    elif own is not None and block.wire is not None:
        return cast(dict[str, Any], block.wire), []
    call_id = written_call_id(block.call_id, message, asked, name=NAME, limit_chars=CALL_ID_CHARS)
    content, carried = write_result(block, call_id)
    if own is not None and message.role == "tool" and _read_result(own).call_id == call_id:
        if isinstance(own.get("content"), list) and not block.plain:
            return {**own, "content": write_parts(block.content, of=NAME)}, []
        return {**own, "content": content}, carried
    name = function_name(call_id)
    if name is not None:
        return {"role": "function", "name": name, "content": content}, carried
    return {"role": "tool", "tool_call_id": call_id, "content": content}, carried
