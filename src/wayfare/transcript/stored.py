"""How a message stands on disk: big tool results in files of their own, the rest in the log."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.errors import NotFound, WriteFailed
from wayfare.events import Event, Watched
from wayfare.messages import (
    Block,
    Media,
    Message,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    WireValue,
)
from wayfare.store import Blobs, Ref
from wayfare.transcript.entries import BLOB, MessageEntry

_CONTENT_KEYS: Final = ("content", "output")
"""Where the three wire formats keep the content of a result."""


_HASH_CHARS: Final = 16
"""Of the 64 of a sha256: enough to notice any damage, and a quarter of the room."""


_HASH: Final = re.compile(f"[0-9a-f]{{{_HASH_CHARS},64}}")


def _content_key(wire: WireValue) -> str | None:
    return next((key for key in _CONTENT_KEYS if key in wire), None)


async def put_results(
    message: Message, blobs: Blobs, over_chars: int, watch: Watched
) -> tuple[Any, dict[int, Ref]]:
    """Write the big results of `message` to files; returns its wire value with their addresses.

    A file that cannot be written leaves its result in the log, and an event says so.
    """
    wire: Any = message.wire
    refs: dict[int, Ref] = {}
    for at, block in enumerate(message.blocks):
        if not isinstance(block, ToolResult) or block.wire is None:
            continue
        key = _content_key(block.wire)
        content: Any = block.wire[key] if key else None
        if key is None or not _is_big(content, over_chars):
            continue
        try:
            ref = await blobs.put(*_file(block, content))
        except WriteFailed as error:
            text = f"a tool result could not be archived and stays in the context: {error}"
            watch(Event(name="archive.write_failed", text=text, fields={"path": error.path}))
            continue
        # As the log will tell it: what is folded now and what is folded from the log are alike.
        refs[at] = replace(ref, sha256=ref.sha256[:_HASH_CHARS])
        wire = _replaced(wire, block.wire, key, {BLOB: _address(ref)})
    return wire, refs


def _is_big(content: Any, over_chars: int) -> bool:
    if isinstance(content, str):
        return len(content) > over_chars
    if isinstance(content, dict):
        return BLOB in content
    return isinstance(content, list) and len(json_text.dumps(content)) > over_chars


def _file(block: ToolResult, content: Any) -> tuple[str, bytes]:
    name = block.call_id or "call"
    if isinstance(content, str):
        return f"{name}.txt", content.encode("utf-8", "surrogatepass")
    picture = _only_image(block)
    if picture is not None:
        return f"{name}.{picture[0]}", picture[1]
    return f"{name}.json", json_text.dumps(content)


def _only_image(block: ToolResult) -> tuple[str, bytes] | None:
    """The bytes of a result that is one base64 image and nothing else, if they encode back."""
    if len(block.content) != 1 or not isinstance(block.content[0], Media):
        return None
    media = block.content[0]
    shape = media.wire
    kind = media.media_type
    if media.kind != "image" or shape is None or not kind.startswith("image/") or "+" in kind:
        return None
    source = shape.get("source")
    expected = {
        "type": "image",
        "source": {"type": "base64", "media_type": media.media_type, "data": media.content},
    }
    if source is None or dict(shape) != expected:
        return None
    try:
        raw = base64.b64decode(media.content, validate=True)
    except (binascii.Error, ValueError):
        return None
    if base64.b64encode(raw).decode() != media.content:
        return None
    return kind.removeprefix("image/"), raw


def _address(ref: Ref) -> dict[str, Any]:
    return {"path": ref.path, "bytes": ref.bytes, "sha256": ref.sha256[:_HASH_CHARS]}


def _replaced(value: Any, holder: WireValue, key: str, content: Any) -> Any:
    """`value` with `holder`, wherever it stands in it, holding `content` under `key`."""
    if value is holder:
        return {**holder, key: content}
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        inner: Any = mapping.get("content")
        if isinstance(inner, list):
            listed = cast("list[Any]", inner)
            found = [_replaced(v, holder, key, content) for v in listed]
            # What did not change stays the very object: the next result is found by identity.
            if any(new is not old for new, old in zip(found, listed, strict=True)):
                return {**mapping, "content": found}
        return mapping
    return value


async def get_results(
    entry: MessageEntry, blobs: Blobs
) -> tuple[Any, dict[int, Ref], tuple[str, ...]]:
    """The wire value of an entry with its files read back, their addresses by block, and the
    paths that are gone."""
    if not entry.blobs:
        return entry.wire, {}, ()
    refs: dict[int, Ref] = {}
    lost: list[str] = []

    async def resolved(value: object, at: int) -> object:
        if not isinstance(value, dict):
            return value
        mapping = cast("dict[str, Any]", value)
        key = _content_key(mapping)
        if key is None:
            return mapping
        held = mapping[key]
        if not isinstance(held, dict) or BLOB not in held:
            return mapping
        ref = _ref(cast("dict[str, Any]", held)[BLOB])
        if ref is None:
            lost.append("without an address")
            return {**mapping, key: "[an archived result without an address]"}
        refs[at] = ref
        try:
            return {**mapping, key: _content(ref, await blobs.get(ref))}
        except (NotFound, ValueError):
            lost.append(ref.path)
            return {**mapping, key: f"[the archived result {ref.path} is missing]"}

    wire = cast("dict[str, Any]", entry.wire)
    inner: Any = wire.get("content")
    if isinstance(inner, list):
        listed = cast("list[Any]", inner)
        content = [await resolved(value, at) for at, value in enumerate(listed)]
        return {**wire, "content": content}, refs, tuple(lost)
    return await resolved(wire, 0), refs, tuple(lost)


def _ref(told: object) -> Ref | None:
    """The address a log holds in place of a result; None for what is none: without a hash, any
    bytes could stand for those that were archived."""
    if not isinstance(told, dict):
        return None
    given = cast("dict[str, object]", told)
    path, size, sha256 = given.get("path"), given.get("bytes"), given.get("sha256")
    if not isinstance(path, str) or not isinstance(size, int) or not isinstance(sha256, str):
        return None
    if size < 0 or _HASH.fullmatch(sha256) is None:
        return None
    return Ref(path=path, bytes=size, sha256=sha256)


def _content(ref: Ref, raw: bytes) -> Any:
    kind = ref.path.rpartition(".")[2]
    if kind == "txt":
        return raw.decode("utf-8", "surrogatepass")
    if kind == "json":
        return json_text.loads(raw)
    data = base64.b64encode(raw).decode()
    source = {"type": "base64", "media_type": f"image/{kind}", "data": data}
    return [{"type": "image", "source": source}]


def told_origin(message: Message) -> Origin | None:
    """The origin that every codec reads from the message's own wire value; None where the texts
    have to be looked at."""
    if message.role == "assistant":
        return Origin.ASSISTANT
    if message.role in ("system", "developer"):
        return Origin.SYSTEM
    results = len(message.results)
    if results == len(message.blocks) and results:
        return Origin.TOOL
    return None if results else Origin.USER


def readable(message: Message) -> str:
    """The exact text of a message, for whoever follows an address to it.

    Texts, results and string arguments stand as they are; what is no text stands as JSON.
    """
    return "\n".join(readable_block(block) for block in message.blocks)


def readable_block(block: Block) -> str:
    """The exact text of one block, as it stands in that of its message."""
    match block:
        case Text() | Thinking():
            return block.text
        case ToolResult():
            return "\n".join(readable_block(inner) for inner in block.content)
        case ToolCall():
            if block.arguments is not None and not block.input:
                return f"{block.name} {block.arguments}"
            lines = [block.name]
            for key, value in block.input.items():
                shown = value if isinstance(value, str) else _json(value)
                lines.append(f"{key}: {shown}")
            return "\n".join(lines)
        case Media() | Opaque():
            return _json(block.wire) if block.wire is not None else _json(block)
    raise AssertionError(block)


def _json(value: Any) -> str:
    return json_text.dumps(value).decode("utf-8", "surrogatepass")
