"""The replay's provider: counts exactly, refuses what does not fit, keeps a prefix cache.

It counts with the o200k vocabulary (toktok-rs), which the runtime never uses, so that what the
runtime believes about sizes is judged and not repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from wayfare import json_text
from wayfare.model import Prices, Usage

_MESSAGE_TOKENS: Final = 4
_IMAGE_TOKENS: Final = 1_600
_LEAST_CACHED_TOKENS: Final = 1_024
"""Shortest prefix a provider caches (Anthropic's prompt caching documentation)."""
_NOT_TEXT: Final = frozenset(
    ("type", "id", "tool_use_id", "tool_call_id", "call_id", "role", "signature", "cache_control",
     "media_type", "status", "encrypted_content", "phase")
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The request did not fit."""

    sent_tokens: int
    window_tokens: int


class SimulatedProvider:
    """Answers every request with its usage, or refuses it.

    Args:
        window_tokens: Request and reserve together may take so much.
        reserve_tokens: What the reply may take.
        cache_seconds: How long a cached prefix lives unused.
        prices: What tokens cost, as ratios to input.
    """

    def __init__(
        self,
        *,
        window_tokens: int,
        reserve_tokens: int,
        cache_seconds: float = 300.0,
        prices: Prices | None = None,
    ) -> None:
        self.window_tokens = window_tokens
        self.reserve_tokens = reserve_tokens
        self.prices = prices or Prices()
        self._cache_seconds = cache_seconds
        self._counts: dict[bytes, int] = {}
        self._known: dict[int, tuple[object, bytes, int]] = {}
        self._cached: list[bytes] = []
        self._at: float | None = None
        self._grown = 0

    def send(
        self, messages: Sequence[Mapping[str, Any]], fixed: str, output_tokens: int, now: float
    ) -> Usage | Refused:
        """Take one request: wire messages behind a fixed system prompt; `now` in unix seconds."""
        keys: list[bytes] = []
        counts: list[int] = []
        for message in ({"text": fixed}, *messages):
            key, count = self._count(message)
            keys.append(key)
            counts.append(count)
        # Only what is sent again will be asked for again.
        self._known = {id(m): self._known[id(m)] for m in messages}
        sent = sum(counts)
        if sent + self.reserve_tokens > self.window_tokens:
            return Refused(sent_tokens=sent, window_tokens=self.window_tokens)
        read = self._hit(keys, counts, now)
        self._cached, self._at = keys, now
        return Usage(
            cache_read_tokens=read, cache_write_tokens=sent - read, output_tokens=output_tokens
        )

    def grow(self, added_tokens: int, output_tokens: int, now: float) -> Usage:
        """Take a request that is the last one with `added_tokens` more behind it.

        The same as `send` for a history that only grows, without looking at it again.
        """
        alive = self._at is not None and now - self._at <= self._cache_seconds
        read = self._grown if alive and self._grown >= _LEAST_CACHED_TOKENS else 0
        self._grown += added_tokens
        self._at = now
        return Usage(
            cache_read_tokens=read,
            cache_write_tokens=self._grown - read,
            output_tokens=output_tokens,
        )

    def count(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of messages, each with its frame."""
        return sum(self._count(message)[1] for message in messages)

    def _hit(self, keys: Sequence[bytes], counts: Sequence[int], now: float) -> int:
        if self._at is None or now - self._at > self._cache_seconds:
            return 0
        read = 0
        for old, new, count in zip(self._cached, keys, counts, strict=False):
            if old != new:
                break
            read += count
        return read if read >= _LEAST_CACHED_TOKENS else 0

    def _count(self, message: Mapping[str, Any]) -> tuple[bytes, int]:
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known[1], known[2]
        key = blake2b(json_text.dumps(message), digest_size=16).digest()
        count = self._counts.get(key)
        if count is None:
            texts, images = _texts(message)
            count = _MESSAGE_TOKENS + images * _IMAGE_TOKENS + _tokens(texts)
            self._counts[key] = count
        self._known[id(message)] = (message, key, count)
        return key, count


def _tokens(texts: list[str]) -> int:
    import toktok

    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    return sum(toktok.batch_count(clean, "o200k_base", threads=1))


def _texts(value: object) -> tuple[list[str], int]:
    """What a model reads of a wire value: its texts, and how many images it holds."""
    texts: list[str] = []
    images = 0
    stack: list[object] = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, list | tuple):
            stack.extend(one)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(one, Mapping):
            if one.get("type") in ("image", "image_url", "input_image"):  # pyright: ignore[reportUnknownMemberType]
                images += 1
            elif one.get("type") == "tool_use":  # pyright: ignore[reportUnknownMemberType]
                texts.append(str(one.get("name")))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
                texts.append(json_text.dumps(one.get("input")).decode("utf-8", "replace"))  # pyright: ignore[reportUnknownMemberType]
            else:
                stack.extend(v for k, v in one.items() if k not in _NOT_TEXT)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return texts, images
