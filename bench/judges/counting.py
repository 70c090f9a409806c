"""Exact token counts with the o200k vocabulary (toktok-rs), once per distinct message.

What is counted: every text leaf a model reads, tool names, tool schemas as compact JSON, and a
small fixed framing per message and per block. Call arguments count as the compact JSON that goes
over the wire. An image counts 1,600 tokens (the most an Anthropic image of standard size costs),
never the length of its base64.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import toktok

from bench.seen import Interner, Seen
from bench.wire import RESPONSES_CALLS, Format, Wire, blocks, is_array, is_object, readable_leaves

ENCODING = "o200k_base"
IMAGE_TOKENS = 1_600
# ChatML frames a message with three special tokens and its role; a block adds at most as much.
MESSAGE_TOKENS = 4
BLOCK_TOKENS = 3
REQUEST_TOKENS = 3
IMAGE_TYPES = frozenset(("image", "image_url", "input_image", "computer_screenshot"))


def text_tokens(texts: Iterable[str]) -> int:
    """Tokens of all texts together; lone surrogates count as the replacement character."""
    listed = list(texts)
    try:
        return sum(toktok.batch_count(listed, ENCODING, threads=1))
    except UnicodeEncodeError:
        clean = [text.encode("utf-8", "replace").decode() for text in listed]
        return sum(toktok.batch_count(clean, ENCODING, threads=1))


def compact(value: Any) -> str:
    """JSON as it goes over the wire: no blanks, non-ASCII as itself."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def message_tokens(message: Wire, format: Format) -> int:
    """Tokens of one message or item, framing included."""
    texts: list[str] = []
    extra = MESSAGE_TOKENS
    if format == "openai-responses" and message.get("type", "message") != "message":
        if message["type"] in RESPONSES_CALLS:
            arguments = message.get("arguments", message.get("input", message.get("action")))
            texts = [str(message.get("name", "")), compact(arguments)]
        else:
            texts, images = _readable(message)
            extra += images * IMAGE_TOKENS
        return extra + text_tokens(texts)
    for block in blocks(message):
        extra += BLOCK_TOKENS
        if is_object(block) and block.get("type") == "tool_use":
            texts += [str(block.get("name", "")), compact(block.get("input"))]
        else:
            readable, images = _readable(block)
            texts += readable
            extra += images * IMAGE_TOKENS
    for entry in message.get("tool_calls") or ():
        body: Wire = entry.get("function") or entry.get("custom") or {}
        texts += [str(body.get("name", "")), compact(body.get("arguments", body.get("input")))]
        extra += BLOCK_TOKENS
    for key in ("reasoning_content", "refusal"):
        if isinstance(message.get(key), str):
            texts.append(message[key])
    return extra + text_tokens(texts)


def _readable(block: Any) -> tuple[list[str], int]:
    """Text leaves of a block without its images, and how many images it holds."""
    if is_object(block):
        if block.get("type") in IMAGE_TYPES:
            return [], 1
        texts: list[str] = []
        images = 0
        if block.get("type") in ("document", "file", "input_file"):
            images = 1
        for key in ("content", "output"):
            if is_array(block.get(key)):
                for inner in block[key]:
                    inner_texts, inner_images = _readable(inner)
                    texts += inner_texts
                    images += inner_images
                rest = {k: v for k, v in block.items() if k != key}
                return texts + list(readable_leaves(rest)), images
        return list(readable_leaves(block)), images
    return list(readable_leaves(block)), 0


class Counter:
    """Counts requests of one session; every distinct message is counted once."""

    def __init__(self, format: Format, interner: Interner | None = None) -> None:
        self.format: Format = format
        self.interner = interner or Interner(format)
        self._fixed: dict[int, tuple[Any, Any, int]] = {}

    def tokens(self, messages: Sequence[Wire]) -> int:
        """Tokens of a list of messages."""
        return sum(self.seen_tokens(seen) for seen in self.interner.intern(messages))

    def seen_tokens(self, seen: Seen) -> int:
        """Tokens of one message that was interned before."""
        if seen.tokens is None:
            seen.tokens = message_tokens(seen.message, self.format)
        return seen.tokens

    def fixed_tokens(self, system: Any, tools: Any) -> int:
        """Tokens of what does not change from step to step: system prompt and tool schemas."""
        key = id(system) ^ (id(tools) << 1)
        held = self._fixed.get(key)
        if held is None or held[0] is not system or held[1] is not tools:
            texts = list(readable_leaves(system or ()))
            texts += [compact(tool) for tool in tools or ()]
            held = (system, tools, REQUEST_TOKENS + text_tokens(texts))
            self._fixed[key] = held
        return held[2]

    def request_tokens(self, request: dict[str, Any]) -> int:
        """Tokens of a whole request `{"system":…, "tools":…, "messages":[…]}` (or `input`)."""
        messages: list[Wire] = request.get("messages", request.get("input")) or []
        return self.fixed_tokens(request.get("system"), request.get("tools")) + self.tokens(
            messages
        )
