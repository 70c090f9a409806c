"""Scripts for `ScriptedModel`: what it says next, in Python values or in a JSON file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from wayfare import json_text
from wayfare.errors import ConfigError
from wayfare.messages import Message, Origin, Text, Thinking, ToolCall
from wayfare.model import Reply, Request, Usage
from wayfare.providers.classify import Answer
from wayfare.providers.errors_from import Asked, error_from
from wayfare.providers.fields import fields_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """One answer of a script.

    Attributes:
        text: what it says.
        thinking: what it thinks before.
        calls: the tools it asks for.
        stop: `end`, `tools`, `length` or `refused`; empty: `tools` with calls, else `end`.
        usage: what it reports; None: what the model's own count makes of request and reply.
        error: raised instead, after `text` was streamed.
        delay_seconds: waited before anything comes.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: str = ""
    usage: Usage | None = None
    error: Exception | None = None
    delay_seconds: float = 0.0

    def message(self) -> Message:
        """The assistant message it makes."""
        thought = (Thinking(text=self.thinking),) if self.thinking else ()
        said = (Text(text=self.text),) if self.text else ()
        return Message(
            role="assistant", blocks=(*thought, *said, *self.calls), origin=Origin.ASSISTANT
        )


Line: TypeAlias = "str | ToolCall | Message | Reply | Exception | Scripted | Sequence[ToolCall]"
"""A text, one or several calls, a whole message or reply, an error, or a `Scripted`."""

Turn: TypeAlias = "Line | Callable[[Request], Line]"
"""A line, or a function that makes it of the request."""


def scripted(line: Line) -> Scripted | Reply | Message:
    """A line as the one thing it stands for."""
    match line:
        case str():
            return Scripted(text=line)
        case ToolCall():
            return Scripted(calls=(line,))
        case Exception():
            return Scripted(error=line)
        case Scripted() | Reply() | Message():
            return line
        case _:
            return Scripted(calls=tuple(line))


def recorded_replies(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The replies of a recorded session: its assistant messages, those in a row as one.

    Blocks keep their wire values, so what is made of several is still sent as it was recorded.
    """
    replies: list[Message] = []
    after_assistant = False
    for message in messages:
        if message.role == "assistant":
            if after_assistant:
                last = replies[-1]
                replies[-1] = Message(
                    role="assistant",
                    blocks=(*last.blocks, *message.blocks),
                    origin=last.origin,
                    format=last.format,
                )
            else:
                replies.append(message)
        after_assistant = message.role == "assistant"
    return tuple(replies)


_KEYS: Final = frozenset(
    {
        *("text", "thinking", "tool_use", "calls", "stop", "stop_reason", "usage", "error"),
        *("delay_seconds", "repeat", "times"),
    }
)
_STOPS: Final[Mapping[str, str]] = {
    "end_turn": "end",
    "stop": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "tool_calls": "tools",
    "max_tokens": "length",
    "refusal": "refused",
}


def read_script(path: Path) -> tuple[Turn, ...]:
    """Read a JSON script: a list of answers, or an object with such a list under `replies`.

    An answer is a text, or an object with `text`, `thinking`, `tool_use` (one call or a list,
    each `name`, `input`, `id`), `stop_reason`, `usage`, `delay_seconds`, `times`, or `error`
    (`status`, `body`, `headers`: read as a provider's answer).

    Raises:
        ConfigError: no such file, or no script; names what is wrong.
    """
    try:
        value: object = json_text.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"no script at {path}: {error}", setting="model") from error
    if isinstance(value, Mapping):
        value = cast("Mapping[str, object]", value).get("replies")
    if not isinstance(value, list):
        raise ConfigError(f"{path}: a script is a list of answers", setting="model")
    turns: list[Turn] = []
    for number, item in enumerate(cast("list[object]", value), start=1):
        turns.extend(_turns(item, f"{path}, answer {number}", number))
    return tuple(turns)


def _turns(item: object, where: str, number: int) -> list[Turn]:
    if isinstance(item, str):
        return [item]
    if not isinstance(item, Mapping):
        raise ConfigError(f"{where}: an answer is a text or an object", setting="model")
    fields = cast("Mapping[str, Any]", item)
    if unknown := sorted(fields.keys() - _KEYS):
        raise ConfigError(
            f"{where}: unknown field {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}",
            setting="model",
            value=unknown[0],
        )
    stop = str(fields.get("stop_reason") or fields.get("stop") or "")
    usage = fields_in(fields.get("usage"))
    error = fields_in(fields.get("error"))
    answer = Scripted(
        text=str(fields.get("text") or ""),
        thinking=str(fields.get("thinking") or ""),
        calls=_calls(fields.get("tool_use") or fields.get("calls") or (), number),
        stop=_STOPS.get(stop, stop),
        usage=_usage(usage) if usage else None,
        error=_error(error) if error else None,
        delay_seconds=float(fields.get("delay_seconds") or 0),
    )
    return [answer] * int(fields.get("times") or fields.get("repeat") or 1)


def _calls(given: object, number: int) -> tuple[ToolCall, ...]:
    listed = cast("list[Any]", [given] if isinstance(given, Mapping) else given)
    return tuple(
        ToolCall(
            id=str(call.get("id") or f"call_{number}_{at}"),
            name=str(call["name"]),
            input=dict(call.get("input") or {}),
        )
        for at, call in enumerate(listed)
    )


def _usage(told: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=int(told.get("input_tokens") or 0),
        cache_read_tokens=int(
            told.get("cache_read_input_tokens") or told.get("cache_read_tokens") or 0
        ),
        cache_write_tokens=int(
            told.get("cache_creation_input_tokens") or told.get("cache_write_tokens") or 0
        ),
        output_tokens=int(told.get("output_tokens") or 0),
    )


def _error(told: Mapping[str, Any]) -> Exception:
    """The error a provider's answer leads to, through the same seam as a real one."""
    answer = Answer(
        status=told.get("status"),
        body=told.get("body"),
        headers=told.get("headers") or {},
        stop_reason=told.get("stop_reason"),
    )
    return error_from(answer, Asked(provider="scripted"))
