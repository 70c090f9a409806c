"""The port before a turn: recall runs beside other preparation, and comes as an attachment."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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


class SavedRecalled(msgspec.Struct, frozen=True, kw_only=True):
    """What was attached, as a checkpoint holds it."""

    shown: list[tuple[str, str]]
    spent_bytes: int


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
        self._shown: dict[str, str] = {}
        """The hash of the text that was attached last, by file: an older one is another text."""
        self._spent_bytes = 0

    async def resume(self) -> None:
        """Learn from the log what was attached before.

        Raises:
            StoreError: the log cannot be read.
        """
        transcript = self._governor.transcript
        held = transcript.part(_PART)
        if held is not None:
            saved = msgspec.convert(held[1], SavedRecalled)
            self._shown, self._spent_bytes = dict(saved.shown), saved.spent_bytes
        async for entry in transcript.entries(held[0] + 1 if held else 1):
            if isinstance(entry, MarkEntry) and entry.name == MARK:
                for one in entry.detail.get("records", ()):
                    self._attached(str(one["file"]), str(one["sha256"]), int(one["bytes"]))
        transcript.remember(_PART, self._saved)

    def _attached(self, file: str, sha256: str, size_bytes: int) -> None:
        self._shown[file] = sha256
        self._spent_bytes += size_bytes

    def _saved(self) -> SavedRecalled:
        return SavedRecalled(shown=[*self._shown.items()], spent_bytes=self._spent_bytes)

    def begin(self, request: Message) -> Awaited:
        """Start; the request stands in the log already."""
        awaited = Awaited(self)
        awaited.prefetch.begin(self._tasks)
        return awaited

    def visible(self) -> set[tuple[str, str]]:
        """Which attached records still stand in the context."""
        texts = [m.text for m in self._governor.view.messages() if m.origin is Origin.MEMORY]
        return {
            (file, sha256)
            for file, sha256 in self._shown.items()
            if any(f'<memory file="{file}"' in text for text in texts)
        }

    async def find(self) -> Recalled | None:
        """Recall for what the user said last; nothing when it cannot be."""
        try:
            await self._said.catch_up()
            return await self._recall(
                self._said.user_texts(self._turns),
                visible=self.visible(),
                spent_bytes=self._spent_bytes,
            )
        except Exception as error:
            self._watch(Event(name="memory.recall_failed", text=f"nothing was recalled: {error}"))
            return None

    async def note(self, recalled: Recalled) -> None:
        """Remember in the log what is attached."""
        records: list[dict[str, Any]] = [
            {"file": a.file, "sha256": a.sha256, "bytes": a.size_bytes}
            for a in recalled.attachments
        ]
        for one in recalled.attachments:
            self._attached(one.file, one.sha256, one.size_bytes)
        with suppress(StoreError):
            # Where the log cannot be written, the message that follows fails and says so.
            await self._governor.transcript.mark(MARK, {"how": recalled.how, "records": records})
        names = ", ".join(a.name for a in recalled.attachments)
        self._watch(
            Event(
                name="memory.recalled",
                text=f"memory: {len(records)} recalled ({names})",
                fields={"files": tuple(a.file for a in recalled.attachments), "how": recalled.how},
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
