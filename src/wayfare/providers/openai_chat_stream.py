"""Puts a reply of an OpenAI-compatible chat endpoint together from its chunks.

Servers differ in how they cut calls: indices may be missing or all 0, ids may be missing, come
with every piece or only with the first, arguments may be an object. All of that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.model import Usage, Watcher
from wayfare.providers.errors_from import Garbled
from wayfare.providers.fields import count_in, fields_in, objects_in

_THINKING: Final = ("reasoning_content", "reasoning")
"""What compatible servers call the text of reasoning."""

_JOINED: Final = frozenset({"text", "summary", "data"})
"""Fields of a `reasoning_details` entry (OpenRouter) that come in pieces."""


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


class ChatAssembly:
    """The reply so far.

    Args:
        watcher: is told what streams in.
        fresh_id: makes an id for a call that comes without one.
    """

    def __init__(self, watcher: Watcher | None, fresh_id: Callable[[], str]) -> None:
        self._watcher = watcher
        self._fresh_id = fresh_id
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._thinking: dict[str, list[str]] = {}
        self._details: list[dict[str, Any]] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reported: Mapping[str, Any] | None = None
        self.finish_reason: str | None = None
        self.model = ""

    def take(self, event: Mapping[str, Any]) -> None:
        if event.get("error"):
            raise Garbled("the stream reports an error", body=event, failed=True)
        self._note(event)
        for choice in objects_in(event.get("choices")):
            if choice.get("index") not in (0, None):
                continue
            if choice.get("error"):
                raise Garbled("the stream reports an error", body=event, failed=True)
            self._piece(fields_in(choice.get("delta")))
            if isinstance(reason := choice.get("finish_reason"), str) and reason:
                self.finish_reason = reason

    def take_whole(self, body: Mapping[str, Any]) -> None:
        choices = objects_in(body.get("choices"))
        message = fields_in(choices[0].get("message") if choices else None)
        if body.get("error") or not choices or choices[0].get("error") or not message:
            raise Garbled("the answer is no completion", body=body, failed=True)
        self._note(body)
        self._piece(message)
        self.finish_reason = str(choices[0].get("finish_reason") or "stop")

    def message(self) -> dict[str, Any]:
        """The reply as one assistant message of the chat format.

        Raises:
            Garbled: the stream stopped in the middle.
        """
        has_said = bool(self._text or self._calls or self._refusal)
        if self.finish_reason is None and not (self._reported and has_said):
            raise Garbled("the stream is empty or stops in the middle")
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        for key, pieces in self._thinking.items():
            message[key] = "".join(pieces)
        if self._details:
            message["reasoning_details"] = self._details
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._calls:
            message["tool_calls"] = [self._call(call) for call in self._calls]
        return message

    def _call(self, call: _Call) -> dict[str, Any]:
        arguments = "".join(call.arguments)
        function = {"name": call.name, "arguments": arguments if arguments.strip() else "{}"}
        made = {"id": call.id or self._fresh_id(), "type": "function", "function": function}
        return {**call.extra, **made}

    @property
    def usage(self) -> Usage:
        """What was reported; cached tokens are a part of the prompt tokens in this format."""
        told = self._reported or {}
        details = fields_in(told.get("prompt_tokens_details"))
        prompt = count_in(told, "prompt_tokens")
        read = (
            count_in(details, "cached_tokens")
            or count_in(told, "prompt_cache_hit_tokens")  # DeepSeek
            or count_in(told, "cached_tokens")  # Moonshot
        )
        written = count_in(details, "cache_write_tokens") or count_in(
            details, "cache_creation_tokens"
        )
        read = min(read, prompt)
        written = min(written, prompt - read)
        return Usage(
            input_tokens=prompt - read - written,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=count_in(told, "completion_tokens"),
        )

    def _note(self, event: Mapping[str, Any]) -> None:
        self.model = str(event.get("model") or self.model)
        if isinstance(usage := event.get("usage"), Mapping):
            self._reported = cast("Mapping[str, Any]", usage)

    def _piece(self, delta: Mapping[str, Any]) -> None:
        for key in _THINKING:
            if isinstance(piece := delta.get(key), str) and piece:
                first = not any(other != key and other in self._thinking for other in _THINKING)
                if first:  # a server may send the same text under both names
                    self._thinking.setdefault(key, []).append(piece)
                    if self._watcher is not None:
                        self._watcher.thinking(piece)
        for detail in objects_in(delta.get("reasoning_details")):
            self._detail(detail)
        if piece := _said(delta.get("content")):
            self._text.append(piece)
            if self._watcher is not None:
                self._watcher.text(piece)
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            self._refusal.append(refusal)
        for piece in objects_in(delta.get("tool_calls")):
            self._call_piece(piece)

    def _detail(self, detail: Mapping[str, Any]) -> None:
        """A piece of structured reasoning: lengthens the last entry of its index and type."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(
            last.get(k) == detail.get(k, last.get(k)) for k in ("type", "index", "id")
        )
        if last is None or not same:
            self._details.append(dict(detail))
            return
        for key, value in detail.items():
            if key in _JOINED and isinstance(value, str) and isinstance(last.get(key), str):
                last[key] = f"{last[key]}{value}"
            elif value is not None:
                last[key] = value

    def _call_piece(self, piece: Mapping[str, Any]) -> None:
        function = fields_in(piece.get("function"))
        call = self._call_of(piece, str(function.get("name") or ""))
        call.id = call.id or str(piece.get("id") or "")
        if not call.name and (name := str(function.get("name") or "")):
            call.name = name
            if self._watcher is not None:
                self._watcher.call(name)
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            arguments = json_text.dumps(dict(cast("Mapping[str, Any]", arguments))).decode("utf-8")
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        for key, value in piece.items():  # e.g. a signature of the thought behind the call
            if key not in ("index", "id", "type", "function") and value is not None:
                call.extra[key] = value

    def _call_of(self, piece: Mapping[str, Any], name: str) -> _Call:
        """The call a piece belongs to: a new one where index, or id and name, are new."""
        index, call_id = piece.get("index"), piece.get("id")
        held = self._by_index.get(index) if isinstance(index, int) else None
        if held is None and not isinstance(index, int):
            known = [call for call in self._calls if call_id and call.id == call_id]
            held = known[0] if known else (self._calls[-1] if self._calls and not name else None)
        begins_anew = bool(held and name and call_id and held.id and held.id != call_id)
        if held is None or begins_anew:
            held = _Call()
            self._calls.append(held)
            if isinstance(index, int):
                self._by_index[index] = held
        return held


def _said(content: object) -> str:
    """The text of a `content`: a string, or a list of parts (Mistral)."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in objects_in(content))
