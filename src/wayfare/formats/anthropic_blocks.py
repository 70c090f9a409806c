"""Content blocks of the Anthropic Messages format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from wayfare.formats.content import BlockReaders, read_blocks, read_text
from wayfare.messages import (
    Block,
    Media,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    WireValue,
    text_of,
)

NAME: Final = "anthropic"


def read_content(content: object) -> tuple[Block, ...]:
    """The blocks of a `content`: a string, a list, or nothing."""
    return read_blocks(content, _READERS)


def _thinking(wire: WireValue) -> Block | None:
    text = wire.get("thinking")
    signature = wire.get("signature")
    if not isinstance(text, str):
        return None
    return Thinking(text=text, signature=signature if isinstance(signature, str) else "", wire=wire)


def _redacted(wire: WireValue) -> Block | None:
    return Thinking(text="", signature=_string(wire, "data"), redacted=True, wire=wire)


def _tool_use(wire: WireValue) -> Block | None:
    call_id, name, given = wire.get("id"), wire.get("name"), wire.get("input")
    if not isinstance(call_id, str) or not isinstance(name, str):
        return None
    inputs = cast(Mapping[str, Any], given if isinstance(given, Mapping) else {})
    return ToolCall(id=call_id, name=name, input=inputs, wire=wire)


def _tool_result(wire: WireValue) -> Block | None:
    call_id, content = wire.get("tool_use_id"), wire.get("content")
    if not isinstance(call_id, str):
        return None
    return ToolResult(
        call_id=call_id,
        content=read_content(content),
        is_error=wire.get("is_error") is True,
        plain=not isinstance(content, list | tuple),
        wire=wire,
    )


def _image(wire: WireValue) -> Block | None:
    source = wire.get("source")
    if not isinstance(source, Mapping):
        return None
    given = cast(WireValue, source)
    return Media(
        kind="image",
        media_type=_string(given, "media_type"),
        content=_string(given, "data"),
        url=_string(given, "url"),
        wire=wire,
    )


def _document(wire: WireValue) -> Block | None:
    source = wire.get("source")
    if not isinstance(source, Mapping):
        return None
    given = cast(WireValue, source)
    kind = given.get("type")
    if kind == "content":
        content = text_of(read_content(given.get("content")))
    else:
        content = _string(given, "data")
    return Media(
        kind="document",
        media_type=_string(given, "media_type"),
        content=content,
        url=_string(given, "url"),
        encoded=kind not in ("text", "content"),
        wire=wire,
    )


_READERS: BlockReaders = {
    "text": read_text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "image": _image,
    "document": _document,
}


def _string(wire: WireValue, key: str) -> str:
    value = wire.get(key)
    return value if isinstance(value, str) else ""


def build_block(block: Block, *, of: str) -> dict[str, Any] | None:
    """A wire block of a block that has none in this format.

    `of` is the format of the message it stands in. Returns None for what the provider would
    refuse: blank text, thinking that it did not sign, and kinds that only exist elsewhere.
    """
    foreign = of not in ("", NAME)
    match block:
        case Text(text=text):
            return {"type": "text", "text": text} if text.strip() else None
        case Thinking(text=text, signature=signature, redacted=redacted):
            if foreign or not signature:
                return None
            if redacted:
                return {"type": "redacted_thinking", "data": signature}
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Media():
            return _build_media(block)
        case ToolCall():
            return _build_call(block)
        case ToolResult():
            return _build_result(block, of=of)
        case Opaque(text=text):
            return {"type": "text", "text": text} if foreign and text.strip() else None


def _build_call(block: ToolCall) -> dict[str, Any]:
    given = dict(block.input)
    if not given and block.arguments is not None and block.arguments.strip() not in ("", "{}"):
        # The model wrote no JSON object; what it wrote stays readable.
        given = {"arguments": block.arguments}
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}


def _build_result(block: ToolResult, *, of: str) -> dict[str, Any]:
    if block.plain and all(isinstance(inner, Text) for inner in block.content):
        content: Any = block.text
    else:
        content = [
            inner.wire if of == NAME and inner.wire is not None else build_block(inner, of=of)
            for inner in block.content
        ]
        content = [inner for inner in content if inner is not None]
    built = {"type": "tool_result", "tool_use_id": block.call_id, "content": content}
    return {**built, "is_error": True} if block.is_error else built


def _build_media(block: Media) -> dict[str, Any]:
    if block.kind == "audio":
        return {"type": "text", "text": "[audio that this model cannot hear]"}
    if not block.content and not block.url:
        return {"type": "text", "text": f"[{block.kind} that was not kept]"}
    if block.content:
        source = {
            "type": "base64" if block.encoded else "text",
            "media_type": block.media_type or _MEDIA_TYPES[block.kind, block.encoded],
            "data": block.content,
        }
    else:
        source = {"type": "url", "url": block.url}
    return {"type": block.kind, "source": source}


_MEDIA_TYPES: Mapping[tuple[str, bool], str] = {
    ("image", True): "image/png",
    ("image", False): "image/png",
    ("document", True): "application/pdf",
    ("document", False): "text/plain",
}
