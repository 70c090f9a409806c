"""What both OpenAI formats say in the same way: arguments of calls, failed results, media."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from wayfare.json_text import dumps, loads
from wayfare.messages import Media, ToolCall, WireValue

ERROR_MARK = "[tool error]"
"""Heads the text of a failed result: the OpenAI formats have no flag for it. A result that
reads so is read as failed, whoever wrote it."""


def read_arguments(arguments: str) -> Mapping[str, Any]:
    """The input that a JSON text of arguments stands for; empty if it is no JSON object."""
    try:
        value = loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def write_arguments(call: ToolCall) -> str:
    """The JSON text of the arguments: the model's own where it is known."""
    if call.arguments is not None:
        return call.arguments
    return dumps(call.input).decode("utf-8")


def marked(text: str, *, is_error: bool) -> str:
    """The text of a result, headed by `ERROR_MARK` if it failed."""
    if not is_error or text.startswith(ERROR_MARK):
        return text
    return f"{ERROR_MARK}\n{text}" if text else ERROR_MARK


def reads_as_error(content: object) -> bool:
    """Whether the content of a result is text headed by `ERROR_MARK`."""
    if isinstance(content, list) and content:
        first = cast(list[object], content)[0]
        content = cast(WireValue, first).get("text") if isinstance(first, Mapping) else first
    return isinstance(content, str) and content.startswith(ERROR_MARK)


def read_media(
    kind: Literal["image", "document"], url: object, wire: WireValue | None, media_type: str = ""
) -> Media:
    """Media behind a URL; a base64 data URL holds its content."""
    if not isinstance(url, str):
        return Media(kind=kind, media_type=media_type, wire=wire)
    if url.startswith("data:"):
        head, _, content = url[5:].partition(",")
        if head.endswith(";base64"):
            declared = head.split(";", 1)[0]
            return Media(kind=kind, media_type=declared, content=content, wire=wire)
    return Media(kind=kind, media_type=media_type, url=url, wire=wire)


def media_url(media: Media) -> str:
    """The URL under which media is sent; empty if there is nothing to send."""
    if not media.content:
        return media.url
    default = "application/pdf" if media.kind == "document" else "image/png"
    return f"data:{media.media_type or default};base64,{media.content}"
