"""Dream: upkeep in the background, now and then: read what sessions left, consolidate, prune.

Its gates are asked cheapest first; its lease lets one dream at a time; what it did is told at the
next start. It reads the user's words and the records, never its own output as evidence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import anyio
import msgspec

from wayfare.clock import Clock, moment
from wayfare.errors import LeaseHeld, StoreError
from wayfare.events import Event, Watch, ignore
from wayfare.json_text import UNREADABLE
from wayfare.memory.consolidate import Consolidated, consolidate
from wayfare.memory.extract import Extracted
from wayfare.memory.folder import read_file
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import read_date
from wayfare.memory.side_query import SideQuery
from wayfare.memory.storage import MemoryStorage
from wayfare.memory.transaction import Change
from wayfare.store import Docs
from wayfare.store.ref import digest

LEASE = "memory-dream"
STATE = "dream"
PRUNED_AFTER_DAYS = 30
"""A record past its date is taken out only after a month: until then it says that it is old, which
is worth something when the date was a mistake."""

SessionsSince: TypeAlias = Callable[[float], Awaitable[int]]
"""How many other sessions were touched since a moment (unix seconds)."""
Leftovers: TypeAlias = Callable[[], Awaitable[Sequence[Extracted]]]
"""Reads what earlier sessions said and no extraction saw."""


class DreamState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When the last dream ended and sessions were last counted (unix seconds), which one began and
    did not end, and what is to be told at the next start."""

    last: float = 0.0
    looked: float = 0.0
    running: str = ""
    began: float = 0.0
    report: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamGate:
    """Whether a dream may begin now, and if not, which gate is shut."""

    open: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamt:
    """What came of it; `gate` says why it did not begin, `consolidated` what it did."""

    gate: DreamGate
    consolidated: Consolidated | None = None
    extracted: tuple[Extracted, ...] = ()
    pruned: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.gate.open:
            return f"no dream: {self.gate.reason}"
        stored = sum(v.writes for one in self.extracted for v in one.verdicts)
        parts = [str(self.consolidated)] if self.consolidated is not None else []
        if stored:
            parts.append(f"{stored} records from earlier sessions")
        if self.pruned:
            parts.append(f"{len(self.pruned)} expired records taken out")
        return "; ".join(parts) or "memory: nothing to do"


def time_gates(state: DreamState, now: float, limits: MemoryLimits) -> DreamGate:
    """The two gates that cost nothing: long enough since the last one, and since the last look.

    Times are elapsed seconds, whatever the clock on the wall shows; one in the future counts as
    never, so that a wrong date written once does not shut the gate for months.
    """
    since = now - state.last
    if 0 <= since < limits.dream_hours * 3_600:
        hours = limits.dream_hours - since / 3_600
        return DreamGate(open=False, reason=f"the last one is too recent, {hours:.1f} hours to go")
    looked = now - state.looked
    if 0 <= looked < limits.dream_scan_minutes * 60:
        return DreamGate(open=False, reason="sessions were counted a moment ago")
    return DreamGate(open=True)


async def ask_gates(
    storage: MemoryStorage,
    sessions_since: SessionsSince,
    *,
    clock: Clock,
    limits: MemoryLimits,
) -> DreamGate:
    """All gates but the lease, cheapest first; remembers when sessions were counted."""
    now = clock.now()
    state = await read_dream(storage.state)
    gate = time_gates(state, now, limits)
    if not gate.open:
        return gate
    last = state.last if state.last <= now else 0.0
    count = await sessions_since(last)
    await _change(storage.state, lambda s: msgspec.structs.replace(s, looked=now))
    if count < limits.dream_sessions:
        return DreamGate(
            open=False,
            reason=f"{count} sessions since the last one, {limits.dream_sessions} needed",
        )
    return DreamGate(open=True)


async def dream(
    store: MemoryStore,
    side_query: SideQuery,
    sessions_since: SessionsSince,
    *,
    leftovers: Leftovers | None = None,
    review: bool = False,
    watch: Watch = ignore,
) -> Dreamt:
    """Dream, if every gate is open. Never raises for what a model or another process does.

    Args:
        store: The memory; not shared with a running session.
        side_query: For consolidation.
        sessions_since: For the third gate.
        leftovers: Runs extraction over what sessions left unread.
        review: Its plan waits in the inbox instead of being done.
        watch: Told what happens.
    """
    limits, storage, clock = store.limits, store.storage, store.clock
    gate = await ask_gates(storage, sessions_since, clock=clock, limits=limits)
    if not gate.open:
        return Dreamt(gate=gate)
    try:
        await storage.leases.acquire(
            LEASE,
            holder=store.holder,
            seconds=limits.dream_holder_minutes * 60,
            wait_seconds=0.0,
        )
    except LeaseHeld as held:
        return Dreamt(gate=DreamGate(open=False, reason=f"{held.holder} is dreaming already"))
    try:
        await _begin(store, watch)
        done = await _dream(store, side_query, leftovers, review, watch)
        report = str(done)
        await _change(
            storage.state,
            lambda s: msgspec.structs.replace(
                s, last=clock.now(), running="", began=0.0, report=report
            ),
        )
        return done
    except StoreError as error:
        watch(Event(name="memory.dream_failed", text=f"the dream did not finish: {error}"))
        return Dreamt(gate=DreamGate(open=False, reason=str(error)))
    finally:
        with anyio.CancelScope(shield=True):
            await storage.leases.release(LEASE, holder=store.holder)


async def take_report(state: Docs) -> str:
    """What the last dream did, once; empty when it was told already or there was none."""
    report = (await read_dream(state)).report
    if report:
        await _change(state, lambda s: msgspec.structs.replace(s, report=""))
    return report


async def read_dream(state: Docs) -> DreamState:
    """The state of dreaming; a fresh one when there is none that can be read."""
    content = await state.read(STATE)
    return DreamState() if content is None else _decoded(content)


async def _begin(store: MemoryStore, watch: Watch) -> None:
    state = await read_dream(store.storage.state)
    if state.running:
        began = moment(state.began, "%Y-%m-%d %H:%M UTC")
        watch(
            Event(
                name="memory.dream_stale",
                text=f"a stale lock was taken over: {state.running} began a dream at {began} "
                "and did not end it",
            )
        )
    now = store.clock.now()
    await _change(
        store.storage.state,
        lambda s: msgspec.structs.replace(s, running=store.holder, began=now),
    )


async def _dream(
    store: MemoryStore,
    side_query: SideQuery,
    leftovers: Leftovers | None,
    review: bool,
    watch: Watch,
) -> Dreamt:
    extracted = tuple(await leftovers()) if leftovers is not None else ()
    await store.sync()
    consolidated = await consolidate(store, side_query, actor="dream", review=review, watch=watch)
    pruned = await _prune(store)
    await store.rebuild_index()
    return Dreamt(
        gate=DreamGate(open=True),
        consolidated=consolidated,
        extracted=extracted,
        pruned=pruned,
    )


async def _prune(store: MemoryStore) -> tuple[str, ...]:
    """Take out what expired long ago. What the user said of themselves or of how to work stays."""
    today = datetime.fromtimestamp(store.clock.now(), UTC).date()
    changes: list[Change] = []
    for entry in store.folder.in_order():
        day = read_date(entry.expires)
        if day is None or day + timedelta(days=PRUNED_AFTER_DAYS) >= today:
            continue
        if entry.type in ("user", "feedback") or not entry.rewritable:
            continue
        content = await read_file(store.storage.records, entry.file)
        changes.append(Change(file=entry.file, before=content, after=None, reason="expired"))
    if not changes:
        return ()
    written = await store.transact(changes, actor="dream", reason="expired", skip_conflicts=True)
    return written.files


async def _change(state: Docs, change: Callable[[DreamState], DreamState]) -> None:
    for last in (False, False, True):
        content = await state.read(STATE)
        old = DreamState() if content is None else _decoded(content)
        try:
            await state.write(
                STATE,
                msgspec.json.encode(change(old)),
                expected=None if content is None else digest(content),
            )
            return
        except StoreError:
            if last:
                raise


def _decoded(content: bytes) -> DreamState:
    try:
        return msgspec.json.decode(content, type=DreamState)
    except UNREADABLE:
        return DreamState()
