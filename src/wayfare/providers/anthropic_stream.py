"""Puts an Anthropic reply together from its events, every block kept as it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.model import Usage, Watcher
from wayfare.providers.errors_from import Garbled
from wayfare.providers.fields import count_in

_APPENDED: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
}
"""Deltas that lengthen a field. All others replace the fields they name (a signature, the content
of a compaction block), as the SDK's own accumulation does."""


class AnthropicAssembly:
    """The reply so far.

    Attributes:
        model: name the provider gives itself.
        stop_reason: None until it is told.
        stop_details: what the provider says about a refusal.
    """

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self._blocks: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._usage: dict[str, Any] = {}
        self._begun = False
        self.model = ""
        self.stop_reason: str | None = None
        self.stop_details: Mapping[str, Any] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        match kind:
            case "message_start":
                self._begin(_mapping(event, "message"))
            case "content_block_start":
                self._start(_index(event), _mapping(event, "content_block"))
            case "content_block_delta":
                self._extend(_index(event), _mapping(event, "delta"))
            case "message_delta":
                self._conclude(_mapping(event, "delta"))
                self._count(event.get("usage"))
            case "error":
                raise Garbled("the stream reports an error", body=event, failed=True)
            case _:
                if "error" in event:  # written into the stream without a type
                    raise Garbled("the stream reports an error", body=event, failed=True)

    def take_whole(self, body: Mapping[str, Any]) -> None:
        if body.get("type") != "message" or not isinstance(body.get("content"), list):
            raise Garbled("the answer is no message", body=body, failed=True)
        self._begin(body)
        self._conclude(body)
        for index, block in enumerate(cast("list[Any]", body["content"])):
            if isinstance(block, Mapping):
                self._start(index, cast("Mapping[str, Any]", block))

    def content(self) -> list[dict[str, Any]]:
        """The blocks of the reply, inputs of calls decoded.

        Empty texts are left out, because the provider refuses to take them back. Arguments that
        are no JSON object become the input `{"arguments": text}`, which no tool takes.

        Raises:
            Garbled: the stream stopped in the middle.
        """
        if not self._begun or self.stop_reason is None:
            raise Garbled("the stream is empty or stops in the middle")
        content: list[dict[str, Any]] = []
        for index in sorted(self._blocks):
            block = self._blocks[index]
            if index in self._pieces:
                field = str(block["type"])
                block = {**block, field: "".join(self._pieces[index])}
            if block.get("type") == "text" and not str(block.get("text", "")).strip():
                continue
            if index in self._arguments:
                block = {**block, "input": self._input(index)}
            content.append(block)
        return content

    def _input(self, index: int) -> dict[str, Any]:
        text = "".join(self._arguments[index])
        if not text.strip():
            given = self._blocks[index].get("input")
            return cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        try:
            value: object = json_text.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        return {"arguments": text}  # no JSON object, or cut: what was written stays readable

    @property
    def usage(self) -> Usage:
        """What was reported so far."""
        return Usage(
            input_tokens=count_in(self._usage, "input_tokens"),
            cache_read_tokens=count_in(self._usage, "cache_read_input_tokens"),
            cache_write_tokens=count_in(self._usage, "cache_creation_input_tokens"),
            output_tokens=count_in(self._usage, "output_tokens"),
        )

    def _begin(self, message: Mapping[str, Any]) -> None:
        self._begun = True
        self.model = str(message.get("model") or "")
        self._count(message.get("usage"))

    def _count(self, usage: object) -> None:
        """Later counts are cumulative and replace; what is not told again stays."""
        if isinstance(usage, Mapping):
            told = cast("Mapping[str, Any]", usage)
            self._usage |= {key: value for key, value in told.items() if value is not None}

    def _conclude(self, message: Mapping[str, Any]) -> None:
        reason, details = message.get("stop_reason"), message.get("stop_details")
        if isinstance(reason, str):
            self.stop_reason = reason
        if isinstance(details, Mapping):
            self.stop_details = cast("Mapping[str, Any]", details)

    def _start(self, index: int, block: Mapping[str, Any]) -> None:
        self._blocks[index] = dict(block)
        kind = block.get("type")
        if kind == "tool_use":
            self._arguments[index] = []
            if self._watcher is not None:
                self._watcher.call(str(block.get("name", "")))
        elif kind in ("text", "thinking"):
            text = str(block.get(str(kind)) or "")
            self._pieces[index] = [text]
            self._tell(str(kind), text)

    def _extend(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise Garbled(f"a piece of block {index}, which never began")
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._arguments.setdefault(index, []).append(str(delta.get("partial_json") or ""))
        elif kind in _APPENDED and _APPENDED[str(kind)] == block.get("type"):
            field = _APPENDED[str(kind)]
            piece = str(delta.get(field) or "")
            self._pieces[index].append(piece)
            self._tell(field, piece)
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
        else:
            block |= {key: value for key, value in delta.items() if key != "type"}

    def _tell(self, field: str, piece: str) -> None:
        if self._watcher is None or not piece:
            return
        if field == "text":
            self._watcher.text(piece)
        else:
            self._watcher.thinking(piece)


def _mapping(event: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = event.get(key)
    if not isinstance(value, Mapping):
        raise Garbled(f"an event of type {event.get('type')} without {key}")
    return cast("Mapping[str, Any]", value)


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise Garbled(f"an event of type {event.get('type')} without index")
    return index
