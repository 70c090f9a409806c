"""The port before a turn: recall runs beside other preparation, and comes as an attachment."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import TaskGroup

from wayfare.context.pipeline import Governor
from wayfare.errors import StoreError
from wayfare.events import Event, Watched
from wayfare.memory import Prefetch, Recall, Recalled
from wayfare.messages import Message, Origin, user
from wayfare.session.said import Said
from wayfare.transcript import MarkEntry

MARK: Final = "recalled"
"""Name of the mark that says in the log which records were attached."""

_PART: Final = "recalled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record that was put before the model: its file, the hash of its text, its size."""

    file: str
    sha256: str
    size_bytes: int


class Recalling:
    """Recalls for each turn of one session.

    Args:
        recall: Chooses and attaches.
        said: The session's log.
        governor: The context, in which attachments stand or do not.
        tasks: Where it runs.
        wait_seconds: How long the first step of a turn waits for it.
        turns: How many of the user's texts say what is looked for.
        watch: Told what was recalled.
    """

    def __init__(
        self,
        recall: Recall,
        said: Said,
        governor: Governor,
        tasks: TaskGroup,
        *,
        wait_seconds: float,
        turns: int,
        watch: Watched,
    ) -> None:
        self._recall = recall
        self._said = said
        self._governor = governor
        self._tasks = tasks
        self._watch = watch
        self._turns = turns
        self.wait_seconds = wait_seconds
        self._shown: list[Shown] = []

    async def resume(self) -> None:
        """Learn from the log what was attached before.

        Raises:
            StoreError: the log cannot be read.
        """
        transcript = self._governor.transcript
        held = transcript.part(_PART)
        if held is not None:
            self._shown = msgspec.convert(held[1], list[Shown])
        async for entry in transcript.entries(held[0] + 1 if held else 1):
            if isinstance(entry, MarkEntry) and entry.name == MARK:
                for one in entry.detail.get("records", ()):
                    self._shown.append(
                        Shown(
                            file=str(one["file"]),
                            sha256=str(one["sha256"]),
                            size_bytes=int(one["bytes"]),
                        )
                    )
        transcript.remember(_PART, lambda: list(self._shown))

    def begin(self, request: Message) -> Awaited:
        """Start; the request stands in the log already."""
        awaited = Awaited(self)
        awaited.prefetch.begin(self._tasks)
        return awaited

    def visible(self) -> set[tuple[str, str]]:
        """Which attached records still stand in the context."""
        texts = [m.text for m in self._governor.view.messages() if m.origin is Origin.MEMORY]
        return {
            (one.file, one.sha256)
            for one in self._shown
            if any(f'<memory file="{one.file}"' in text for text in texts)
        }

    async def find(self) -> Recalled | None:
        """Recall for what the user said last; nothing when it cannot be."""
        try:
            await self._said.catch_up()
            return await self._recall(
                self._said.user_texts(self._turns),
                visible=self.visible(),
                spent_bytes=sum(one.size_bytes for one in self._shown),
            )
        except Exception as error:
            self._watch(Event(name="memory.recall_failed", text=f"nothing was recalled: {error}"))
            return None

    async def note(self, recalled: Recalled) -> None:
        """Remember in the log what is attached."""
        fresh = [
            Shown(file=a.file, sha256=a.sha256, size_bytes=a.size_bytes)
            for a in recalled.attachments
        ]
        records: list[dict[str, Any]] = [
            {"file": s.file, "sha256": s.sha256, "bytes": s.size_bytes} for s in fresh
        ]
        self._shown += fresh
        with suppress(StoreError):
            # Where the log cannot be written, the message that follows fails and says so.
            await self._governor.transcript.mark(MARK, {"how": recalled.how, "records": records})
        names = ", ".join(a.name for a in recalled.attachments)
        self._watch(
            Event(
                name="memory.recalled",
                text=f"memory: {len(fresh)} recalled ({names})",
                fields={"files": tuple(s.file for s in fresh), "how": recalled.how},
            )
        )


class Awaited:
    """What one turn waits for."""

    def __init__(self, recalling: Recalling) -> None:
        self._recalling = recalling
        self._scope = anyio.CancelScope()
        self.prefetch = Prefetch(self._find)

    async def _find(self) -> Recalled | None:
        with self._scope:
            return await self._recalling.find()
        return None

    async def ready(self, *, wait: bool) -> Sequence[Message]:
        """The attachment, once, when it is there."""
        recalling = self._recalling
        recalled = await self.prefetch.take(recalling.wait_seconds if wait else 0.0)
        if recalled is None or not recalled.attachments:
            return ()
        await recalling.note(recalled)
        return (user(recalled.text, origin=Origin.MEMORY),)

    def cancel(self) -> None:
        """The turn is over."""
        self._scope.cancel()
