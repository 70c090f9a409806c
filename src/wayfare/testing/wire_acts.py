"""Acts as the three wire formats tell them: event streams and refusals of real providers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from wayfare.testing.acts import (
    LIMIT_TOKENS,
    RETRY_AFTER_SECONDS,
    ROOM_TOKENS,
    SENT_TOKENS,
    Act,
    Breaks,
    CannotStage,
    Fails,
    Says,
    Stalls,
)
from wayfare.testing.wire_server import Answered

Dialect: TypeAlias = Callable[[Act], Answered]

_FITS = LIMIT_TOKENS - ROOM_TOKENS
_ASKED_OUTPUT = 2 * ROOM_TOKENS
_PIECE_CHARS = 7


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS)]


def _event(data: Mapping[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


# Anthropic Messages


def anthropic_answer(act: Act) -> Answered:
    """An act as the Anthropic Messages API tells it."""
    match act:
        case Says():
            return Answered(events=tuple(anthropic_events(act)))
        case Stalls(text=text) | Breaks(text=text):
            events = tuple(anthropic_events(Says(text=text)))[:-3]
            return Answered(events=events, ending="stall" if isinstance(act, Stalls) else "break")
        case Fails(failure=failure):
            return _anthropic_failure(failure)
        case _:
            raise CannotStage(str(act))


def anthropic_events(act: Says) -> Iterable[bytes]:
    """The events of a reply."""
    usage = {
        "input_tokens": act.usage.input_tokens,
        "cache_read_input_tokens": act.usage.cache_read_tokens,
        "cache_creation_input_tokens": act.usage.cache_write_tokens,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _anthropic({"type": "message_start", "message": message})
    yield _anthropic({"type": "ping"})
    for index, (block, deltas) in enumerate(_anthropic_blocks(act)):
        yield _anthropic({"type": "content_block_start", "index": index, "content_block": block})
        for delta in deltas:
            yield _anthropic({"type": "content_block_delta", "index": index, "delta": delta})
        yield _anthropic({"type": "content_block_stop", "index": index})
    reason = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens"}
    stop = {"stop_reason": reason.get(act.stop, "refusal"), "stop_sequence": None}
    spent = {"output_tokens": act.usage.output_tokens}
    yield _anthropic({"type": "message_delta", "delta": stop, "usage": spent})
    yield _anthropic({"type": "message_stop"})


def _anthropic(data: Mapping[str, Any]) -> bytes:
    return _event(data, str(data["type"]))


def _anthropic_blocks(act: Says) -> Iterable[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if act.thinking:
        pieces = [{"type": "thinking_delta", "thinking": p} for p in _pieces(act.thinking)]
        signed = {"type": "signature_delta", "signature": act.signature}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*pieces, signed]
    if act.text:
        pieces = [{"type": "text_delta", "text": p} for p in _pieces(act.text)]
        yield {"type": "text", "text": ""}, pieces
    for call in act.calls:
        text = json.dumps(dict(call.input)) if call.input else ""
        pieces = [{"type": "input_json_delta", "partial_json": p} for p in ("", *_pieces(text))]
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, pieces


def _anthropic_failure(failure: str) -> Answered:
    def error(kind: str, text: str) -> dict[str, Any]:
        return {
            "type": "error",
            "error": {"type": kind, "message": text},
            "request_id": "req_in_body",
        }

    def late(kind: str, text: str) -> Answered:
        begun = list(anthropic_events(Says(text="so far")))[:4]
        return Answered(events=(*begun, _anthropic(error(kind, text))))

    overflow = f"prompt is too long: {SENT_TOKENS} tokens > {LIMIT_TOKENS} maximum"
    output = (
        f"input length and `max_tokens` exceed context limit: {_FITS} + {_ASKED_OUTPUT} > "
        f"{LIMIT_TOKENS}, decrease input length or `max_tokens` and try again"
    )
    orphan = (
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: c1."
    )
    invalid = "invalid_request_error"
    match failure:
        case "overflow":
            return Answered(status=400, body=error(invalid, overflow))
        case "overflow_in_stream":
            return late(invalid, overflow)
        case "output_too_large":
            return Answered(status=400, body=error(invalid, output))
        case "rate_limited":
            body = error("rate_limit_error", "This request would exceed your rate limit.")
            return Answered(status=429, body=body, headers=_retry_after())
        case "overloaded":
            return Answered(status=529, body=error("overloaded_error", "Overloaded"))
        case "overloaded_in_stream":
            return late("overloaded_error", "Overloaded")
        case "server_error":
            return Answered(status=500, body=error("api_error", "Internal server error"))
        case "auth":
            return Answered(status=401, body=error("authentication_error", "invalid x-api-key"))
        case "unknown_model":
            return Answered(status=404, body=error("not_found_error", "model: claude-nope"))
        case "broken_rule":
            return Answered(status=400, body=error(invalid, orphan))
        case "empty":
            return Answered(events=tuple(anthropic_events(Says())))
        case _:
            return _unreadable(failure)


# OpenAI, both endpoints


def chat_answer(act: Act) -> Answered:
    """An act as a chat completions endpoint tells it."""
    match act:
        case Says():
            return Answered(events=tuple(chat_events(act)))
        case Stalls(text=text) | Breaks(text=text):
            events = tuple(chat_events(Says(text=text)))[:-3]
            return Answered(events=events, ending="stall" if isinstance(act, Stalls) else "break")
        case Fails(failure=failure):
            begun = list(chat_events(Says(text="so far")))[:2]
            return _openai_failure(failure, begun, tuple(chat_events(Says())), _chat_error)
        case _:
            raise CannotStage(str(act))


def _chat_error(error: Mapping[str, Any]) -> bytes:
    return _event({"error": error})


def chat_events(act: Says) -> Iterable[bytes]:
    """The chunks of a reply."""

    def chunk(delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "test",
                "choices": [choice],
                **more,
            }
        )

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(act.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(act.text):
        yield chunk({"content": piece})
    for index, call in enumerate(act.calls):
        first = {"name": call.name, "arguments": ""}
        begun = {"index": index, "id": call.id, "type": "function", "function": first}
        yield chunk({"tool_calls": [begun]})
        for piece in _pieces(json.dumps(dict(call.input)) if call.input else ""):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    reason = {"end": "stop", "tools": "tool_calls", "length": "length"}
    yield chunk({}, reason.get(act.stop, "content_filter"))
    usage = {
        "prompt_tokens": act.usage.prompt_tokens,
        "completion_tokens": act.usage.output_tokens,
        "total_tokens": act.usage.total_tokens,
        "prompt_tokens_details": {
            "cached_tokens": act.usage.cache_read_tokens,
            "cache_write_tokens": act.usage.cache_write_tokens,
        },
    }
    yield _event({"id": "chatcmpl-1", "model": "test", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def responses_answer(act: Act) -> Answered:
    """An act as a Responses endpoint tells it."""
    match act:
        case Says():
            return Answered(events=tuple(responses_events(act)))
        case Stalls(text=text) | Breaks(text=text):
            events = tuple(responses_events(Says(text=text)))[:-2]
            return Answered(events=events, ending="stall" if isinstance(act, Stalls) else "break")
        case Fails(failure=failure):
            begun = list(responses_events(Says(text="so far")))[:3]
            empty = tuple(responses_events(Says()))
            return _openai_failure(failure, begun, empty, _responses_error)
        case _:
            raise CannotStage(str(act))


def _responses_error(error: Mapping[str, Any]) -> bytes:
    response = {"id": "resp_1", "object": "response", "status": "failed", "error": error}
    return _event({"type": "response.failed", "response": response}, "response.failed")


def responses_events(act: Says) -> Iterable[bytes]:
    """The events of a reply."""

    def event(kind: str, **more: Any) -> bytes:
        return _event({"type": kind, **more}, kind)

    started = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "test"}
    yield event("response.created", response={**started, "output": []})
    items: list[dict[str, Any]] = []
    for index, item in enumerate(responses_items(act)):
        shown = {key: value for key, value in item.items() if key not in ("content", "arguments")}
        yield event("response.output_item.added", output_index=index, item=shown)
        if item["type"] == "message":
            for piece in _pieces(act.text):
                yield event("response.output_text.delta", output_index=index, delta=piece)
        elif item["type"] == "reasoning":
            for piece in _pieces(act.thinking):
                yield event("response.reasoning_summary_text.delta", delta=piece)
        yield event("response.output_item.done", output_index=index, item=item)
        items.append(item)
    reasons = {"length": "max_output_tokens", "refused": "content_filter"}
    reason = reasons.get(act.stop)
    usage = {
        "input_tokens": act.usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": act.usage.cache_read_tokens,
            "cache_write_tokens": act.usage.cache_write_tokens,
        },
        "output_tokens": act.usage.output_tokens,
        "total_tokens": act.usage.total_tokens,
    }
    kind = "response.incomplete" if reason else "response.completed"
    ended = {
        **started,
        "status": kind.removeprefix("response."),
        "incomplete_details": {"reason": reason} if reason else None,
        "output": items,
        "usage": usage,
    }
    yield event(kind, response=ended)


def responses_items(act: Says) -> Iterable[dict[str, Any]]:
    """The items of a reply."""
    if act.thinking:
        summary = [{"type": "summary_text", "text": act.thinking}]
        sealed = {"encrypted_content": act.signature, "summary": summary}
        yield {"type": "reasoning", "id": "rs_1", **sealed}
    if act.text:
        part: dict[str, Any] = {"type": "output_text", "text": act.text, "annotations": []}
        said = {"role": "assistant", "status": "completed", "content": [part]}
        yield {"type": "message", "id": "msg_1", **said}
    for number, call in enumerate(act.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(dict(call.input)),
            "status": "completed",
        }


def _openai_failure(
    failure: str,
    begun: list[bytes],
    empty: tuple[bytes, ...],
    late: Callable[[Mapping[str, Any]], bytes],
) -> Answered:
    def error(kind: str, text: str, code: str | None = None) -> dict[str, Any]:
        return {"message": text, "type": kind, "param": None, "code": code}

    invalid = "invalid_request_error"
    window = f"This model's maximum context length is {LIMIT_TOKENS} tokens."
    overflow = error(
        invalid,
        f"{window} However, your messages resulted in {SENT_TOKENS} tokens. "
        "Please reduce the length of the messages.",
        "context_length_exceeded",
    )
    output = (
        f"{window} However, you requested {_FITS + _ASKED_OUTPUT} tokens ({_FITS} in the messages, "
        f"{_ASKED_OUTPUT} in the completion). Please reduce the length of the messages or completion."
    )
    orphan = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: c1"
    )
    unknown = "The model `gpt-nope` does not exist or you do not have access to it."
    busy = error("server_error", "The server is currently overloaded with other requests.")
    match failure:
        case "overflow":
            return Answered(status=400, body={"error": overflow})
        case "overflow_in_stream":
            return Answered(events=(*begun, late(overflow)))
        case "output_too_large":
            body = {"error": error(invalid, output, "context_length_exceeded")}
            return Answered(status=400, body=body)
        case "rate_limited":
            told = error("requests", "Rate limit reached for requests", "rate_limit_exceeded")
            return Answered(status=429, body={"error": told}, headers=_retry_after())
        case "overloaded":
            return Answered(status=503, body={"error": busy})
        case "overloaded_in_stream":
            return Answered(events=(*begun, late(busy)))
        case "server_error":
            told = error("server_error", "The server had an error while processing your request.")
            return Answered(status=500, body={"error": told})
        case "auth":
            told = error(invalid, "Incorrect API key provided: sk-no.", "invalid_api_key")
            return Answered(status=401, body={"error": told})
        case "unknown_model":
            return Answered(status=404, body={"error": error(invalid, unknown, "model_not_found")})
        case "broken_rule":
            return Answered(status=400, body={"error": error(invalid, orphan)})
        case "empty":
            return Answered(events=empty)
        case _:
            return _unreadable(failure)


def _retry_after() -> dict[str, str]:
    return {"retry-after": f"{RETRY_AFTER_SECONDS:g}"}


def _unreadable(failure: str) -> Answered:
    match failure:
        case "garbage":
            return Answered(events=(b"event: message_start\ndata: {not json\n\n", b"\x00\xff\xfe"))
        case "html":
            page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
            return Answered(status=502, body=page, headers={"content-type": "text/html"})
        case "nothing":
            return Answered(events=(b"",))
        case _:
            raise CannotStage(failure)
