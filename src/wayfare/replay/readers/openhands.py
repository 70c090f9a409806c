"""OpenHands: histories of events, as an openai-chat history.

Two generations are read. In the first an event is an action or an observation; the reply that led
to an action is recorded whole in `tool_call_metadata.model_response` and taken from there, once for
all its actions, and an observation's `content` is the result. In the second (`kind`:
`ActionEvent`, `ObservationEvent`, …) the call itself is recorded. Files are the evaluation's output
(`{"history": […]}`, one object or one a line) or a bare list of events. Condensations are noted as
compactions. What the tool adds when it renders events for the model (exit codes, reminders) is not
recorded and not invented.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wayfare.replay.readers.chat_log import ChatLog
from wayfare.replay.readers.fields import (
    content_text,
    json_arguments,
    mapping,
    mappings,
    most_common,
    sequence,
    text,
    unix_time,
)
from wayfare.replay.readers.source import Source, shape_of
from wayfare.replay.recording import Recording, Wire

KIND = "openhands"

_SECOND_KINDS = frozenset(
    {"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent"}
)
_TALKERS = {"agent": "assistant", "user": "user"}


def accepts(value: Any) -> bool:
    """A history of events, or an object that holds one."""
    return any(_is_event(one) for one in _events(value)[:5])


def read(source: Source, value: Any) -> list[Recording]:
    """The one session in it."""
    session = _Session(source)
    for place, one in enumerate(_events(value)):
        event = mapping(one)
        if not event and isinstance(one, list):  # [action, observation] in old outputs
            for each in mappings(one):
                session.add(each)
        elif not event:
            source.problems.add(0, f"event {place} is none: {shape_of(one)}")
        else:
            session.add(event)
    configured = mapping(mapping(mapping(value).get("metadata")).get("llm_config"))
    return [session.recording(text(configured.get("model")) or None)]


def _events(value: Any) -> list[Any]:
    given = mapping(value)
    return sequence(given.get("history") or given.get("events")) if given else sequence(value)


def _is_event(value: Any) -> bool:
    event = mapping(value)
    if isinstance(value, list):
        return any(_is_event(one) for one in mappings(value)[:2])
    if text(event.get("kind")) in _SECOND_KINDS:
        return True
    return "source" in event and not {"action", "observation"}.isdisjoint(event)


@dataclass(slots=True)
class _Session:
    source: Source
    log: ChatLog = field(default_factory=ChatLog)
    tools: tuple[Wire, ...] = ()
    models: list[str | None] = field(default_factory=list["str | None"])
    replies: set[str] = field(default_factory=set[str])

    def add(self, event: Wire) -> None:
        at = unix_time(event.get("timestamp"))
        if "kind" in event:
            self._add_second(event, at)
        elif "action" in event:
            self._add_action(event, at)
        elif "observation" in event:
            self._add_observation(event, at)

    def recording(self, model: str | None) -> Recording:
        self.log.settle()
        return Recording(
            path=str(self.source.path),
            name=self.source.path.name,
            kind=KIND,
            format="openai-chat",
            messages=tuple(self.log.messages),
            times=tuple(self.log.times),
            tools=self.tools,
            model=most_common(self.models) or model,
            compactions=tuple(self.log.compactions),
            problems=self.source.problems.taken(),
        )

    def _add_action(self, event: Wire, at: float | None) -> None:
        action = text(event.get("action"))
        arguments = mapping(event.get("args"))
        reply = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        if reply:
            self._add_reply(reply, at)
        elif action == "system":
            self.log.add({"role": "system", "content": text(arguments.get("content"))}, at)
            self.tools = tuple(mappings(arguments.get("tools")))
        elif action == "message":
            role = _TALKERS.get(text(event.get("source")), "user")
            self.log.add({"role": role, "content": text(arguments.get("content"))}, at)
        elif action == "condensation":
            self.log.compacted(text(arguments.get("summary")), trigger="auto")
        elif event.get("source") == "agent" and action == "finish":
            said = text(arguments.get("final_thought")) or text(event.get("message"))
            self.log.add({"role": "assistant", "content": said}, at)

    def _add_reply(self, reply: Wire, at: float | None) -> None:
        identity = text(reply.get("id"))
        if identity in self.replies:
            return
        self.replies.add(identity)
        self.models.append(text(reply.get("model")) or None)
        choices = mappings(reply.get("choices"))
        message = mapping(choices[0].get("message")) if choices else {}
        kept = {key: one for key, one in message.items() if one is not None or key == "content"}
        self.log.add({"role": "assistant", **kept}, at)

    def _add_observation(self, event: Wire, at: float | None) -> None:
        call = text(mapping(event.get("tool_call_metadata")).get("tool_call_id"))
        if call:
            self.log.result(call, text(event.get("content")), at)
        elif event.get("observation") in ("error", "user_rejected"):
            self.log.add({"role": "user", "content": text(event.get("content"))}, at)

    def _add_second(self, event: Wire, at: float | None) -> None:
        kind = event.get("kind")
        if kind == "SystemPromptEvent":
            prompt = event.get("system_prompt")
            content = prompt if isinstance(prompt, str) else text(mapping(prompt).get("text"))
            self.log.add({"role": "system", "content": content}, at)
            self.tools = tuple(mappings(event.get("tools")))
        elif kind == "MessageEvent":
            said = mapping(event.get("llm_message"))
            role = text(said.get("role")) or _TALKERS.get(text(event.get("source")), "user")
            self.log.add({"role": role, "content": said.get("content")}, at)
        elif kind == "ActionEvent":
            self._add_call(event, at)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            content = _observed(event)
            self.log.result(text(event.get("tool_call_id")), content, at)
        elif kind == "Condensation":
            self.log.compacted(text(event.get("summary")), trigger="auto")

    def _add_call(self, event: Wire, at: float | None) -> None:
        call = mapping(event.get("tool_call"))
        function = mapping(call.get("function")) or call
        made: Wire = {
            "id": text(event.get("tool_call_id")) or text(call.get("id")),
            "type": "function",
            "function": {
                "name": text(function.get("name")) or text(event.get("tool_name")),
                "arguments": json_arguments(function.get("arguments")),
            },
        }
        reply = text(event.get("llm_response_id"))
        if reply and reply in self.replies and self.log.join(made):
            return
        self.replies.add(reply)
        message: Wire = {"role": "assistant", "content": content_text(event.get("thought"))}
        if reasoning := text(event.get("reasoning_content")):
            message["reasoning_content"] = reasoning
        self.log.add({**message, "tool_calls": [made]}, at)


def _observed(event: Wire) -> Any:
    observation = mapping(event.get("observation"))
    for key in ("content", "output", "text"):
        if observation.get(key):
            return observation[key]
    return text(event.get("error")) or text(event.get("rejection_reason"))
