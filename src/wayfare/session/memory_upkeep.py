"""The port after a turn: extraction, consolidation, dream, in the background and one at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from wayfare.clock import Clock
from wayfare.events import Event, Watched
from wayfare.memory import Extractor, SideQuery, consolidate
from wayfare.memory.dream import read_dream, time_gates
from wayfare.memory.extract import Cursor, read_cursor, write_cursor
from wayfare.messages import Origin
from wayfare.session.leftovers import pick_up, sessions_since
from wayfare.session.memory_wanted import MemoryWanted, OpenMemory
from wayfare.session.places import Places
from wayfare.session.said import Said

_SOON_SECONDS: Final = 1.0
"""A longer wait at the end of a session is explained."""


class Upkeep:
    """Keeps the project's memory up while a session goes on.

    Args:
        memory: The project's memory.
        wanted: Its settings, and how a dream is started.
        side_query: Whom to ask; None: nothing is extracted or consolidated.
        said: The session's log.
        finds: Who finds what should be kept in this session's words.
        session: Its name.
        places: Where the workspace keeps its sessions.
        tasks: Where it runs.
        clock: Time.
        watch: Told what was done and what failed.
    """

    def __init__(
        self,
        memory: OpenMemory,
        wanted: MemoryWanted,
        side_query: SideQuery | None,
        said: Said,
        *,
        finds: SideQuery | None,
        session: str,
        places: Places,
        tasks: TaskGroup,
        clock: Clock,
        watch: Watched,
    ) -> None:
        self._memory = memory
        self._wanted = wanted
        self._side_query = side_query
        self._said = said
        self._session = session
        self._places = places
        self._tasks = tasks
        self._clock = clock
        self._watch = watch
        self._extractor = (
            None
            if finds is None
            else Extractor(memory.store, finds, session=session, search=memory.search, watch=watch)
        )
        self._scopes: set[anyio.CancelScope] = set()
        self._closing = False
        self._idle = anyio.Event()
        self._idle.set()
        self._alone = anyio.Lock()
        self._counted: float | None = None
        self._marked = False
        self._known = set(memory.store.entries)

    def begin(self) -> None:
        """Pick up what earlier sessions left."""
        if self._side_query is not None:
            self._start(self._pick_up)

    def turn_begins(self) -> None:
        """From the first turn on a session that follows may pick this one up."""
        if not self._marked and self._extractor is not None:
            self._marked = True
            self._start(self._mark)

    def turn_done(self, *, agent_wrote: bool) -> None:
        """Look for what should be kept; slow work goes on in the background."""
        self._start(self._keep, agent_wrote)

    async def drain(self) -> bool:
        """Wait for what is at work, so long as the settings say; False when it was cut off."""
        most = self._wanted.limits.extract_exit_seconds
        soon = min(_SOON_SECONDS, most)
        with anyio.move_on_after(soon):
            await self._idle.wait()
        if self._scopes and most > soon:
            text = f"memory is being written, at most {most - soon:.0f} seconds more"
            self._watch(Event(name="memory.finishing", text=text))
            with anyio.move_on_after(most - soon):
                await self._idle.wait()
        self._closing = True
        if not self._scopes:
            return True
        for scope in self._scopes:
            scope.cancel()
        text = "memory is still at work; the next session of this workspace goes on from there"
        self._watch(Event(name="memory.cut_off", text=text))
        return False

    def _start(self, work: Callable[..., Awaitable[None]], *arguments: object) -> None:
        if self._closing:
            return
        if not self._scopes:
            self._idle = anyio.Event()
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        self._tasks.start_soon(self._guarded, scope, work, *arguments)

    async def _guarded(
        self,
        scope: anyio.CancelScope,
        work: Callable[..., Awaitable[None]],
        *arguments: object,
    ) -> None:
        """A failure is told and never reaches a turn."""
        try:
            with scope:
                await work(*arguments)
        except Exception as error:
            text = f"memory upkeep did not finish: {str(error) or type(error).__name__}"
            self._watch(Event(name="memory.upkeep_failed", text=text))
        finally:
            self._scopes.discard(scope)
            if not self._scopes:
                self._idle.set()

    async def _mark(self) -> None:
        await write_cursor(
            self._memory.store.storage.state, self._session, Cursor(at=self._clock.now())
        )

    async def _pick_up(self) -> None:
        assert self._side_query is not None
        async with self._alone:
            await pick_up(
                self._places,
                self._memory.store,
                self._memory.search,
                self._side_query,
                but=self._session,
                clock=self._clock,
                watch=self._watch,
            )
            await self._consolidate()

    async def _keep(self, agent_wrote: bool) -> None:
        if self._extractor is not None:
            said = await self._said.catch_up()
            # None: another one runs and takes these words over.
            if await self._extractor.run(said, agent_wrote=agent_wrote) is not None:
                async with self._alone:
                    await self._consolidate()
        await self._forget()
        await self._dream()

    async def _forget(self) -> None:
        """Hold no longer what nobody will read again."""
        said = await self._said.catch_up()
        last = max((u.entry_id for u in said if u.origin == Origin.USER), default=0)
        if self._extractor is not None:
            cursor = await read_cursor(self._memory.store.storage.state, self._session)
            last = min(last - 1, cursor.entry)
        self._said.forget(last)

    async def _consolidate(self) -> None:
        """Tidy up after a new record, once there are enough of them."""
        store = self._memory.store
        fresh = store.entries.keys() - self._known
        self._known = set(store.entries)
        enough = len(store.entries) >= self._wanted.limits.consolidate_from_records
        if fresh and enough and self._side_query is not None:
            await consolidate(store, self._side_query, watch=self._watch)
            self._known = set(store.entries)

    async def _dream(self) -> None:
        """Start a dream when its cheap gates are open; the dream itself asks them all again."""
        start, limits, now = self._wanted.start_dream, self._wanted.limits, self._clock.monotonic()
        if start is None or self._side_query is None:
            return
        if self._counted is not None and now - self._counted < limits.dream_scan_minutes * 60:
            return
        self._counted = now
        state = await read_dream(self._memory.store.storage.state)
        if not time_gates(state, self._clock.now(), limits).open:
            return
        last = state.last if state.last <= self._clock.now() else 0.0
        others = sessions_since(self._places, last, but=self._session)
        if others >= limits.dream_sessions:
            start()
            self._watch(Event(name="memory.dream_started", text="memory upkeep runs beside"))
