"""mini-SWE-agent: `.traj.json` files, both trajectory formats.

`messages` are chat messages, or, with its Responses models, response objects and call outputs;
`extra` and `timestamp` are the tool's own and taken off as it does before sending. The closing
`exit` message was never sent. A bare list of messages, as the first versions wrote, is an OpenAI
chat log.
"""

from __future__ import annotations

from typing import Any

from wayfare.replay.readers.fields import mapping, mappings, sequence, text, unix_time
from wayfare.replay.readers.source import Source, shape_of
from wayfare.replay.recording import Recording, Wire

KIND = "mini-swe-agent"

_NOT_SENT = frozenset({"extra", "timestamp"})


def accepts(value: Any) -> bool:
    """An object that names the format, or has its run report beside the messages."""
    given = mapping(value)
    if not isinstance(given.get("messages"), list):
        return False
    named = text(given.get("trajectory_format")).startswith("mini-swe-agent")
    report = mapping(given.get("info"))
    return named or "mini_version" in report or ("exit_status" in report and "submission" in report)


def read(source: Source, value: Any) -> list[Recording]:
    """The one session of the file."""
    given = mapping(value)
    messages: list[Wire] = []
    times: list[float | None] = []
    is_responses = False
    for place, one in enumerate(sequence(given["messages"])):
        message = mapping(one)
        extra = mapping(message.get("extra"))
        at = unix_time(extra.get("timestamp") or message.get("timestamp"))
        sent = {key: each for key, each in message.items() if key not in _NOT_SENT}
        if message.get("object") == "response" or "output" in message:
            is_responses = True
        if message.get("object") == "response":
            items = mappings(message.get("output"))
        elif message.get("role") == "exit":
            items = []
        elif "role" in message or "type" in message:
            items = [sent]
        else:
            source.problems.add(0, f"message {place} is none: {shape_of(one)}")
            continue
        messages += items
        times += [at] * len(items)
    return [
        Recording(
            path=str(source.path),
            name=source.path.name,
            kind=KIND,
            format="openai-responses" if is_responses else "openai-chat",
            messages=tuple(messages),
            times=tuple(times),
            model=_model(given),
            problems=source.problems.taken(),
        )
    ]


def _model(given: Wire) -> str | None:
    configured = mapping(mapping(mapping(given.get("info")).get("config")).get("model"))
    return text(configured.get("model_name")) or None
