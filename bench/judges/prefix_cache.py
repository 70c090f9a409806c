"""A simulated prompt cache: which part of a request was sent before, byte for byte.

The unit is the message: a prefix is known when the same messages, in the same order, behind the
same system prompt and tools, were sent within the lifetime. Reading or writing a prefix renews
it. A prefix under the minimum size is neither read nor written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MINIMUM_TOKENS = 1_024
LIFETIME_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How a request divides: read from the cache, written to it, and neither (too small)."""

    read_tokens: int
    write_tokens: int
    plain_tokens: int


class PrefixCache:
    """Remembers the prefixes of one session's requests.

    `minimum_tokens` is the smallest prefix a provider caches, `lifetime_seconds` how long it keeps
    one that nobody reads (Anthropic: 1,024 tokens on most models, 5 minutes).
    """

    def __init__(
        self,
        minimum_tokens: int = MINIMUM_TOKENS,
        lifetime_seconds: float = LIFETIME_SECONDS,
    ) -> None:
        self.minimum_tokens = minimum_tokens
        self.lifetime_seconds = lifetime_seconds
        self._expires: dict[int, float] = {}
        self._digests: list[bytes] = []
        self._chain: list[int] = []

    def split(self, digests: Sequence[bytes], tokens: Sequence[int], now_seconds: float) -> Split:
        """Divide a request given by the digest and size of each of its parts, and remember it.

        The first part is what stands in front of the messages (system and tools).
        """
        chain = self._chained(digests)
        total = sum(tokens)
        read = 0
        place = len(chain)
        rest = total
        while place > 0:
            # The longest known prefix is nearly always close to the end.
            if self._expires.get(chain[place - 1], -1.0) >= now_seconds:
                read = rest if rest >= self.minimum_tokens else 0
                break
            place -= 1
            rest -= tokens[place]
        if total < self.minimum_tokens:
            return Split(read_tokens=0, write_tokens=0, plain_tokens=total)
        expires = now_seconds + self.lifetime_seconds
        self._expires.update(dict.fromkeys(chain, expires))
        return Split(read_tokens=read, write_tokens=total - read, plain_tokens=0)

    def _chained(self, digests: Sequence[bytes]) -> list[int]:
        """One number per prefix, each made of the one before; reuses what did not change."""
        kept = 0
        for old, new in zip(self._digests, digests, strict=False):
            if old is not new and old != new:
                break
            kept += 1
        chain = self._chain[:kept]
        value = chain[-1] if chain else 0
        for one in digests[kept:]:
            value = hash((value, one))
            chain.append(value)
        self._digests = list(digests)
        self._chain = chain
        return chain
