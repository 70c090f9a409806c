"""Inspect: evaluation logs in JSON, one openai-chat history a sample.

Calls are written the way the wire format does (the tool keeps their arguments parsed), references
to `attachments` are replaced by what they stand for, reasoning goes to `reasoning_content`, a
tool's error becomes the result where there is no other. Tools are those of the sample's first
model call. Times are those of the model and tool events that produced a message.
"""

from __future__ import annotations

from typing import Any

from wayfare.replay.readers.fields import (
    json_arguments,
    mapping,
    mappings,
    text,
    unix_time,
)
from wayfare.replay.readers.source import Source
from wayfare.replay.recording import Recording, Wire

KIND = "inspect"

_REFERENCE = "attachment://"


def accepts(value: Any) -> bool:
    """A log with its samples, or one sample of a log that was unpacked."""
    given = mapping(value)
    samples = mappings(given.get("samples")) if "eval" in given else [given]
    return any("messages" in one and "epoch" in one for one in samples[:5])


def read(source: Source, value: Any) -> list[Recording]:
    """One session a sample."""
    given = mapping(value)
    samples = mappings(given.get("samples")) if "eval" in given else [given]
    model = text(mapping(given.get("eval")).get("model")) or None
    return [_sample(source if len(samples) == 1 else _own(source), one, model) for one in samples]


def _own(source: Source) -> Source:
    return Source(path=source.path)


def _sample(source: Source, sample: Wire, model: str | None) -> Recording:
    events = mappings(sample.get("events"))
    attachments = mapping(sample.get("attachments"))
    times = _times(events)
    messages: list[Wire] = []
    at: list[float | None] = []
    for message in mappings(sample.get("messages")):
        whole = mapping(_resolved(message, attachments))
        messages.append(_wire(whole))
        key = text(message.get("id")) or text(message.get("tool_call_id"))
        at.append(times.get(key) or times.get(text(message.get("tool_call_id"))))
    calls = [one for one in events if one.get("event") == "model"]
    tools = mappings(_resolved(calls[0].get("tools"), attachments)) if calls else []
    return Recording(
        path=str(source.path),
        name=source.path.name,
        kind=KIND,
        format="openai-chat",
        messages=tuple(messages),
        times=tuple(at),
        tools=tuple({"type": "function", "function": one} for one in tools),
        model=model or text(mapping(sample.get("output")).get("model")) or None,
        problems=source.problems.taken(),
    )


def _times(events: list[Wire]) -> dict[str, float | None]:
    """When a message was complete, by its id or the id of the call it answers."""
    times: dict[str, float | None] = {}
    for event in events:
        done = unix_time(event.get("completed") or event.get("timestamp"))
        if event.get("event") == "model":
            choices = mappings(mapping(event.get("output")).get("choices"))
            for choice in choices:
                times[text(mapping(choice.get("message")).get("id"))] = done
        elif event.get("event") == "tool":
            times[text(event.get("id"))] = done
    times.pop("", None)
    return times


def _resolved(value: Any, attachments: Wire) -> Any:
    if isinstance(value, str) and value.startswith(_REFERENCE):
        return attachments.get(value.removeprefix(_REFERENCE), value)
    if isinstance(value, dict):
        return {key: _resolved(one, attachments) for key, one in mapping(value).items()}
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _wire(message: Wire) -> Wire:
    content, reasoning = _content(message.get("content"))
    wire: Wire = {"role": text(message.get("role")), "content": content}
    if reasoning:
        wire["reasoning_content"] = reasoning
    calls = [
        {
            "id": text(call.get("id")),
            "type": "function",
            "function": {
                "name": text(call.get("function")),
                "arguments": json_arguments(call.get("arguments")),
            },
        }
        for call in mappings(message.get("tool_calls"))
    ]
    if calls:
        wire["tool_calls"] = calls
    if wire["role"] == "tool":
        wire["tool_call_id"] = text(message.get("tool_call_id"))
        wire["content"] = content or text(mapping(message.get("error")).get("message"))
    return wire


def _content(content: Any) -> tuple[Any, str]:
    """Content in the wire's blocks, and the reasoning that stood among them."""
    if not isinstance(content, list):
        return content, ""
    parts: list[Wire] = []
    reasoning: list[str] = []
    for part in mappings(content):  # pyright: ignore[reportUnknownArgumentType]
        if part.get("type") == "reasoning":
            reasoning.append(text(part.get("reasoning")))
        elif part.get("type") == "image":
            parts.append({"type": "image_url", "image_url": {"url": text(part.get("image"))}})
        else:
            parts.append(part)
    return parts, "\n\n".join(reasoning)
