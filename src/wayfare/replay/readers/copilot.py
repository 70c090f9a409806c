"""GitHub Copilot CLI: `events.jsonl` of a session, as an openai-chat history.

Each line is `{type, data, id, timestamp, parentId}`. Taken are the system and user messages as
they were sent (`transformedContent`), assistant messages with their tool requests, the results of
the tools and the notices to the model; compactions are noted. Results stand after their calls, in
call order. Events of sub-agents become side chains.

Field names after the data of version 1.0.64 and public descriptions of the format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wayfare.replay.readers.chat_log import ChatLog
from wayfare.replay.readers.fields import (
    json_arguments,
    mapping,
    mappings,
    most_common,
    text,
    unix_time,
)
from wayfare.replay.readers.source import Source
from wayfare.replay.recording import Recording, Wire

KIND = "copilot"

_FAMILIES = ("session.", "assistant.", "user.", "tool.", "system.", "hook.", "subagent.")


def accepts(row: Wire) -> bool:
    """An event with its payload under `data`."""
    known = text(row.get("type")).startswith(_FAMILIES)
    return known and isinstance(row.get("data"), dict) and "parentId" in row


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The one session of the file."""
    sessions: dict[str, _Session] = {}
    main = sessions.setdefault("", _Session())
    for number, value in rows:
        row = mapping(value)
        event = row.get("data")
        if not isinstance(event, dict):
            source.problems.add(number, "an event without a payload")
            continue
        payload = mapping(event)
        agent = text(payload.get("parentToolCallId")) or text(row.get("agentId"))
        session = sessions.setdefault(agent, _Session())
        session.add(text(row.get("type")), payload, unix_time(row.get("timestamp")))
    sides = [one.recording(source, f"/{name}") for name, one in sessions.items() if name]
    return [main.recording(source, "", tuple(side for side in sides if side.messages))]


@dataclass(slots=True)
class _Session:
    log: ChatLog = field(default_factory=ChatLog)
    models: list[str | None] = field(default_factory=list["str | None"])
    tokens_before: int | None = None

    def add(self, kind: str, event: Wire, at: float | None) -> None:
        content = text(event.get("content"))
        if kind == "system.message":
            self.log.add({"role": "system", "content": content}, at)
        elif kind == "user.message":
            sent = text(event.get("transformedContent")) or content
            self.log.add({"role": "user", "content": sent}, at)
        elif kind == "system.notification":
            self.log.add({"role": "user", "content": content}, at)
        elif kind == "assistant.message":
            self.models.append(text(event.get("model")) or None)
            self.log.add(_assistant(event), at)
        elif kind == "tool.execution_complete":
            self.log.result(text(event.get("toolCallId")), _result(event), at)
        elif kind == "session.compaction_start":
            self.tokens_before = _tokens(event)
        elif kind == "session.compaction_complete" and event.get("success", True):
            self.log.compacted(
                text(event.get("summaryContent")),
                trigger=text(event.get("trigger")) or None,
                tokens_before=_tokens(event) or self.tokens_before,
            )

    def recording(
        self, source: Source, suffix: str, sides: tuple[Recording, ...] = ()
    ) -> Recording:
        self.log.settle()
        return Recording(
            path=str(source.path),
            name=source.path.name + suffix,
            kind=KIND,
            format="openai-chat",
            messages=tuple(self.log.messages),
            times=tuple(self.log.times),
            model=most_common(self.models),
            compactions=tuple(self.log.compactions),
            side_chains=sides,
            problems=() if suffix else source.problems.taken(),
        )


def _assistant(event: Wire) -> Wire:
    message: Wire = {"role": "assistant", "content": text(event.get("content")) or None}
    if reasoning := text(event.get("reasoningText")):
        message["reasoning_content"] = reasoning
    calls = [
        {
            "id": text(call.get("toolCallId")),
            "type": "function",
            "function": {
                "name": text(call.get("name")),
                "arguments": json_arguments(call.get("arguments")),
            },
        }
        for call in mappings(event.get("toolRequests"))
    ]
    return {**message, "tool_calls": calls} if calls else message


def _result(event: Wire) -> str:
    result = event.get("result")
    if isinstance(result, str):
        return result
    failed = mapping(event.get("error"))
    return text(mapping(result).get("content")) or text(failed.get("message"))


def _tokens(event: Wire) -> int | None:
    tokens = event.get("preCompactionTokens")
    return tokens if isinstance(tokens, int) else None
