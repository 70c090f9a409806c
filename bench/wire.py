"""Read-only access to wire messages: texts, calls and results in three provider formats.

A wire message is the dict that goes over the network: an entry of `messages` for Anthropic and
OpenAI chat, an item of `input` for OpenAI Responses. Nothing here changes a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

Wire = dict[str, Any]
Format = Literal["anthropic", "openai-chat", "openai-responses"]
FORMATS: tuple[Format, ...] = ("anthropic", "openai-chat", "openai-responses")

# Keys whose strings no model reads as text: ids, enumerations, encrypted or encoded payloads.
SILENT_KEYS = frozenset(
    (
        "type",
        "id",
        "call_id",
        "tool_use_id",
        "tool_call_id",
        "role",
        "name",
        "signature",
        "encrypted_content",
        "data",
        "media_type",
        "status",
        "cache_control",
        "format",
        "phase",
        "detail",
        "metadata",
        "annotations",
        "logprobs",
    )
)
RESPONSES_CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}
RESPONSES_RESULTS = frozenset(RESPONSES_CALLS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call. `arguments` is the parsed object, or the raw text where it is not JSON."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One tool result; `texts` are its text leaves in order (images have none)."""

    id: str
    texts: tuple[str, ...]


def is_object(value: Any) -> TypeGuard[Wire]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array; tuples are written as arrays too."""
    return isinstance(value, list | tuple)


def leaves(value: Any) -> Iterator[str]:
    """Every string value inside `value`, dict keys left out."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for child in value.values():
            yield from leaves(child)
    elif is_array(value):
        for child in value:
            yield from leaves(child)


def readable_leaves(value: Any) -> Iterator[str]:
    """String values that a model reads as text: `leaves` without `SILENT_KEYS`."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for key, child in value.items():
            # `data` is base64 everywhere but in a plain text document source.
            if key not in SILENT_KEYS or (key == "data" and value.get("type") == "text"):
                yield from readable_leaves(child)
    elif is_array(value):
        for child in value:
            yield from readable_leaves(child)


def parsed_arguments(text: Any) -> Any:
    """Call arguments as an object; unparsable text comes back as it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def blocks(message: Wire) -> list[Any]:
    """The content of a message as a list of blocks; a string is one text block."""
    content = message.get("content")
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if is_array(content) else []


def calls(message: Wire, format: Format) -> list[Call]:
    """The tool calls a message makes, in order."""
    if format == "anthropic":
        return [
            Call(id=str(b.get("id", "")), name=str(b.get("name", "")), arguments=b.get("input"))
            for b in blocks(message)
            if is_object(b) and b.get("type") == "tool_use"
        ]
    if format == "openai-chat":
        found: list[Call] = []
        entries: list[Wire] = message.get("tool_calls") or []
        for entry in entries:
            body: Wire = entry.get("function") or entry.get("custom") or {}
            arguments = body.get("arguments", body.get("input"))
            found.append(
                Call(
                    id=str(entry.get("id", "")),
                    name=str(body.get("name", "")),
                    arguments=parsed_arguments(arguments),
                )
            )
        return found
    if message.get("type") in RESPONSES_CALLS:
        arguments = message.get("arguments", message.get("input", message.get("action")))
        return [
            Call(
                id=str(message.get("call_id", "")),
                name=str(message.get("name", message["type"])),
                arguments=parsed_arguments(arguments),
            )
        ]
    return []


def results(message: Wire, format: Format) -> list[Result]:
    """The tool results a message carries, in order."""
    if format == "anthropic":
        return [
            Result(
                id=str(b.get("tool_use_id", "")),
                texts=tuple(readable_leaves(b.get("content") or ())),
            )
            for b in blocks(message)
            if is_object(b) and b.get("type") == "tool_result"
        ]
    if format == "openai-chat":
        if message.get("role") != "tool":
            return []
        texts_ = tuple(readable_leaves(message.get("content") or ()))
        return [Result(id=str(message.get("tool_call_id", "")), texts=texts_)]
    if message.get("type") in RESPONSES_RESULTS:
        texts_ = tuple(readable_leaves(message.get("output") or ()))
        return [Result(id=str(message.get("call_id", "")), texts=texts_)]
    return []


def texts(message: Wire, format: Format) -> list[str]:
    """Every text leaf of a message that a model can read, call arguments included (values only)."""
    if format == "openai-responses" and message.get("type", "message") != "message":
        if message.get("type") in RESPONSES_CALLS:
            return [t for call in calls(message, format) for t in leaves(call.arguments)]
        return list(readable_leaves(message))
    found: list[str] = []
    for block in blocks(message):
        if not is_object(block):
            found.extend(leaves(block))
        elif block.get("type") == "tool_use":
            found.extend(leaves(block.get("input")))
        else:
            found.extend(readable_leaves(block))
    if format == "openai-chat":
        for key in ("reasoning_content", "refusal"):
            if isinstance(message.get(key), str):
                found.append(message[key])
        for call in calls(message, format):
            found.extend(leaves(call.arguments))
    return found


def call_texts(message: Wire, format: Format) -> list[str]:
    """The text leaves of the call arguments alone."""
    return [text for call in calls(message, format) for text in leaves(call.arguments)]


def is_model_output(message: Wire, format: Format) -> bool:
    """Whether the model wrote it: assistant messages, and call or reasoning items."""
    if format != "openai-responses" or message.get("type", "message") == "message":
        return message.get("role") == "assistant"
    return message["type"] not in RESPONSES_RESULTS


def model_turns(messages: Sequence[Wire], format: Format) -> list[range]:
    """Where the model spoke: one range of indexes for each model call of a recording.

    One assistant message is one call (Anthropic, OpenAI chat). Responses has no such unit: there
    a run of items written by the model is one call.
    """
    if format != "openai-responses":
        return [range(i, i + 1) for i, m in enumerate(messages) if m.get("role") == "assistant"]
    turns: list[range] = []
    start: int | None = None
    for index, message in enumerate(messages):
        if is_model_output(message, format):
            start = index if start is None else start
        elif start is not None:
            turns.append(range(start, index))
            start = None
    if start is not None:
        turns.append(range(start, len(messages)))
    return turns


def is_pinned(message: Wire) -> bool:
    """Instructions of the operator that stand in the message list: system and developer."""
    return message.get("role") in ("system", "developer")


def user_texts(message: Wire, format: Format) -> list[str]:
    """What a person said in it: text of user messages, tool results left out."""
    if message.get("role") != "user":
        return []
    return [
        text
        for block in blocks(message)
        if is_object(block) and block.get("type") != "tool_result"
        for text in readable_leaves(block)
    ]


def active_request(messages: Sequence[Wire], format: Format) -> list[str]:
    """Texts of the newest user message that is not only tool results; empty when there is none.

    A user message without results wins over one that carries results: text beside results is
    mostly put there by the host (reminders, skill bodies).
    """
    beside_results: list[str] = []
    for message in reversed(messages):
        said = [text for text in user_texts(message, format) if text.strip()]
        if said and not results(message, format):
            return said
        if said and not beside_results:
            beside_results = said
    return beside_results


def text_of(messages: Iterable[Wire], format: Format) -> str:
    """All text leaves of the messages, joined with a line break."""
    return "\n".join(text for message in messages for text in texts(message, format))
