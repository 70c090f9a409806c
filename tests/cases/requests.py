"""Reading requests in any wire format: their texts, results and calls, without the runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_RUN = re.compile(r"[^\s,;()\[\]<>\"'`]+")
_ADDRESS = re.compile(r".+\.(?:jsonl(?:#\d+(?:-\d+)?)?|tsv|txt|json|png|jpeg|md)")
_LONGEST_ADDRESS_CHARS = 500
_BINARY = frozenset(("image", "document", "image_url", "input_image"))


def texts(value: Any, *, binary: bool = False) -> Iterator[str]:
    """Every text a model reads in a wire value; base64 of images and documents only on demand."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, binary=binary)
    elif isinstance(value, dict):
        if value.get("type") in _BINARY and not binary:
            source = value.get("source")
            if isinstance(source, dict) and source.get("type") == "text":
                yield str(source.get("data", ""))
            return
        for key, inner in value.items():
            if key not in (
                "type",
                "id",
                "tool_use_id",
                "tool_call_id",
                "call_id",
                "role",
                "signature",
            ):
                yield from texts(inner, binary=binary)


def text(request: Any, *, binary: bool = False) -> str:
    """All of them, joined."""
    return "\n".join(texts(request, binary=binary))


def results(request: list[dict[str, Any]], format: str) -> list[dict[str, Any]]:
    """Results in order: `id`, `text`, `is_error`, `message` (its position)."""
    found: list[dict[str, Any]] = []
    for at, message in enumerate(request):
        if format == "anthropic":
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    found.append(
                        {
                            "id": block.get("tool_use_id"),
                            "text": text(block.get("content", "")),
                            "is_error": bool(block.get("is_error")),
                            "message": at,
                        }
                    )
        elif message.get("role") == "tool" or message.get("type") == "function_call_output":
            said = text(message.get("content", message.get("output", "")))
            found.append(
                {
                    "id": message.get("tool_call_id", message.get("call_id")),
                    "text": said,
                    "is_error": said.startswith("[tool error]"),
                    "message": at,
                }
            )
    return found


def calls(request: list[dict[str, Any]], format: str) -> list[tuple[int, str]]:
    """Calls in order: the message's position and the call's id."""
    found: list[tuple[int, str]] = []
    for at, message in enumerate(request):
        if format == "anthropic":
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block.get("type") == "tool_use":
                    found.append((at, block["id"]))
        elif message.get("type") == "function_call":
            found.append((at, message["call_id"]))
        else:
            found += [(at, call["id"]) for call in message.get("tool_calls") or []]
    return found


def user_texts(request: list[dict[str, Any]]) -> list[str]:
    """The texts of user messages, results left out, in order."""
    found: list[str] = []
    for message in request:
        if message.get("role") != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            found.append(content)
            continue
        for block in content or []:
            if isinstance(block, dict) and block.get("type") in ("text", "input_text"):
                found.append(block["text"])
    return found


def addresses(text: str) -> list[str]:
    """What looks like an address in a text, each once, in order."""
    runs = (run[0].rstrip(".:") for run in _RUN.finditer(text))
    return list(
        dict.fromkeys(r for r in runs if len(r) <= _LONGEST_ADDRESS_CHARS and _ADDRESS.fullmatch(r))
    )
