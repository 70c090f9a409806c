"""What was written of messages, so that a message is written once however often it is sent.

A message never changes, and most of a request is what the request before held: a rewritten message
would otherwise be built anew before every call, at a cost that grows with what is in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from weakref import ref

from wayfare.messages import Message

Wires: TypeAlias = list[dict[str, Any]]


class Written:
    """Wire messages by the message they were written of and those whose calls it answers.

    They are forgotten with the message. What it returns is shared between requests, as wire
    messages that came in are: not to be changed in place.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[ref[Message], tuple[Message, ...], Wires]] = {}

    def __call__(
        self,
        message: Message,
        asked: Sequence[Message],
        write: Callable[[Message, Sequence[Message]], Wires],
    ) -> Wires:
        """What `write` says of a message, or said of it before."""
        held, key = self._held, id(message)
        found = held.get(key)
        if found is not None and found[0]() is message and _same(found[1], asked):
            return found[2]
        wires = write(message, asked)
        held[key] = (ref(message, lambda _: held.pop(key, None)), tuple(asked), wires)
        return wires


def _same(one: Sequence[Message], other: Sequence[Message]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
