"""A branch: one log that follows a host's message list as long as its past does not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wayfare.context.pipeline import Governor
from wayfare.formats import codec
from wayfare.host.plain import chained, plain, plain_message
from wayfare.messages import Message
from wayfare.model import Usage
from wayfare.transcript import MessageEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A host's message that stands in the log: its entry, the running digest up to it, and its
    value (None: not seen since the log was opened)."""

    entry: int
    digest: bytes
    value: Any = None

    def same(self, before: bytes, message: Any) -> bool:
        """Whether the host's message still is this one; `before` is the digest up to it."""
        # Texts are shared between the two, so this looks at structure and not at every character.
        if self.value is not None and self.value == message:
            return True
        return chained(before, plain_message(message)) == self.digest


@dataclass(slots=True, kw_only=True)
class Branch:
    """One log and the host's messages in it.

    Attributes:
        name: The session's name.
        governor: Holds log and view.
        known: The host's messages, in order.
        objects: The very objects they came in last, in the same order.
        returned: What was handed back last: a host that goes on with it is recognised by it.
    """

    name: str
    governor: Governor
    known: list[Known] = field(default_factory=list[Known])
    objects: list[Any] = field(default_factory=list[Any])
    returned: list[Any] = field(default_factory=list[Any])

    async def read(self) -> None:
        """Read which messages stand in the log, after it was opened."""
        digest = b""
        transcript = self.governor.transcript
        async for entry in transcript.entries():
            if isinstance(entry, MessageEntry):
                entered = await transcript.entered(entry)
                digest = chained(digest, entered.message.wire)
                self.known.append(Known(entry=entry.id, digest=digest))

    def common(self, messages: Sequence[Any]) -> int:
        """How many of the host's messages, from the first, are those of the log."""
        digest = b""
        for count, (known, message) in enumerate(zip(self.known, messages, strict=False)):
            if not known.same(digest, message):
                return count
            digest = known.digest
        return min(len(self.known), len(messages))

    def take(self, messages: Sequence[Any]) -> Sequence[Any] | None:
        """The host's new messages if its list goes on from this log, else None.

        From then on the objects of this list are the ones that are handed back.
        """
        if self._goes_on(messages):
            tail = messages[len(self.returned) :]
            self.objects.extend(tail)
            return tail
        if self.common(messages) < len(self.known):
            return None
        self.objects = list(messages)
        return messages[len(self.known) :]

    def _goes_on(self, messages: Sequence[Any]) -> bool:
        """Whether the host went on with the governed list instead of its own."""
        if len(messages) < len(self.returned):
            return False
        if len(self.objects) != len(self.known) or not self.returned:
            return False
        return all(m is o or m == o for m, o in zip(messages, self.returned, strict=False))

    async def add(self, tail: Sequence[Any], usage: Usage | None) -> None:
        """Append the host's new messages; `usage` came with the last reply among them.

        Raises:
            ConfigError: one of them is no message; none is appended.
            WriteFailed: what is not appended yet is not.
        """
        own = codec(self.governor.transcript.format)
        made = [own.decode(plain_message(one)) for one in tail]
        at = max((n for n, m in enumerate(made) if m.role == "assistant"), default=len(made))
        for run, told in ((made[:at], None), (made[at : at + 1], usage), (made[at + 1 :], None)):
            if run:
                await self._add(run, told)

    async def _add(self, run: Sequence[Message], usage: Usage | None) -> None:
        for one in await self.governor.add(run, usage=usage):
            before = self.known[-1].digest if self.known else b""
            value = one.message.wire
            self.known.append(Known(entry=one.id, digest=chained(before, value), value=value))

    def written(self) -> list[Any]:
        """The governed list on the wire; untouched messages are the host's very objects."""
        view = self.governor.view
        given = {known.entry: o for known, o in zip(self.known, self.objects, strict=True)}
        untouched = {
            id(slot.message.wire): given[slot.entry]
            for slot in view
            if not slot.edits and slot.entry in given
        }
        encoded = codec(self.governor.transcript.format).encode(view.messages())
        # What we made is copied: whoever changes it must not change the view.
        self.returned = [
            untouched[id(one)] if id(one) in untouched else plain(one) for one in encoded
        ]
        return list(self.returned)
