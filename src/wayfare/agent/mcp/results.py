"""What an MCP tool answered, as a tool's output."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from wayfare import json_text
from wayfare.agent.builtin.results_folder import keep
from wayfare.agent.tools import ToolContext, ToolOutput
from wayfare.messages import Block, Media, Text

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

_SHOWN_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every provider that takes pictures takes."""


def output_of(result: CallToolResult, context: ToolContext) -> ToolOutput:
    """Texts and pictures in their order; what no model reads is kept as a file and named."""
    blocks = list(_blocks(result.content, context))
    if not blocks and result.structured_content is not None:
        blocks = [Text(text=_json(result.structured_content))]
    first_other = next((at for at, b in enumerate(blocks) if not isinstance(b, Text)), len(blocks))
    texts = [b.text for b in blocks[:first_other] if isinstance(b, Text)]
    return ToolOutput(
        text="\n".join(texts), is_error=result.is_error, blocks=tuple(blocks[first_other:])
    )


def _blocks(content: Iterable[ContentBlock], context: ToolContext) -> Iterator[Block]:
    for block in content:
        match block.type:
            case "text":
                yield Text(text=block.text)
            case "image" | "audio":
                yield _media(block.mime_type, block.data, context)
            case "resource":
                yield _resource(block.resource, context)
            case "resource_link":
                kind = f", {block.mime_type}" if block.mime_type else ""
                said = f": {block.description}" if block.description else ""
                yield Text(text=f"[resource {block.name}{kind} at {block.uri}{said}]")


def _resource(resource: Any, context: ToolContext) -> Block:
    text = getattr(resource, "text", None)
    if text is not None:
        return Text(text=f"[resource {resource.uri}]\n{text}")
    return _media(resource.mime_type or "application/octet-stream", resource.blob, context)


def _media(media_type: str, data: str, context: ToolContext) -> Block:
    if media_type in _SHOWN_IMAGES:
        return Media(kind="image", media_type=media_type, content=data)
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text(text=f"[{media_type}: its data is no base64 and was left out]")
    ending = mimetypes.guess_extension(media_type) or ".bin"
    try:
        where = keep(context, "mcp", ending, content)
    except OSError as error:
        return Text(text=f"[{media_type}, {len(content):,} bytes, could not be kept: {error}]")
    return Text(text=f"[{media_type}, {len(content):,} bytes: {where}]")


def _json(value: Any) -> str:
    return json_text.dumps(value).decode("utf-8", "replace")
