"""One look at a message: judges keep what they found out about it, keyed by its content.

A session of 5,000 steps sends thousands of requests that share nearly all of their messages.
`Interner` maps every message to one `Seen` by content (or by identity, when the very same dict
comes again), so that counting, validating and searching happen once per distinct message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import msgspec

from bench.wire import Format, Wire, texts


def digest(value: Any) -> bytes:
    """16 bytes that identify a JSON value; also for lone surrogates, which UTF-8 cannot hold."""
    try:
        encoded = msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError):
        encoded = json.dumps(value, ensure_ascii=True, default=repr).encode()
    return hashlib.blake2b(encoded, digest_size=16).digest()


class Seen:
    """What is known about one message. Judges fill the slots; each owns its own."""

    __slots__ = ("_texts", "digest", "facts", "format", "hits", "message", "tokens")

    def __init__(self, message: Wire, format: Format, digest: bytes) -> None:
        self.message = message
        self.format: Format = format
        self.digest = digest
        self.tokens: int | None = None
        self.facts: Any = None
        self.hits: Any = None
        self._texts: tuple[str, ...] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The text leaves of the message."""
        if self._texts is None:
            self._texts = tuple(texts(self.message, self.format))
        return self._texts


class Interner:
    """Maps messages to `Seen`, by identity first and by content second.

    A message that was changed in place keeps its old `Seen`: judges that must not be fooled ask
    for `fresh`, which looks at the content only.
    """

    def __init__(self, format: Format) -> None:
        self.format: Format = format
        self._by_digest: dict[bytes, Seen] = {}
        # The message is held beside its id: an id is only unique while its object lives.
        self._by_id: dict[int, tuple[Wire, Seen]] = {}

    def intern(self, messages: Sequence[Wire]) -> list[Seen]:
        """One `Seen` per message."""
        by_id = self._by_id
        found: list[Seen] = []
        for message in messages:
            held = by_id.get(id(message))
            if held is None:
                held = (message, self.fresh(message))
                by_id[id(message)] = held
            found.append(held[1])
        if len(by_id) > 4 * len(messages) + 50_000:
            # Policies that build new dicts on every step would fill the map for ever.
            keep = {id(m) for m in messages}
            self._by_id = {key: held for key, held in by_id.items() if key in keep}
        return found

    def fresh(self, message: Wire) -> Seen:
        """The `Seen` for this content, whatever object carries it."""
        key = digest(message)
        seen = self._by_digest.get(key)
        if seen is None:
            seen = self._by_digest[key] = Seen(message, self.format, key)
        return seen


def common_prefix(left: Sequence[Any], right: Sequence[Any]) -> int:
    """How many leading elements are the same objects in both lists."""
    limit = min(len(left), len(right))
    low, high = 0, limit
    # Slices compare element by element in C; halving keeps it linear instead of quadratic.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
