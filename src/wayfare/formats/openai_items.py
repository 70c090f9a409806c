"""Items of the OpenAI Responses format that are no plain message, and the parts of contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from wayfare.formats.content import BlockReaders, read_block, read_blocks, read_text
from wayfare.formats.found_text import found_text
from wayfare.formats.openai_calls import (
    marked,
    media_url,
    read_arguments,
    read_media,
    reads_as_error,
    write_arguments,
)
from wayfare.messages import (
    Block,
    Media,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    WireValue,
)

NAME: Final = "openai-responses"

_CALL_INPUT: Final = ("action", "operation", "arguments")
"""Where the built-in tools that the client runs (shell, patch, computer) keep their input."""


def read_content(content: object) -> tuple[Block, ...]:
    """The blocks of a `content` or `output`: a string, a list of parts, one part, or nothing."""
    if isinstance(content, Mapping):
        return (read_block(cast(WireValue, content), _READERS),)
    return read_blocks(content, _READERS)


def _image(wire: WireValue) -> Block | None:
    return read_media("image", wire.get("image_url"), wire)


def _file(wire: WireValue) -> Block | None:
    content = wire.get("file_data")
    if isinstance(content, str) and not content.startswith("data:"):
        return Media(kind="document", content=content, wire=wire)
    return read_media("document", content or wire.get("file_url"), wire)


_READERS: BlockReaders = {
    "input_text": read_text,
    "output_text": read_text,
    "text": read_text,
    "input_image": _image,
    "computer_screenshot": _image,
    "input_file": _file,
}


def read_item(wire: WireValue) -> Block:
    """The one block of an item that is no message."""
    kind, call_id = wire.get("type"), wire.get("call_id")
    if not isinstance(kind, str):
        return Opaque(kind=str(kind), text=found_text(wire), wire=wire)
    if kind == "reasoning":
        return _reasoning(wire)
    if kind.endswith("_call_output"):
        call_id = call_id if isinstance(call_id, str) else wire.get("id")
        if isinstance(call_id, str):
            return _output(wire, call_id)
    elif kind.endswith("_call") and isinstance(call_id, str):
        return _call(wire, kind, call_id)
    return Opaque(kind=kind, text=found_text(wire), wire=wire)


def _reasoning(wire: WireValue) -> Thinking:
    """Bound, as `Thinking` calls it, to the item behind it: by encrypted content, or by id."""
    text = found_text([wire.get("summary"), wire.get("content")])
    bond = wire.get("encrypted_content") or wire.get("id")
    return Thinking(text=text, signature=bond if isinstance(bond, str) else "", wire=wire)


def _call(wire: WireValue, kind: str, call_id: str) -> ToolCall:
    name, arguments = wire.get("name"), wire.get("arguments")
    named = name if isinstance(name, str) else kind.removesuffix("_call")
    if kind == "custom_tool_call":
        given: Mapping[str, Any] = {"input": wire.get("input")}
        return ToolCall(id=call_id, name=named, input=given, wire=wire)
    if isinstance(arguments, str):
        given = read_arguments(arguments)
        return ToolCall(id=call_id, name=named, input=given, arguments=arguments, wire=wire)
    value = wire.get(_input_key(wire))
    given = cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
    return ToolCall(id=call_id, name=named, input=given, wire=wire)


def _input_key(wire: WireValue) -> str:
    return next((key for key in _CALL_INPUT if isinstance(wire.get(key), Mapping)), "arguments")


def _output(wire: WireValue, call_id: str) -> ToolResult:
    output = wire.get("output")
    return ToolResult(
        call_id=call_id,
        content=read_content(output),
        is_error=wire.get("status") == "failed" or reads_as_error(output),
        plain=output is None or isinstance(output, str),
        wire=wire,
    )


def write_parts(blocks: Iterable[Block], *, of: str, spoken: bool) -> list[dict[str, Any]]:
    """The parts of a message, or of an output; `spoken` by the model or put before it."""
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if of == NAME and block.wire is not None:
            parts.append(cast(dict[str, Any], block.wire))
        elif isinstance(block, Media):
            parts.append(_media_part(block, spoken=spoken))
        elif isinstance(block, Opaque) and spoken:
            if block.kind == "refusal" and block.text:
                parts.append({"type": "refusal", "refusal": block.text})
        elif isinstance(block, Text | Opaque) and block.text:
            parts.append(_text_part(block.text, spoken=spoken))
    return parts


def _text_part(text: str, *, spoken: bool) -> dict[str, Any]:
    return {"type": "output_text" if spoken else "input_text", "text": text}


def _media_part(media: Media, *, spoken: bool) -> dict[str, Any]:
    if not media.encoded and media.content:
        return _text_part(media.content, spoken=spoken)
    url = media_url(media)
    if not url or spoken or media.kind == "audio":
        return _text_part(f"[{media.kind}: {media.url or 'not available'}]", spoken=spoken)
    if media.kind == "image":
        return {"type": "input_image", "detail": "auto", "image_url": url}
    if media.content:
        ending = media.media_type.rpartition("/")[2] or "pdf"
        return {"type": "input_file", "filename": f"document.{ending}", "file_data": url}
    return {"type": "input_file", "file_url": url}


def write_call(call: ToolCall, call_id: str, was: WireValue | None) -> dict[str, Any]:
    """A call; `was` is the item whose place it takes, if any: its kind and other keys stay."""
    if was is None:
        return {
            "type": "function_call",
            "call_id": call_id,
            "name": call.name,
            "arguments": write_arguments(call),
        }
    if was.get("type") == "custom_tool_call":
        text = call.input.get("input")
        return {**was, "input": text if isinstance(text, str) else write_arguments(call)}
    if isinstance(was.get("arguments"), str):
        return {**was, "name": call.name, "arguments": write_arguments(call)}
    return {**was, _input_key(was): dict(call.input)}


def write_output(
    result: ToolResult, call_id: str, was: WireValue | None, *, of: str
) -> dict[str, Any]:
    """A result; `was` is the item whose place it takes, if any."""
    item = was or {"type": "function_call_output", "call_id": call_id}
    if item.get("type") == "shell_call_output":
        return {**item, "output": _shell_output(result, item)}
    if result.plain and all(isinstance(inner, Text) for inner in result.content):
        return {**item, "output": marked(result.text, is_error=result.is_error)}
    parts: list[dict[str, Any]] = []
    for inner in result.content:
        parts += write_parts((inner,), of=of, spoken=False) or (
            [_text_part(f"[{inner.kind}: not available]", spoken=False)]
            if isinstance(inner, Opaque)
            else []
        )
    if result.is_error and not reads_as_error(parts):
        parts.insert(0, _text_part(marked("", is_error=True), spoken=False))
    return {**item, "output": parts}


def _shell_output(result: ToolResult, item: WireValue) -> list[dict[str, Any]]:
    """The text as what one command printed; how the first one ended stays."""
    old = item.get("output")
    first = cast(list[object], old)[0] if isinstance(old, list) and old else None
    ended: Any = cast(WireValue, first).get("outcome") if isinstance(first, Mapping) else None
    ended = ended or {"type": "exit", "exit_code": int(result.is_error)}
    return [{"stdout": result.text, "stderr": "", "outcome": ended}]
