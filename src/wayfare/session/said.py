"""What was said in a session, read from its log: who said it, in which entry, when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
import msgspec

from wayfare.agent.ports import History
from wayfare.memory import Utterance
from wayfare.messages import Message, Origin
from wayfare.transcript import MessageEntry, Transcript

_KEPT_CHARS: Final = 20_000
"""Of a text that is not the user's: it only shows around what the user said, or proves that it was
not the user who said it."""

_PART: Final = "said"
_AROUND: Final = 40
"""So many utterances in front of unread ones stay: more than any batch shows around a message."""


class SavedSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a log, as a checkpoint holds it."""

    next: int
    said: tuple[Utterance, ...]


class Said:
    """A session's log as utterances, read on from where it was read last.

    It reads the log itself, so that what left the context counts as well, and what a summary,
    a recalled record or a tool says is never taken for the user's words.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._next = 1
        self._said: list[Utterance] = []
        self._reading = anyio.Lock()

    def keep_with(self, transcript: Transcript) -> None:
        """Let checkpoints of the log hold what was read, and go on from one."""
        held = transcript.part(_PART)
        if held is not None:
            saved = msgspec.convert(held[1], SavedSaid)
            self._next, self._said = saved.next, [*saved.said]
        transcript.remember(_PART, lambda: SavedSaid(next=self._next, said=tuple(self._said)))

    @property
    def all(self) -> Sequence[Utterance]:
        """Everything read so far, oldest first."""
        return tuple(self._said)

    async def catch_up(self) -> Sequence[Utterance]:
        """Read what is new; returns everything.

        Raises:
            StoreError: the log cannot be read.
        """
        async with self._reading:
            async for entry in self._history.entries(self._next):
                if isinstance(entry, MessageEntry):
                    entered = await self._history.entered(entry)
                    self._take(entry, entered.message)
                self._next = entry.id + 1
        return self.all

    def forget(self, entry: int) -> None:
        """Let go of what others than the user said up to `entry`, which was read, but for what
        stands around what comes next: a long session would else be held whole."""
        read = next((at for at, u in enumerate(self._said) if u.entry_id > entry), len(self._said))
        settled = max(read - _AROUND, 0)
        self._said[:settled] = [u for u in self._said[:settled] if u.origin == Origin.USER]

    def user_texts(self, count: int) -> list[str]:
        """The latest texts of the user, oldest first."""
        texts = [u.text for u in self._said if u.origin == Origin.USER]
        return texts[-count:]

    def evidence(self) -> Sequence[Utterance]:
        """What a record written now may rest on: all the user said, and everything since the
        user spoke last, so that what a tool said is known as the tool's."""
        last = max((u.entry_id for u in self._said if u.origin == Origin.USER), default=0)
        return [u for u in self._said if u.origin == Origin.USER or u.entry_id > last]

    def _take(self, entry: MessageEntry, message: Message) -> None:
        text = message.text
        if message.origin is Origin.TOOL:
            text = "\n".join([text, *(result.text for result in message.results)]).strip()
        if message.origin is not Origin.USER:
            text = text[:_KEPT_CHARS]
        if text:
            self._said.append(
                Utterance(
                    entry_id=entry.id, origin=message.origin.value, text=text, time=entry.time
                )
            )
