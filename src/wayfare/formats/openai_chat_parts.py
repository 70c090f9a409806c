"""Content parts of the OpenAI chat format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from wayfare.formats.content import BlockReaders, read_blocks, read_text
from wayfare.formats.openai_calls import marked, media_url, read_media
from wayfare.messages import Block, Media, Opaque, Text, ToolResult, WireValue

NAME: Final = "openai-chat"


def read_content(content: object) -> tuple[Block, ...]:
    """The blocks of a `content`: a string, a list of parts, or nothing."""
    return read_blocks(content, _READERS)


def _image(wire: WireValue) -> Block | None:
    given = wire.get("image_url")
    url = cast(WireValue, given).get("url") if isinstance(given, Mapping) else given
    return read_media("image", url, wire)


def _audio(wire: WireValue) -> Block | None:
    given = wire.get("input_audio")
    if not isinstance(given, Mapping):
        return None
    audio = cast(WireValue, given)
    content, form = audio.get("data"), audio.get("format")
    return Media(
        kind="audio",
        media_type=f"audio/{form}" if isinstance(form, str) else "",
        content=content if isinstance(content, str) else "",
        wire=wire,
    )


def _file(wire: WireValue) -> Block | None:
    given = wire.get("file")
    if not isinstance(given, Mapping):
        return None
    content = cast(WireValue, given).get("file_data")
    if isinstance(content, str) and not content.startswith("data:"):
        return Media(kind="document", content=content, wire=wire)
    return read_media("document", content, wire)


_READERS: BlockReaders = {
    "text": read_text,
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
}


def write_parts(blocks: Iterable[Block], *, of: str) -> list[dict[str, Any]]:
    """The parts of a user message; `of` is the format of the message the blocks stand in."""
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if of == NAME and block.wire is not None:
            parts.append(cast(dict[str, Any], block.wire))
        elif isinstance(block, Media):
            parts.append(_media_part(block))
        elif isinstance(block, Text | Opaque) and block.text:
            parts.append(_text_part(block.text))
    return parts


def write_content(blocks: Iterable[Block], *, of: str, as_list: bool) -> str | list[dict[str, Any]]:
    """The content of a message: a string if a single bare text is all there is."""
    parts = write_parts(blocks, of=of)
    if not parts:
        return [] if as_list else ""
    if len(parts) == 1 and not as_list and parts[0].keys() == {"type", "text"}:
        return cast(str, parts[0]["text"])
    return parts


def write_result(block: ToolResult, call_id: str) -> tuple[str, list[dict[str, Any]]]:
    """The text of a result for a tool message, and the parts that only a user message can hold.

    In the text each of these is named where it stood, in the parts each is introduced by the
    call it answers.
    """
    texts: list[str] = []
    parts: list[dict[str, Any]] = []
    for inner in block.content:
        if isinstance(inner, Media):
            if not inner.encoded and inner.content:
                texts.append(inner.content)
            elif media_url(inner):
                texts.append(f"[{inner.kind}: in the next user message]")
                parts.append(_text_part(f"[{inner.kind} from the result of call {call_id}]"))
                parts.append(_media_part(inner))
            else:
                texts.append(f"[{inner.kind}: not available]")
        elif isinstance(inner, Text):
            texts.append(inner.text)
        elif isinstance(inner, Opaque):
            texts.append(inner.text or f"[{inner.kind}: not available]")
    return marked("\n".join(texts), is_error=block.is_error), parts


def _media_part(media: Media) -> dict[str, Any]:
    if not media.encoded and media.content:
        return _text_part(media.content)
    if media.kind == "audio" and media.content:
        form = media.media_type.rpartition("/")[2] or "wav"
        return {"type": "input_audio", "input_audio": {"data": media.content, "format": form}}
    url = media_url(media)
    if media.kind == "image" and url:
        return {"type": "image_url", "image_url": {"url": url}}
    if media.content:
        ending = media.media_type.rpartition("/")[2] or "pdf"
        return {"type": "file", "file": {"filename": f"document.{ending}", "file_data": url}}
    return _text_part(f"[{media.kind}: {url or 'not available'}]")


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
