"""A provider that counts exactly, refuses what is too long, and bills with a prompt cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.judges.counting import Counter
from bench.judges.prefix_cache import LIFETIME_SECONDS, MINIMUM_TOKENS, PrefixCache
from bench.judges.validity import request_messages
from bench.seen import Interner, Seen, digest
from bench.wire import FORMATS, Format, Wire

OUTPUT_RESERVE_TOKENS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Price of a token in units of one plain input token (Anthropic's ratios)."""

    plain: float = 1.0
    cache_read: float = 0.1
    cache_write: float = 1.25
    output: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as a provider reports them; `input` excludes what the cache took part in."""

    input: int
    cache_read: int
    cache_write: int
    output: int

    @property
    def sent_tokens(self) -> int:
        """All tokens of the request."""
        return self.input + self.cache_read + self.cache_write

    def cost(self, prices: Prices) -> float:
        """Cache-adjusted cost of the request in units; the output is not in it."""
        return (
            self.input * prices.plain
            + self.cache_read * prices.cache_read
            + self.cache_write * prices.cache_write
        )


class Refusal(Exception):
    """The provider did not take the request: too long.

    `body` is the error object as the provider of that format words it, `status` the HTTP status.
    """

    def __init__(
        self, body: dict[str, Any], *, status: int, sent_tokens: int, limit_tokens: int
    ) -> None:
        self.body = body
        self.status = status
        self.sent_tokens = sent_tokens
        self.limit_tokens = limit_tokens
        super().__init__(str(body.get("error", body)))


def reserve_tokens(window_tokens: int, max_output_tokens: int = OUTPUT_RESERVE_TOKENS) -> int:
    """Output reserve of a request: the model's most, 20,000, or a quarter of the window."""
    return min(max_output_tokens, OUTPUT_RESERVE_TOKENS, window_tokens // 4)


def refusal_body(
    format: Format, sent_tokens: int, reserve: int, window_tokens: int
) -> dict[str, Any]:
    """The error body each provider answers a too long request with."""
    if format == "anthropic":
        if sent_tokens > window_tokens:
            message = f"prompt is too long: {sent_tokens} tokens > {window_tokens} maximum"
        else:
            message = (
                "input length and `max_tokens` exceed context limit: "
                f"{sent_tokens} + {reserve} > {window_tokens}, decrease input length or "
                "`max_tokens` and try again"
            )
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    message = (
        f"This model's maximum context length is {window_tokens} tokens. However, you requested "
        f"{sent_tokens + reserve} tokens ({sent_tokens} in the messages, {reserve} in the "
        "completion). Please reduce the length of the messages or completion."
    )
    param = "messages"
    if format == "openai-responses":
        message = (
            "Your input exceeds the context window of this model. Please adjust your input and "
            f"try again. ({sent_tokens} tokens with {reserve} reserved > {window_tokens})"
        )
        param = "input"
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": "context_length_exceeded",
        }
    }


class SimulatedProvider:
    """Takes requests of one session at one window size.

    `window_tokens` is input and output together. A request is refused when its exact count and
    `reserve` (default: `reserve_tokens(window_tokens)`) exceed the window; None as window never
    refuses. Times are handed in, never read.

    Raises:
        ValueError: the format is unknown.
    """

    def __init__(
        self,
        window_tokens: int | None,
        format: Format,
        *,
        reserve: int | None = None,
        prices: Prices | None = None,
        minimum_cache_tokens: int = MINIMUM_TOKENS,
        cache_lifetime_seconds: float = LIFETIME_SECONDS,
        interner: Interner | None = None,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
        self.format: Format = format
        self.window_tokens = window_tokens
        self.reserve_tokens = (
            reserve if reserve is not None else reserve_tokens(window_tokens or 10**9)
        )
        self.prices = prices or Prices()
        self.counter = Counter(format, interner)
        self._cache = PrefixCache(minimum_cache_tokens, cache_lifetime_seconds)
        self._front: tuple[Any, Any, bytes] | None = None

    def count(self, messages: Sequence[Wire]) -> int:
        """Exact tokens of a message list, for policies that want to know."""
        return self.counter.tokens(messages)

    def send(
        self, request: dict[str, Any], *, now_seconds: float = 0.0, output_tokens: int = 0
    ) -> Usage:
        """Take a request; `output_tokens` is the size of the reply that the recording gives.

        Raises:
            Refusal: the request and the reserve exceed the window.
        """
        messages = request_messages(request, self.format)
        return self.send_seen(
            self.counter.interner.intern(messages),
            request.get("system"),
            request.get("tools"),
            now_seconds=now_seconds,
            output_tokens=output_tokens,
        )

    def send_seen(
        self,
        seen: Sequence[Seen],
        system: Any,
        tools: Any,
        *,
        now_seconds: float,
        output_tokens: int = 0,
    ) -> Usage:
        """`send` for messages that were interned already.

        Raises:
            Refusal: the request and the reserve exceed the window.
        """
        counted = self.counter.seen_tokens
        sizes = [one.tokens if one.tokens is not None else counted(one) for one in seen]
        sizes.insert(0, self.counter.fixed_tokens(system, tools))
        total = sum(sizes)
        window = self.window_tokens
        if window is not None and total + self.reserve_tokens > window:
            raise Refusal(
                refusal_body(self.format, total, self.reserve_tokens, window),
                status=400,
                sent_tokens=total,
                limit_tokens=window - self.reserve_tokens,
            )
        digests = [one.digest for one in seen]
        digests.insert(0, self._front_digest(system, tools))
        split = self._cache.split(digests, sizes, now_seconds)
        return Usage(
            input=split.plain_tokens,
            cache_read=split.read_tokens,
            cache_write=split.write_tokens,
            output=output_tokens,
        )

    def _front_digest(self, system: Any, tools: Any) -> bytes:
        held = self._front
        if held is None or held[0] is not system or held[1] is not tools:
            held = self._front = (system, tools, digest([system, tools]))
        return held[2]
