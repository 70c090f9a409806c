"""Recall: which records help with what the user just asked, put beside it as background.

A side query chooses among the manifest's lines; the words themselves choose when it fails. What is
chosen is cut to its budgets and fenced, with its age, its author and a warning where it is stale.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.abc import TaskGroup

from wayfare.errors import ModelError, StoreError
from wayfare.events import Event, Watch, ignore
from wayfare.formats.json_reply import reply_indices, without_surrogates
from wayfare.memory.attachment import Attachment, Cited, attach
from wayfare.memory.folder import Entry
from wayfare.memory.manifest import Manifest, build_manifest
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.recall_source import RecallSource
from wayfare.memory.search import Found, MemorySearch
from wayfare.memory.side_query import SideQuery, fenced, prompt_text

SELECTION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"selected": {"type": "array", "items": {"type": "integer"}, "maxItems": 5}},
    "required": ["selected"],
    "additionalProperties": False,
}
_KEYS = ("selected", "indices", "indexes", "records", "memories", "ids", "numbers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a recall came to.

    `how` is `side query`, `words` (the fallback), or `nothing to choose`. `files` are the chosen
    ones, `attachments` those that fit and were not in the context already, `left_out` the others
    with the reason. `failure` says why the words chose. `request` is what the side query was asked.
    """

    how: str
    files: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    manifest: Manifest
    failure: str = ""
    request: str = ""

    @property
    def text(self) -> str:
        """What goes on the user's turn; empty when nothing was recalled."""
        if not self.attachments:
            return ""
        parts = [prompt_text("memory_rule"), *(a.text for a in self.attachments)]
        return "\n\n".join(parts)


class Recall:
    """Chooses and attaches records for one workspace.

    Args:
        store: The project's records.
        search: Their words, for narrowing and for the fallback.
        side_query: Chooses; None: the words always do.
        also: Further memories to choose from, such as the user's own.
        exists: Whether a path a record cites is there; None: paths are not checked.
        watch: Told when the words had to choose.
    """

    def __init__(
        self,
        store: MemoryStore,
        search: MemorySearch,
        side_query: SideQuery | None,
        *,
        also: Sequence[RecallSource] = (),
        exists: Cited | None = None,
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._sources = (RecallSource(store=store, search=search), *also)
        self._side_query = side_query
        self._exists = exists
        self._watch = watch

    async def __call__(
        self,
        texts: Sequence[str],
        *,
        visible: Collection[tuple[str, str]] = (),
        spent_bytes: int = 0,
        timeout_seconds: float = 15.0,
    ) -> Recalled:
        """Recall for the user's latest words.

        Args:
            texts: What the user said, oldest first, this turn's last.
            visible: (file, sha256) of attachments that still stand in the context.
            spent_bytes: What this session's attachments have taken so far.
            timeout_seconds: After so long without an answer the words choose.

        Raises:
            NotFound: the memory folder is there and cannot be read.
        """
        for source in self._sources:
            await source.refresh(self._watch)
        entries = [entry for source in self._sources for entry in source.candidates()]
        query = query_of(texts, self._store.limits.recall_query_turns, self._query_chars)
        manifest = self._manifest(entries, query)
        standing = [e.file for e in entries if e.always]
        if not query.strip() or not entries:
            chosen, how, failure, request = (), "nothing to choose", "", ""
        else:
            chosen, how, failure, request = await self._choose(query, manifest, timeout_seconds)
        files = tuple(dict.fromkeys([*standing, *chosen]))
        attachments, left_out = await self._attach(files, visible, spent_bytes)
        for source in self._sources:
            source.store.note_use([source.file(a.file) for a in attachments if source.has(a.file)])
        return Recalled(
            how=how,
            files=files,
            attachments=attachments,
            left_out=left_out,
            manifest=manifest,
            failure=failure,
            request=request,
        )

    @property
    def _query_chars(self) -> int:
        return self._store.limits.recall_query_chars

    def _manifest(self, entries: Sequence[Entry], query: str) -> Manifest:
        def likely(count: int) -> list[str]:
            return [found.file for found in self._rank(query, count, floor=0.0)]

        return build_manifest(
            entries,
            now=self._store.clock.now(),
            when=self._changed_at,
            likely=likely,
            limits=self._store.limits,
        )

    async def _choose(
        self, query: str, manifest: Manifest, timeout_seconds: float
    ) -> tuple[tuple[str, ...], str, str, str]:
        most = self._store.limits.recall_records
        request = "\n\n".join([fenced("request", query), fenced("records", manifest.text)])
        failure = "no side query is set"
        if self._side_query is not None:
            try:
                with anyio.fail_after(timeout_seconds):
                    reply = await self._side_query(
                        prompt_text("memory_select"),
                        request,
                        SELECTION_SCHEMA,
                        self._store.limits.recall_reply_tokens,
                    )
                numbers = reply_indices(reply, len(manifest.files), keys=_KEYS)
                files = tuple(manifest.files[n] for n in numbers[:most])
                return files, "side query", "", request
            except (ModelError, ValueError, TimeoutError) as error:
                failure = str(error) or f"no answer in {timeout_seconds:g} seconds"
                self._watch(
                    Event(
                        name="memory.recall_by_words",
                        text=f"recall chose by words: {failure}",
                        fields={"reason": type(error).__name__},
                    )
                )
        files = tuple(found.file for found in self._rank(query, most))
        return files, "words", failure, request

    async def _attach(
        self, files: Sequence[str], visible: Collection[tuple[str, str]], spent_bytes: int
    ) -> tuple[tuple[Attachment, ...], tuple[tuple[str, str], ...]]:
        limits = self._store.limits
        attached: list[Attachment] = []
        left: list[tuple[str, str]] = []
        chars, size = 0, spent_bytes
        today = datetime.fromtimestamp(self._store.clock.now(), UTC).date()
        for key in files:
            source = next((one for one in self._sources if one.has(key)), None)
            read = None if source is None else await source.read(key)
            if source is None or read is None:
                left.append((key, "it is gone"))
                continue
            entry, found = read
            if (key, found.sha256) in visible:
                left.append((key, "it is in the context already"))
                continue
            changed = source.store.changed_at(entry)
            one = attach(
                found,
                key=key,
                address=f"{source.address}{entry.file}",
                age_seconds=self._store.clock.now() - changed if changed else None,
                author=source.store.state.authors.get(entry.file, "external"),
                today=today,
                exists=self._exists,
                limits=limits,
            )
            if chars + len(one.text) > limits.recall_turn_chars:
                left.append((key, "the turn's room is used up"))
            elif size + one.size_bytes > limits.recall_session_bytes:
                left.append((key, "the session's room is used up"))
            else:
                attached.append(one)
                chars += len(one.text)
                size += one.size_bytes
        return tuple(attached), tuple(left)

    def _changed_at(self, entry: Entry) -> float:
        for source in self._sources:
            if source.has(entry.file):
                return source.store.changed_at(source.store.entries[source.file(entry.file)])
        return 0.0

    def _rank(self, query: str, count: int, *, floor: float | None = None) -> list[Found]:
        found = [one for source in self._sources for one in source.rank(query, count, floor)]
        if len(self._sources) > 1:
            found.sort(key=lambda one: -one.strength)
        return found[:count]


def query_of(texts: Sequence[str], turns: int, chars: int) -> str:
    """The user's latest texts, oldest first, their end kept when they are too long."""
    latest = [without_surrogates(text).strip() for text in texts if text.strip()][-turns:]
    joined = "\n\n".join(latest)
    return joined[-chars:]


class Prefetch:
    """A recall that runs beside other work and is taken when it is there.

    Args:
        start: The recall, not yet begun.
    """

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._done = anyio.Event()
        self._result: Recalled | None = None
        self._taken = False

    def begin(self, tasks: TaskGroup) -> None:
        """Run it in a task group; what goes wrong in it comes to nothing recalled."""
        tasks.start_soon(self._run)

    async def take(self, wait_seconds: float = 0.0) -> Recalled | None:
        """The result, once, if it is there within so many seconds; else None, and ask again at
        the next step."""
        if self._taken:
            return None
        with anyio.move_on_after(wait_seconds):
            await self._done.wait()
        if not self._done.is_set():
            return None
        self._taken = True
        return self._result

    async def _run(self) -> None:
        try:
            self._result = await self._start()
        except StoreError:
            self._result = None
        finally:
            self._done.set()
