"""Consolidation: a model proposes operations on records, code checks them, one transaction does
them, or they wait for the owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import anyio
import msgspec

from wayfare.errors import LeaseHeld, ModelError, NotFound, RecordConflict
from wayfare.events import Event, Watch, ignore
from wayfare.json_text import UNREADABLE
from wayfare.memory.candidate import Actor, Candidate
from wayfare.memory.folder import read_file
from wayfare.memory.gate import GateContext
from wayfare.memory.likeness import words
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.plan import Held, Operation, Plan, Resolved, read_plan, resolve
from wayfare.memory.record import TYPES, read_record
from wayfare.memory.side_query import SideQuery, fenced, prompt_text
from wayfare.memory.transaction import Written
from wayfare.store.ref import digest

LEASE = "memory-consolidation"
LEASE_SECONDS = 600.0
"""How long a consolidation may be silent: longer than a slow model needs for one batch."""

_TEXT = {"type": "string"}
_RECORD: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "type": {"enum": list(TYPES)},
        "description": _TEXT,
        "body": _TEXT,
    },
    "required": ["name", "type", "description", "body"],
}
PLAN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "operations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "op": {"enum": ["keep", "merge", "update", "retire"]},
                    "files": {"type": "array", "items": _TEXT, "minItems": 1},
                    "record": _RECORD,
                    "reason": _TEXT,
                },
                "required": ["op", "files"],
            },
        }
    },
    "required": ["operations"],
}

Outcome = Literal[
    "applied",
    "nothing to do",
    "refused",
    "waiting for review",
    "too few",
    "skipped_locked",
    "failed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What a consolidation came to.

    `refusals` are plans that were not done and why, `left` files somebody changed meanwhile,
    `requests` what the model was asked.
    """

    outcome: Outcome
    written: Written | None = None
    operations: tuple[Operation, ...] = ()
    refusals: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.outcome != "applied":
            return f"memory consolidation: {self.outcome.replace('_', ' ')}"
        merged = sum(op.kind == "merge" for op in self.operations)
        updated = sum(op.kind == "update" for op in self.operations)
        retired = sum(op.kind == "retire" for op in self.operations)
        return f"memory consolidation: {merged} merged, {updated} updated, {retired} retired"


class WaitingPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plan in the inbox: its operations, and the hashes of the records it was made from."""

    kind: str = "plan"
    at: float
    hashes: dict[str, str]
    operations: list[dict[str, Any]]


async def consolidate(
    store: MemoryStore,
    side_query: SideQuery,
    *,
    actor: Actor = "consolidator",
    review: bool = False,
    at_least: int | None = None,
    watch: Watch = ignore,
) -> Consolidated:
    """Tidy a memory up. Never raises for what a model says, or for a folder somebody else tidies.

    Args:
        actor: `consolidator` or `dream`.
        review: Put the plan into the inbox instead of doing it.
        at_least: With fewer records nothing is done; None: the limit's number.

    Raises:
        WriteFailed: the storage refused; the records are as before.
        NotFound: the folder is there and cannot be read.
    """
    fewest = store.limits.consolidate_from_records if at_least is None else at_least
    leases = store.storage.leases
    try:
        await leases.acquire(LEASE, holder=store.holder, seconds=LEASE_SECONDS, wait_seconds=0.0)
    except LeaseHeld as held:
        watch(
            Event(
                name="memory.consolidation_skipped",
                text=f"memory is being consolidated by {held.holder} already",
            )
        )
        return Consolidated(outcome="skipped_locked")
    try:
        await store.refresh()
        if len(store.entries) < max(fewest, 1):
            return Consolidated(outcome="too few")
        return await _Consolidation(store, side_query, actor, review, watch).run()
    finally:
        with anyio.CancelScope(shield=True):
            await leases.release(LEASE, holder=store.holder)


async def apply_plan(store: MemoryStore, id: str, *, watch: Watch = ignore) -> Consolidated:
    """Do a plan that waited in the inbox; records changed since are left out.

    Raises:
        NotFound: there is no such plan.
        WriteFailed: the storage refused; the records are as before.
        LeaseHeld: somebody else kept writing.
    """
    content = await store.storage.inbox.read(id)
    if content is None:
        raise NotFound(f"there is no plan {id!r} in the inbox", ref=id)
    try:
        waiting = msgspec.json.decode(content, type=WaitingPlan)
    except UNREADABLE as error:
        raise NotFound(f"{id!r} is no plan: {error}", ref=id) from error
    await store.refresh()
    work = _Consolidation(store, None, "user", False, watch)
    held = [
        h
        for h in await work.hold(sorted(waiting.hashes))
        if digest(h.content) == waiting.hashes[h.file]
    ]
    known = {h.file for h in held}
    usable = [op for op in waiting.operations if set(op.get("files", ())) <= known]
    if usable:
        plan = read_plan(msgspec.json.encode(usable).decode(), held)
        done = await work.do(work.checked(plan, held))
    else:
        done = Consolidated(outcome="nothing to do")
    await store.storage.inbox.delete(id, expected=digest(content))
    return done


class _Consolidation:
    def __init__(
        self,
        store: MemoryStore,
        side_query: SideQuery | None,
        actor: Actor,
        review: bool,
        watch: Watch,
    ) -> None:
        self._store = store
        self._side_query = side_query
        self._actor: Actor = actor
        self._review = review
        self._watch = watch
        self._requests: list[str] = []
        self._refusals: list[str] = []

    async def run(self) -> Consolidated:
        """One plan a batch, all of them in one transaction."""
        held = await self.hold([e.file for e in self._store.folder.in_order() if e.rewritable])
        resolved: list[Resolved] = []
        failed = False
        for batch in batches(held, self._store.limits.consolidate_batch_chars):
            await self._store.storage.leases.acquire(
                LEASE, holder=self._store.holder, seconds=LEASE_SECONDS, wait_seconds=0.0
            )
            try:
                resolved += self.checked(await self._plan(batch), batch)
            except ModelError as error:
                failed = True
                self._refused(f"there was no answer: {error}")
            except ValueError as error:
                self._refused(f"it could not be read: {error}")
        if not resolved:
            refused: Outcome = "failed" if failed else "refused"
            return self._ended(refused if self._refusals else "nothing to do")
        if self._review:
            await self._keep(resolved)
            return self._ended("waiting for review", operations=resolved)
        return await self.do(resolved)

    async def hold(self, files: Sequence[str]) -> list[Held]:
        """The records as they stand now; what is gone is left out."""
        held: list[Held] = []
        for file in files:
            content = await read_file(self._store.storage.records, file)
            if content is not None:
                record = read_record(file, content).record
                held.append(Held(file=file, content=content, record=record))
        return held

    def checked(self, plan: Plan, held: Sequence[Held]) -> list[Resolved]:
        """The changes of a plan that passes every check, none of one that does not."""
        resolved, refusal = resolve(
            plan,
            held,
            self._store.folder.existing(self._store.state),
            GateContext(actor=self._actor, limits=self._store.limits, insist=False),
            day=datetime.fromtimestamp(self._store.clock.now(), UTC).date().isoformat(),
            limits=self._store.limits,
        )
        if refusal:
            self._refused(refusal)
        elif plan.unnamed and plan.operations:
            self._watch(
                Event(
                    name="memory.plan_partial",
                    text=f"the consolidation plan says nothing of {len(plan.unnamed)} of "
                    f"{len(held)} records; they are kept, without loss",
                )
            )
        return resolved

    async def do(self, resolved: Sequence[Resolved]) -> Consolidated:
        """Apply; an operation one of whose records changed meanwhile is left out whole."""
        left: list[str] = []
        resolved = [one for one in resolved if await self._may(one.operation)]
        while True:
            fresh: list[Resolved] = []
            for one in resolved:
                changed = [
                    c.file for c in one.changes if not await self._as_before(c.file, c.before)
                ]
                left += changed
                if not changed:
                    fresh.append(one)
            resolved = fresh
            if not resolved:
                return self._ended("nothing to do", left=left)
            try:
                written = await self._store.transact(
                    [change for one in resolved for change in one.changes],
                    actor=self._actor,
                    reason="consolidation",
                )
            except RecordConflict:
                continue
            except LeaseHeld as held:
                self._refused(f"{held.holder} kept writing")
                return self._ended("skipped_locked", left=left)
            done = self._ended("applied", written=written, operations=resolved, left=left)
            self._watch(Event(name="memory.consolidated", text=str(done)))
            return done

    async def _may(self, operation: Operation) -> bool:
        """Whether hooks let an operation be; one they keep out is left out whole."""
        reason = await self._store.why_kept_out(
            self._actor, operation.result, operation=operation.kind, files=operation.files
        )
        if reason:
            self._refused(
                f"a hook kept out {operation.kind} of {', '.join(operation.files)}: {reason}"
            )
        return not reason

    async def _plan(self, batch: Sequence[Held]) -> Plan:
        request = fenced(
            "records",
            "\n\n".join(
                fenced("record", f"{h.record.name}: {h.record.description}\n\n{h.record.body}",
                       file=h.file, type=h.record.type)
                for h in batch
            ),
        )  # fmt: skip
        self._requests.append(request)
        if self._side_query is None:
            raise ValueError("nobody is there to ask")
        reply = await self._side_query(
            prompt_text("memory_consolidate"),
            request,
            PLAN_SCHEMA,
            self._store.limits.consolidate_reply_tokens,
        )
        return read_plan(reply, batch)

    async def _as_before(self, file: str, before: bytes | None) -> bool:
        return await read_file(self._store.storage.records, file) == before

    async def _keep(self, resolved: Sequence[Resolved]) -> None:
        hashes = {
            change.file: digest(change.before)
            for one in resolved
            for change in one.changes
            if change.before is not None
        }
        now = self._store.clock.now()
        plan = WaitingPlan(
            at=now, hashes=hashes, operations=[_shown(one.operation) for one in resolved]
        )
        name = f"plan-{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{self._store.clock.token()}"
        content = msgspec.json.format(msgspec.json.encode(plan), indent=1)
        await self._store.storage.inbox.write(name, content, expected=None)
        self._watch(
            Event(
                name="memory.plan_waiting",
                text=f"a consolidation plan waits for review: {name}",
                fields={"id": name},
            )
        )

    def _refused(self, why: str) -> None:
        self._refusals.append(why)
        self._watch(Event(name="memory.plan_refused", text=f"consolidation plan rejected: {why}"))

    def _ended(
        self,
        outcome: Outcome,
        *,
        written: Written | None = None,
        operations: Sequence[Resolved] = (),
        left: Sequence[str] = (),
    ) -> Consolidated:
        return Consolidated(
            outcome=outcome,
            written=written,
            operations=tuple(one.operation for one in operations),
            refusals=tuple(self._refusals),
            left=tuple(left),
            requests=tuple(self._requests),
        )


def batches(held: Sequence[Held], chars: int) -> list[list[Held]]:
    """All records in groups of at most so many characters, by type, like beside like."""
    made: list[list[Held]] = []
    if sum(_size(h) for h in held) <= chars:
        return [list(held)] if held else []
    for kind in TYPES:
        left = [h for h in held if h.record.type == kind]
        while left:
            first = left.pop(0)
            seed = words(f"{first.record.name}\n{first.record.description}\n{first.record.body}")
            left.sort(key=lambda h: (-_likeness(seed, h), h.file))
            group, size, rest = [first], _size(first), list[Held]()
            for other in left:
                if size + _size(other) <= chars:
                    group.append(other)
                    size += _size(other)
                else:
                    rest.append(other)
            made.append(group)
            left = sorted(rest, key=lambda h: h.file)
    return made


def _likeness(seed: frozenset[str], held: Held) -> float:
    found = words(f"{held.record.name}\n{held.record.description}\n{held.record.body}")
    return len(seed & found) / len(seed | found) if seed or found else 0.0


def _size(held: Held) -> int:
    return len(held.record.name) + len(held.record.description) + len(held.record.body) + 80


def _shown(operation: Operation) -> dict[str, Any]:
    shown: dict[str, Any] = {"op": operation.kind, "files": list(operation.files)}
    result: Candidate | None = operation.result
    if result is not None:
        shown["record"] = {
            "name": result.name,
            "type": result.type,
            "description": result.description,
            "body": result.body,
        }
    if operation.reason:
        shown["reason"] = operation.reason
    return shown
