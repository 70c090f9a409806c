"""Puts a reply of the OpenAI Responses endpoint together from its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from wayfare.model import Usage, Watcher
from wayfare.providers.errors_from import Garbled
from wayfare.providers.fields import count_in, fields_in, objects_in

_TEXT: Final = frozenset({"response.output_text.delta"})
_THINKING: Final = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
)
_ENDS: Final = frozenset({"response.completed", "response.incomplete"})
_CALLS: Final = frozenset({"function_call", "custom_tool_call"})


class ResponsesAssembly:
    """The reply so far.

    Attributes:
        status: of the whole response, e.g. `completed`, `incomplete`.
        reason: why it is incomplete.
    """

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self._items: list[dict[str, Any]] = []
        self._reported: Mapping[str, Any] = {}
        self.status = ""
        self.reason = ""
        self.model = ""

    def take(self, event: Mapping[str, Any]) -> None:
        kind = str(event.get("type") or "")
        if kind in ("error", "response.failed", "response.error") or event.get("error"):
            raise Garbled("the stream reports an error", body=_failure(event), failed=True)
        if kind in _TEXT:
            self._tell_text(str(event.get("delta") or ""))
        elif kind in _THINKING and self._watcher is not None:
            self._watcher.thinking(str(event.get("delta") or ""))
        elif kind == "response.output_item.added":
            item = fields_in(event.get("item"))
            if item.get("type") in _CALLS and self._watcher is not None:
                self._watcher.call(str(item.get("name") or ""))
        elif kind == "response.output_item.done":
            self._items.append(dict(fields_in(event.get("item"))))
        elif kind in _ENDS:
            self._end(fields_in(event.get("response")))

    def take_whole(self, body: Mapping[str, Any]) -> None:
        if body.get("error") or not isinstance(body.get("output"), list):
            raise Garbled("the answer is no response", body=_failure(body), failed=True)
        self._end(body)
        for item in self._items:
            for part in objects_in(item.get("content")):
                if part.get("type") == "output_text":
                    self._tell_text(str(part.get("text") or ""))

    def output(self) -> list[dict[str, Any]]:
        """The items of the reply, as they came.

        Raises:
            Garbled: the stream stopped in the middle.
        """
        if not self.status:
            raise Garbled("the stream is empty or stops in the middle")
        return self._items

    @property
    def usage(self) -> Usage:
        """What was reported; cached tokens are a part of the input tokens in this format."""
        details = fields_in(self._reported.get("input_tokens_details"))
        sent = count_in(self._reported, "input_tokens")
        read = min(count_in(details, "cached_tokens"), sent)
        written = min(count_in(details, "cache_write_tokens"), sent - read)
        return Usage(
            input_tokens=sent - read - written,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=count_in(self._reported, "output_tokens"),
        )

    def _end(self, response: Mapping[str, Any]) -> None:
        if response.get("error"):
            raise Garbled("the response failed", body=_failure(response), failed=True)
        self.status = str(response.get("status") or "completed")
        self.reason = str(fields_in(response.get("incomplete_details")).get("reason") or "")
        self.model = str(response.get("model") or "")
        self._reported = fields_in(response.get("usage"))
        if output := objects_in(response.get("output")):
            self._items = [dict(item) for item in output]

    def _tell_text(self, piece: str) -> None:
        if self._watcher is not None and piece:
            self._watcher.text(piece)


def _failure(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a failure that says why, without the echo of the request around it."""
    response = fields_in(event.get("response"))
    return {"error": error} if (error := response.get("error") or event.get("error")) else event
