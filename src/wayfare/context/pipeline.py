"""The governor: has the passes plan before every model call and commits what they decided.

A pass only plans; here the plan is archived, committed to the log and applied to the view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from wayfare.clock import Clock
from wayfare.context import invariants, order
from wayfare.context.budget import Budget, Goal
from wayfare.context.contents import Contents
from wayfare.context.facts import Ledger
from wayfare.context.groups import groups, open_step
from wayfare.context.order import Standing, target_tokens
from wayfare.context.plan import Plan, reached
from wayfare.context.reckoning import Reckoning
from wayfare.context.rendering import Rendering
from wayfare.context.rhythm import Rhythm
from wayfare.context.saved import restored, saved
from wayfare.context.scheduler import CachePolicy
from wayfare.context.signed import holds_stale
from wayfare.context.stubs import Addresses
from wayfare.context.tool_use import Declared
from wayfare.context.view import View
from wayfare.errors import NotFound
from wayfare.events import Event, Watched
from wayfare.messages import Message
from wayfare.model import Usage
from wayfare.tokens import Calibration, Meter
from wayfare.transcript import Edit, EditEntry, Entered, MessageEntry, Transcript
from wayfare.transcript.transcript import CONTEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the next request holds.

    `tokens` is what the whole request is believed to take, `edits` what was committed for it,
    `stable_messages` how many leading messages the previous request already had.
    """

    messages: tuple[Message, ...]
    tokens: int
    edits: tuple[EditEntry, ...] = ()
    stable_messages: int = 0


_NOTHING = 0
"""No entry has this number."""


class Governor:
    """Keeps one session's context within its budget.

    Args:
        transcript: The session's log, opened.
        budget: What the context may take.
        meter: Says how large messages are.
        clock: Time.
        watch: Told what happens.
        declared: What tools say about themselves.
        cache: What is known of the prompt cache.
        fixed_tokens: What system prompt and tool schemas take, estimated; they are sent with
            every request and cannot be shrunk.
    """

    def __init__(
        self,
        *,
        transcript: Transcript,
        budget: Budget,
        meter: Meter,
        clock: Clock,
        watch: Watched,
        declared: Declared | None = None,
        cache: CachePolicy | None = None,
        fixed_tokens: int = 0,
    ) -> None:
        self.transcript = transcript
        self.budget = budget
        self._meter = meter
        self._clock = clock
        self._watch = watch
        self._declared = declared
        self._cache = cache or CachePolicy()
        self._reckoning = Reckoning(fixed_tokens)
        self._addresses = Addresses(
            transcript=transcript.path,
            contents=transcript.contents_path,
            unsaved=getattr(transcript, "unsaved", ""),
        )
        self._reset()
        transcript.remember(CONTEXT, self._saved)

    def _reset(self) -> None:
        self.view = View(self._meter, self._declared)
        self.ledger = Ledger(self._declared)
        self._rendering = Rendering(addresses=self._addresses, ledger=self.ledger)
        self._reckoning = Reckoning(self._reckoning.fixed_tokens)
        self._rhythm = Rhythm()
        self._contents = Contents()
        self._checked = 0
        self._offloaded = 0
        self._sent = 0
        self._spared = _NOTHING
        self._undone: list[tuple[int, int]] = []
        self._folded = 0

    def _saved(self) -> object:
        """The fold for a checkpoint; None while the log is ahead of it, or it is not all there is
        to know."""
        if self._undone or self._folded != self.transcript.last_folding:
            return None
        return saved(self.view, self.ledger, self._contents)

    def _restored(self) -> int:
        """Take a checkpoint's fold over; returns the last entry that is in it, 0 without one."""
        held = self.transcript.part(CONTEXT)
        found = held and restored(held[1], self._meter, self._declared)
        if not held or not found:
            return 0
        self.view, self.ledger, self._contents = found
        self._rendering = Rendering(addresses=self._addresses, ledger=self.ledger)
        return held[0]

    async def resume(self) -> None:
        """Fold the log into the view: from a checkpoint where there is one, else from its first
        entry."""
        self._reset()
        undone = self.transcript.undone
        async for entry in self.transcript.entries(self._restored() + 1):
            if isinstance(entry, MessageEntry):
                self._enter(await self.transcript.entered(entry))
            elif isinstance(entry, EditEntry) and entry.undoes:
                self._undone.append((min(entry.undoes), entry.id))
            elif isinstance(entry, EditEntry):
                self._contents.list_up_to(reached([entry]))
                if entry.id not in undone:
                    self.view = self.view.edited([entry], self._rendering)
        self._folded = self.transcript.last_folding
        # Batches that a reply followed were looked at when they arrived; together they are no batch.
        slots = self.view.slots()
        self._offloaded = open_step(slots)
        if self.view.edits and slots:
            self._spared = slots[-1].entry
        self._checked = 0

    def _enter(self, entered: Entered) -> None:
        self.view = self.view.added(entered)
        self.ledger.add(entered)
        self._contents.add(self.view[-1])

    async def add(
        self,
        messages: Sequence[Message],
        *,
        usage: Usage | None = None,
        time: float | None = None,
    ) -> tuple[Entered, ...]:
        """Append messages to the log and the view. `usage` came with the last of them.

        Raises:
            WriteFailed: nothing was appended.
        """
        entered = await self.transcript.add(messages, usage=usage, time=time)
        if usage is not None:
            self._reckoning.report(usage, self.view)
        for one in entered:
            self._enter(one)
            self._folded = one.id
        await self.transcript.keep()
        return entered

    def change_model(self, budget: Budget) -> None:
        """Use another model's window from now on; what was learned of the old one is dropped."""
        self.budget = budget
        self._reckoning.forget()

    @property
    def fixed_tokens(self) -> int:
        """What system prompt and tool schemas take, estimated."""
        return self._reckoning.fixed_tokens

    @fixed_tokens.setter
    def fixed_tokens(self, tokens: int) -> None:
        self._reckoning.fixed_tokens = tokens

    @property
    def calibration(self) -> Calibration:
        """How far estimates are off for the model in use."""
        return self._reckoning.calibration

    @calibration.setter
    def calibration(self, learned: Calibration) -> None:
        self._reckoning.calibration = learned

    def declare(self, declared: Declared) -> None:
        """Tools that joined, by name: what they say about themselves, from the next call on."""
        self._declared = {**(self._declared or {}), **declared}
        self.view = replace(self.view, declared=self._declared)
        self.ledger.declare(self._declared)

    @property
    def declared(self) -> Declared | None:
        """What tools say about themselves."""
        return self._declared

    @property
    def meter(self) -> Meter:
        """Says how large messages are."""
        return self._meter

    @property
    def goal(self) -> Goal:
        """Where passes would start and stop now."""
        return self._reckoning.goal(self.view, self.budget)

    @property
    def addresses(self) -> Addresses:
        """Where the texts of this session stand."""
        return self._addresses

    @property
    def tokens(self) -> int:
        """What the whole request is believed to take now."""
        return self._reckoning.tokens(self.view)

    @property
    def cut_is_due(self) -> bool:
        """Whether a cut would be made though the limit does not force it, if it takes out enough."""
        return order.cut_is_due(self.view, self._standing())

    async def prepare(self) -> Prepared:
        """The next request: repaired, within the limit, legal.

        Raises:
            CannotFit: what may not be shrunk does not fit; names the parts.
            WriteFailed: what had to leave the context could not be archived; nothing changed.
            BrokenView: a bug; nothing was sent.
        """
        before = self.tokens
        plan = self._plan()
        edits = await self._commit(plan, before)
        self._verify(plan)
        if self._spared and not self._spares():
            self._spared = _NOTHING
        if self._undone and not holds_stale(self.view.slots(), self._undone):
            self._undone = []
        stable = min(self._sent, len(self.view), plan.touched)
        self._sent = len(self.view)
        tokens = self.tokens
        self._rhythm.called(tokens, target_tokens(self.budget), self._clock.now())
        return Prepared(
            messages=tuple(self.view.messages()),
            tokens=tokens,
            edits=edits,
            stable_messages=stable,
        )

    def _begin(self) -> Plan:
        return Plan(
            view=self.view,
            rendering=self._rendering,
            next_id=self.transcript.last_id + 1,
            time=self._clock.now(),
        )

    def _plan(self) -> Plan:
        """All passes, in order."""
        plan = self._begin()
        order.run(plan, self._standing())
        return plan

    def _standing(self) -> Standing:
        return Standing(
            budget=self.budget,
            addresses=self._addresses,
            reckoning=self._reckoning,
            rhythm=self._rhythm,
            cache=self._cache,
            now=self._clock.now(),
            checked=self._checked,
            offloaded=self._offloaded,
            sent=self._sent,
            spares=bool(self._spared),
            undone=self._undone,
        )

    async def edit(self, *plans: Callable[[View], Sequence[Edit]]) -> tuple[EditEntry, ...]:
        """Commit what `plans` decide whatever the limit says, each on the view the one before
        leaves: for a compaction that was asked for and for the ladder of a refused request.

        Raises:
            WriteFailed: what had to leave the context could not be archived; nothing changed.
        """
        before = self.tokens
        plan = self._begin()
        fresh = len(self.view) - self._offloaded
        for planned in plans:
            plan.take(planned(plan.view))
        edits = await self._commit(plan, before)
        if edits:
            # Positions moved: the next request is checked from the front, new results still stand
            # at the end.
            self._checked = 0
            self._offloaded = max(len(self.view) - fresh, 0)
            self._sent = min(self._sent, plan.touched, len(self.view))
        return edits

    def planned(self, *plans: Callable[[View], Sequence[Edit]]) -> View:
        """The view as `edit` with these plans would leave it; nothing is committed."""
        plan = self._begin()
        for planned in plans:
            plan.take(planned(plan.view))
        return plan.view

    async def _commit(self, plan: Plan, before: int) -> tuple[EditEntry, ...]:
        if not plan.edits:
            return ()
        last = reached(plan.edits)
        lines = self._contents.lines(last, self._addresses)
        if lines:
            await self.transcript.archive(lines)
        after = self._reckoning.tokens(plan.view)
        committed = await self.transcript.commit(plan.edits, before=before, after=after)
        self._contents.list_up_to(last)
        self.view = plan.view
        self._folded = committed[-1].id
        slots = self.view.slots()
        if plan.touched < open_step(slots) < len(slots):
            self._spared = slots[-1].entry
        if after < before:
            self._rhythm.cut()
        self._tell(committed, before, after)
        return committed

    def _spares(self) -> bool:
        """Whether the step whose signed blocks an edit spared is still open."""
        slots = self.view.slots()
        return any(slot.entry == self._spared for slot in slots[open_step(slots) :])

    def _tell(self, committed: Sequence[EditEntry], before: int, after: int) -> None:
        by_pass: dict[str, int] = {}
        for entry in committed:
            by_pass[entry.by] = by_pass.get(entry.by, 0) + 1
        for name, count in by_pass.items():
            text = f"{name}: {count} edits, {before:,} → {after:,} tokens"
            fields = {"edits": count, "before_tokens": before, "after_tokens": after}
            self._watch(Event(name=f"context.{name}", text=text, fields=fields))

    def _verify(self, plan: Plan) -> None:
        """Check the rules on everything that is new or was touched."""
        start = self._checked if plan.touched >= self._checked else 0
        invariants.check(self.view, start)
        self._offloaded = len(self.view)
        found = groups(self.view.slots(start))
        self._checked = start + found[-1].start if found else 0

    async def undo(self) -> EditEntry:
        """Take back the newest batch of edits that shrank the context, and fold again.

        Raises:
            NotFound: there is none.
        """
        newest: list[EditEntry] = []
        followed: list[EditEntry] = []
        async for entry in self.transcript.entries():
            if not isinstance(entry, EditEntry) or entry.undoes or entry.by == "repair":
                continue
            if entry.id in self.transcript.undone:
                continue
            if entry.by == "signed":
                followed.append(entry)
                continue
            if newest and entry.batch != newest[0].batch:
                newest, followed = [], [e for e in followed if e.batch == entry.batch]
            newest.append(entry)
        if not newest:
            raise NotFound("no edit to undo", ref=self.transcript.path)
        newest += followed
        made = await self.transcript.undo([e.id for e in newest], "asked for")
        calibration = self.calibration
        await self.resume()
        self.calibration = calibration
        return made

    def preview(self) -> Mapping[str, int]:
        """What `prepare` would do now, without doing it: edits by pass, tokens before and after.

        Raises:
            CannotFit: as `prepare` would.
        """
        plan = self._plan()
        told: dict[str, int] = {}
        for edit in plan.edits:
            told[edit.by] = told.get(edit.by, 0) + 1
        told["before_tokens"] = self.tokens
        told["after_tokens"] = self._reckoning.tokens(plan.view)
        return told
