"""Extraction: what the user said that should outlast the task, offered to the gate.

It reads the log by a cursor, never the compacted view; it runs beside the session and never fails
it. One runs at a time; a stop that comes meanwhile lets it run once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio
import msgspec

from wayfare.errors import ModelError, StoreError
from wayfare.events import Event, Watch, ignore
from wayfare.formats.json_reply import reply_objects, without_surrogates
from wayfare.json_text import UNREADABLE
from wayfare.memory.batches import Batch, plan_batches
from wayfare.memory.candidate import Candidate, Verdict
from wayfare.memory.journal import Source
from wayfare.memory.likeness import Utterance, ground
from wayfare.memory.manifest import build_manifest
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.notices import tally
from wayfare.memory.search import MemorySearch
from wayfare.memory.side_query import SideQuery, fenced, prompt_text
from wayfare.store import Docs
from wayfare.store.ref import digest

_FIELDS: Mapping[str, Any] = {
    "name": {"type": "string", "maxLength": 100},
    "type": {"enum": ["user", "feedback", "project", "reference"]},
    "scope": {"enum": ["persistent", "current_task"]},
    "description": {"type": "string", "maxLength": 300},
    "body": {"type": "string", "maxLength": 1_500},
    "evidence": {"type": "array", "items": {"type": "integer"}, "maxItems": 20},
    "subject": {"type": "string", "maxLength": 100},
    "expires": {"type": "string", "maxLength": 10},
}
"""The bounds keep a small model that cannot stop within a reply that still ends."""
EXTRACTION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _FIELDS,
                "required": ["name", "type", "scope", "description", "body", "evidence"],
            },
        }
    },
    "required": ["memories"],
}
_KEYS = ("memories", "candidates", "records", "facts", "items", "results")

ATTEMPTS = 3
"""A batch whose replies cannot be used is tried so often, then passed over and said so: one
unlucky text must not keep everything after it from being read."""
CURSORS = "extraction"
_SESSIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What an extraction came to: batches read, what the gate said, why it ended early."""

    batches: int = 0
    verdicts: tuple[Verdict, ...] = ()
    failure: str = ""
    requests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return tally(self.verdicts)


class Cursor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a session was read: its last entry read, failed attempts at the next batch."""

    entry: int = 0
    attempts: int = 0
    at: float = 0.0


class Extractor:
    """Reads one session's log as it grows.

    Args:
        store: Where records go.
        search: For the manifest of a large memory; None: the first records are shown.
        side_query: Finds candidates.
        session: Names the transcript in sources and cursors.
        default_scope: Taken where a candidate has none; by default such a one is refused.
        watch: Told what was stored and what failed.
    """

    def __init__(
        self,
        store: MemoryStore,
        side_query: SideQuery,
        *,
        session: str,
        search: MemorySearch | None = None,
        default_scope: str = "",
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._search = search
        self._side_query = side_query
        self._session = without_surrogates(session)
        self._default_scope = default_scope
        self._watch = watch
        self._waiting: Sequence[Utterance] | None = None
        self._running = False
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def running(self) -> bool:
        """Whether one is going on."""
        return self._running

    async def run(
        self, utterances: Sequence[Utterance], *, agent_wrote: bool = False
    ) -> Extracted | None:
        """Read what is new. Never raises for what a model or a storage does.

        While one runs, another call leaves its text for it and returns None.

        Args:
            utterances: The session's log so far, oldest first.
            agent_wrote: The agent wrote memory itself in this turn: the cursor only moves on.
        """
        if self._running:
            self._waiting = utterances
            return None
        self._running = True
        self._idle = anyio.Event()
        try:
            result = await self._guarded(utterances, agent_wrote)
            while self._waiting is not None:
                again, self._waiting = self._waiting, None
                result = await self._guarded(again, False)
            return result
        finally:
            self._running = False
            self._idle.set()

    async def drain(self, seconds: float | None = None) -> bool:
        """Wait for a running one at the end of a session; False when it did not end in time: the
        next session of the workspace goes on from the cursor."""
        limit = self._store.limits.extract_exit_seconds if seconds is None else seconds
        with anyio.move_on_after(limit):
            await self._idle.wait()
        return not self._running

    async def _guarded(self, utterances: Sequence[Utterance], agent_wrote: bool) -> Extracted:
        try:
            cursor = await read_cursor(self._store.storage.state, self._session)
            if agent_wrote:
                last = max((u.entry_id for u in utterances), default=cursor.entry)
                await self._move(Cursor(entry=max(last, cursor.entry)))
                return Extracted()
            return await self._read(utterances, cursor)
        except StoreError as error:
            return self._failed(Extracted(), error)

    async def _read(self, utterances: Sequence[Utterance], cursor: Cursor) -> Extracted:
        done = Extracted()
        for batch in plan_batches(utterances, cursor.entry, self._store.limits):
            try:
                request = await self._request(batch)
                done = replace(done, requests=(*done.requests, request))
                verdicts = await self._one(batch, request)
            except ModelError as error:
                return self._failed(done, error)
            except ValueError as error:
                if cursor.attempts + 1 < ATTEMPTS:
                    await self._move(replace_attempts(cursor))
                    return self._failed(done, error)
                self._failed(done, error)
                verdicts = ()
            cursor = Cursor(entry=batch.last_entry)
            await self._move(cursor)
            done = replace(done, batches=done.batches + 1, verdicts=(*done.verdicts, *verdicts))
        return done

    async def _request(self, batch: Batch) -> str:
        await self._store.refresh()
        entries = self._store.folder.in_order()
        text = batch.text(self._store.limits)
        words = "\n".join(u.text for u in batch.said)

        def likely(count: int) -> list[str]:
            if self._search is None:
                return []
            return [found.file for found in self._search.rank(words, count, floor=0.0)]

        if self._search is not None:
            await self._search.sync()
        manifest = build_manifest(
            entries,
            now=self._store.clock.now(),
            when=self._store.changed_at,
            likely=likely,
            limits=self._store.limits,
        )
        return "\n\n".join(
            [fenced("existing", manifest.text or "(none)"), fenced("conversation", text)]
        )

    async def _one(self, batch: Batch, request: str) -> tuple[Verdict, ...]:
        reply = await self._side_query(
            prompt_text("memory_extract"),
            request,
            EXTRACTION_SCHEMA,
            self._store.limits.extract_reply_tokens,
        )
        objects = reply_objects(reply, keys=_KEYS)
        candidates = [self._candidate(found, batch) for found in objects if _is_new(found)]
        if not candidates:
            return ()
        source = Source(
            session=self._session,
            entries=tuple(sorted({u.entry_id for u in batch.said})),
            origin="user",
        )
        offered = await self._store.offer(
            candidates, actor="extractor", source=source, reason="extraction"
        )
        return offered.verdicts

    def _candidate(self, found: Mapping[str, Any], batch: Batch) -> Candidate:
        description, body = _text(found, "description"), _text(found, "body", "content", "text")
        cited = found.get("evidence")
        items = cast("list[object]", cited) if isinstance(cited, list) else []
        numbers = [n for n in items if type(n) is int]
        return Candidate(
            name=_text(found, "name", "title"),
            description=description,
            type=_text(found, "type"),
            body=body,
            scope=_text(found, "scope") or self._default_scope,
            subject=_text(found, "subject"),
            expires=_text(found, "expires"),
            evidence=ground(
                f"{description}\n{body}", batch.around, cited=numbers, session=self._session
            ),
        )

    async def _move(self, cursor: Cursor) -> None:
        now = self._store.clock.now()
        await write_cursor(
            self._store.storage.state, self._session, msgspec.structs.replace(cursor, at=now)
        )

    def _failed(self, done: Extracted, error: Exception) -> Extracted:
        self._watch(
            Event(
                name="memory.extract_failed",
                text=f"memory extraction: the reply could not be used: {error}"
                if isinstance(error, ValueError)
                else f"memory extraction did not finish: {error}",
                fields={"reason": type(error).__name__},
            )
        )
        return replace(done, failure=str(error))


def replace_attempts(cursor: Cursor) -> Cursor:
    """The cursor after one more attempt in vain."""
    return msgspec.structs.replace(cursor, attempts=cursor.attempts + 1)


async def read_cursor(state: Docs, session: str) -> Cursor:
    """How far a session was read; the beginning when nothing is known.

    Raises:
        NotFound: the state is there and cannot be read.
    """
    return (await read_cursors(state)).get(session, Cursor())


async def read_cursors(state: Docs) -> dict[str, Cursor]:
    """How far every session was read, by its name; sessions that never had a memory are not there.

    Raises:
        NotFound: the state is there and cannot be read.
    """
    return (await _cursors(state))[0]


async def write_cursor(state: Docs, session: str, cursor: Cursor) -> None:
    """Remember how far a session was read; a cursor never goes back.

    Raises:
        WriteFailed: the storage refused.
        Conflict: somebody else wrote at the same moment, several times over.
    """
    for last in (False, False, True):
        cursors, version = await _cursors(state)
        known = cursors.get(session, Cursor())
        if cursor.entry < known.entry:
            return
        cursors[session] = cursor
        kept = dict(sorted(cursors.items(), key=lambda pair: -pair[1].at)[:_SESSIONS])
        try:
            await state.write(CURSORS, msgspec.json.encode(kept), expected=version)
            return
        except StoreError:
            if last:
                raise


async def _cursors(state: Docs) -> tuple[dict[str, Cursor], str | None]:
    content = await state.read(CURSORS)
    if content is None:
        return {}, None
    try:
        return msgspec.json.decode(content, type=dict[str, Cursor]), digest(content)
    except UNREADABLE:
        return {}, digest(content)


def _is_new(found: Mapping[str, Any]) -> bool:
    """Whether an object says something; an order to delete alone has no effect."""
    return str(found.get("op", "add")).casefold() not in ("delete", "remove", "forget", "keep")


def _text(found: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = found.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""
