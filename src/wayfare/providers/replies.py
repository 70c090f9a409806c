"""Telling a reply from a failure, and what a reply says about its end and its size.

Knows the shapes of OpenAI chat and Responses, Anthropic Messages, Gemini, Bedrock Converse, Cohere
and Ollama, whole or as stream events. The words of a reply are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

Fields = Mapping[str, object]
"""A decoded JSON object."""

MAX_DEPTH = 8
"""Levels searched for usage; Responses events carry it at the third."""

_STOP_FIELDS = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason")
_REPLY_FIELDS = (
    *("choices", "candidates", "generated_text", "completion", "output_text", "usage"),
    *("output", "done", *_STOP_FIELDS),
)
_SENT_FIELDS = ("prompt_tokens", "promptTokenCount", "prompt_eval_count", "inputTokens")
_MADE_FIELDS = (
    *("completion_tokens", "candidatesTokenCount", "eval_count", "output_tokens"),
    "outputTokens",
)


def is_failure(item: object) -> bool:
    """Whether one decoded object or event reports a failure."""
    if not isinstance(item, Mapping):
        return False
    fields = {str(key).lower(): value for key, value in cast("Fields", item).items()}
    if any(fields.get(key) for key in ("error", "errors", "errormessage", "errortype", "__type")):
        return True
    kind = str(fields.get("type", "")).lower()
    if kind in ("error", "response.failed", "response.error", "exception"):
        return True
    if fields.get("object") == "error" or fields.get("success") is False:
        return True
    base = fields.get("base_resp")  # MiniMax: HTTP 200 with a status of its own
    if isinstance(base, Mapping) and cast("Fields", base).get("status_code") not in (0, "0", None):
        return True
    response = fields.get("response")
    if isinstance(response, Mapping) and cast("Fields", response).get("error"):
        return True
    if any(choice.get("error") for choice in objects_in(fields.get("choices"))):
        return True
    if is_reply(cast("Fields", item)):
        return False
    has_reason = any(isinstance(fields.get(key), str) for key in ("message", "msg", "detail"))
    return has_reason and ("code" in fields or "detail" in fields or "type" in fields)


def is_reply(item: object) -> bool:
    """Whether one decoded object or event is a reply or a part of one."""
    if not isinstance(item, Mapping):
        return False
    fields = cast("Fields", item)
    if any(name in fields for name in _REPLY_FIELDS) or fields.get("type") == "message":
        return True
    return str(fields.get("type", "")).startswith(("response.", "content_block", "message_"))


def stop_reason_of(reply: Fields) -> str | None:
    """The stop reason of a reply, whole or of its last event."""
    nested = reply.get("response")
    holders: list[Fields] = [reply]
    if isinstance(nested, Mapping):
        holders.append(cast("Fields", nested))
    for holder in holders:
        incomplete = holder.get("incomplete_details")
        if isinstance(incomplete, Mapping):
            reason = cast("Fields", incomplete).get("reason")
            if isinstance(reason, str):
                return reason
    delta = reply.get("delta")
    if isinstance(delta, Mapping):
        holders.append(cast("Fields", delta))
    holders.extend(objects_in(reply.get("choices")))
    holders.extend(objects_in(reply.get("candidates")))
    for holder in holders:
        for name in _STOP_FIELDS:
            value = holder.get(name)
            if isinstance(value, str) and value:
                return value
    return None


def usage_of(reply: Fields) -> tuple[int | None, int | None]:
    """Input tokens (cache reads and writes included) and output tokens, None where not told.

    A stream tells them in several events: the largest of each counts.
    """
    sent_counts: list[int] = []
    made_counts: list[int] = []
    for fields in _walk(reply):
        sent = _count(fields, *_SENT_FIELDS)
        apart = _count(fields, "input_tokens")
        if sent is None and apart is not None:
            sent = apart + sum(
                _count(fields, name) or 0
                for name in ("cache_read_input_tokens", "cache_creation_input_tokens")
            )
        made, thought = _count(fields, *_MADE_FIELDS), _count(fields, "thoughtsTokenCount")
        if sent is not None:
            sent_counts.append(sent)
        if made is not None or thought is not None:
            made_counts.append((made or 0) + (thought or 0))
    return max(sent_counts, default=None), max(made_counts, default=None)


def _count(fields: Fields, *names: str) -> int | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def objects_in(value: object) -> list[Fields]:
    """The objects of an array, nothing for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return []
    items = cast("Sequence[object]", value)
    return [cast("Fields", item) for item in items if isinstance(item, Mapping)]


def _walk(item: object, depth: int = 0) -> Iterator[Fields]:
    if depth > MAX_DEPTH:
        return
    if isinstance(item, Mapping):
        fields = cast("Fields", item)
        yield fields
        for value in fields.values():
            yield from _walk(value, depth + 1)
    elif isinstance(item, Sequence) and not isinstance(item, (str, bytes)):
        for value in cast("Sequence[object]", item):
            yield from _walk(value, depth + 1)
