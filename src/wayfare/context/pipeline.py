"""The governor: runs the passes before every model call and commits what they decided.

One visible list, cheap first, dear last. A pass only plans; here the plans are put together,
weighed against the prompt cache, archived, committed to the log and applied to the view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wayfare.clock import Clock
from wayfare.context import invariants
from wayfare.context.budget import Budget, Goal, goal
from wayfare.context.contents import contents_lines
from wayfare.context.facts import Ledger
from wayfare.context.groups import groups, open_step
from wayfare.context.passes import condense, fit, microcompact, offload, repair, snip
from wayfare.context.rendering import Rendering
from wayfare.context.scheduler import CachePolicy, Pace
from wayfare.context.signed import unbound
from wayfare.context.stubs import Addresses
from wayfare.context.tool_use import Declared
from wayfare.context.view import View
from wayfare.errors import CannotFit, NotFound
from wayfare.events import Event, Watched
from wayfare.messages import Message
from wayfare.model import Usage
from wayfare.tokens import Calibration, Meter
from wayfare.transcript import Edit, EditEntry, Entered, MessageEntry, Transcript
from wayfare.transcript.entries import VERSION


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchor:
    """Reported usage and where the view stood then; any edit or change of model ends it."""

    tokens: int
    position: int
    edits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """How hard to press: shares of the usual preview, recent tail and digest that may stay."""

    preview_share: float
    tail_share: float
    room_share: float


_LEVELS = (
    _Level(preview_share=1.0, tail_share=1.0, room_share=1.0),
    _Level(preview_share=0.25, tail_share=0.25, room_share=0.5),
    _Level(preview_share=0.0, tail_share=0.0, room_share=0.25),
    _Level(preview_share=0.0, tail_share=0.0, room_share=0.05),
)


@dataclass(slots=True, kw_only=True)
class _Plan:
    """Edits gathered so far and the view as it will be with them."""

    view: View
    edits: list[Edit] = field(default_factory=list[Edit])
    touched: int = 1 << 62


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
        self.fixed_tokens = fixed_tokens
        self._addresses = Addresses(
            transcript=transcript.path,
            contents=transcript.contents_path,
            unsaved=transcript.unsaved,
        )
        self._reset()

    def _reset(self) -> None:
        self.view = View(self._meter)
        self.ledger = Ledger(self._declared)
        self._rendering = Rendering(
            addresses=self._addresses, ledger=self.ledger, declared=self._declared
        )
        self.calibration = Calibration()
        self._anchor: _Anchor | None = None
        self._checked = 0
        self._offloaded = 0
        self._archived = 0
        self._sent = 0
        self._calls = 0
        self._last_call: float | None = None
        self._cut_size = 0

    async def resume(self) -> None:
        """Fold the log into the view, from its first entry."""
        self._reset()
        undone = self.transcript.undone
        async for entry in self.transcript.entries():
            if isinstance(entry, MessageEntry):
                self._enter(await self.transcript.entered(entry))
            elif isinstance(entry, EditEntry) and entry.id not in undone and not entry.undoes:
                self.view = self.view.edited(entry, self._rendering)
                self._archived = max(self._archived, _last_archived(entry))
        # Batches that a reply followed were looked at when they arrived; together they are no batch.
        self._offloaded = open_step(self.view.slots())
        self._checked = 0

    def _enter(self, entered: Entered) -> None:
        self.view = self.view.added(entered)
        self.ledger.add(entered)

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
            self._report(usage)
        for one in entered:
            self._enter(one)
        return entered

    def _report(self, usage: Usage) -> None:
        """Learn from reported usage of the request last prepared."""
        estimated = self.view.total.tokens + self.fixed_tokens
        self.calibration = self.calibration.after(
            estimated_tokens=estimated, actual_tokens=usage.prompt_tokens
        )
        if usage.prompt_tokens:
            self._anchor = _Anchor(
                tokens=usage.total_tokens, position=len(self.view) + 1, edits=self.view.edits
            )

    def change_model(self, budget: Budget) -> None:
        """Use another model's window from now on; what was learned of the old one is dropped."""
        self.budget = budget
        self.calibration = Calibration()
        self._anchor = None

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
        return self._goal(self.view)

    @property
    def addresses(self) -> Addresses:
        """Where the texts of this session stand."""
        return self._addresses

    @property
    def tokens(self) -> int:
        """What the whole request is believed to take now."""
        return self._tokens(self.view)

    def _tokens(self, view: View) -> int:
        anchor = self._anchor
        if anchor is not None and anchor.edits == view.edits and anchor.position <= len(view):
            tail = sum(slot.load.tokens for slot in view.slots(anchor.position))
            return anchor.tokens + self.calibration.tokens(tail)
        return self.calibration.tokens(self.fixed_tokens + view.total.tokens)

    def _goal(self, view: View) -> Goal:
        ratio = self.calibration.ratio
        return goal(
            self.budget,
            total=view.total,
            now_tokens=self._tokens(view),
            fixed_tokens=self.calibration.tokens(self.fixed_tokens),
            ratio=ratio,
        )

    async def prepare(self) -> Prepared:
        """The next request: repaired, within the limit, legal.

        Raises:
            CannotFit: what may not be shrunk does not fit; names the parts.
            WriteFailed: what had to leave the context could not be archived; nothing changed.
            BrokenView: a bug; nothing was sent.
        """
        before = self._tokens(self.view)
        plan = _Plan(view=self.view)
        self._take(plan, repair.plan(plan.view, self._checked))
        self._take(plan, offload.plan(plan.view, self.budget, self._offloaded))
        self._shrink(plan)
        edits = await self._commit(plan, before)
        self._verify(plan)
        stable = min(self._sent, len(self.view), plan.touched)
        self._sent = len(self.view)
        self._calls += 1
        self._last_call = self._clock.now()
        return Prepared(
            messages=tuple(self.view.messages()),
            tokens=self._tokens(self.view),
            edits=edits,
            stable_messages=stable,
        )

    async def edit(self, *plans: Callable[[View], Sequence[Edit]]) -> tuple[EditEntry, ...]:
        """Commit what `plans` decide whatever the limit says, each on the view the one before
        leaves: for a compaction that was asked for and for the ladder of a refused request.

        Raises:
            WriteFailed: what had to leave the context could not be archived; nothing changed.
        """
        before = self._tokens(self.view)
        plan = _Plan(view=self.view)
        fresh = len(self.view) - self._offloaded
        for planned in plans:
            self._take(plan, planned(plan.view))
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
        plan = _Plan(view=self.view)
        for planned in plans:
            self._take(plan, planned(plan.view))
        return plan.view

    def _shrink(self, plan: _Plan) -> None:
        """The passes, in order, where the limit forces them or they pay."""
        aim = self._goal(plan.view)
        self._take(plan, snip.plan(plan.view, self.budget))
        if not aim.over(plan.view.total):
            if self._worthwhile(plan.view):
                self._microcompact(plan, aim)
            return
        self._microcompact(plan, aim)
        if not self.budget.at_once and not aim.met(plan.view.total):
            self._condense(plan, aim, self.budget.tail_share)
        for level in _LEVELS:
            if not aim.over(plan.view.total):
                return
            preview_chars = int(self.budget.fit_preview_chars * level.preview_share)
            self._take(
                plan,
                fit.plan(plan.view, self.budget, aim, self._addresses, preview_chars=preview_chars),
            )
            if aim.over(plan.view.total):
                self._condense(
                    plan, aim, self.budget.tail_share * level.tail_share, level.room_share
                )
        if aim.over(plan.view.total):
            raise self._cannot_fit(plan.view)

    def _microcompact(self, plan: _Plan, aim: Goal) -> None:
        self._take(
            plan,
            microcompact.plan(plan.view, self.budget, aim, self._addresses, self._declared),
        )

    def _condense(self, plan: _Plan, aim: Goal, tail_share: float, room_share: float = 1.0) -> None:
        ratio = self.calibration.ratio
        self._take(
            plan,
            condense.plan(
                plan.view,
                self.budget,
                aim,
                tail_tokens=int(self.budget.share(tail_share) / ratio),
                ratio=ratio,
                room_share=room_share,
            ),
        )

    def _worthwhile(self, view: View) -> bool:
        """Whether shortening now would cost less than it saves."""
        if self.budget.at_once:
            return False
        pace = self._pace(view)
        return self._cache.cold(pace) and self._calls > 0

    def _pace(self, view: View) -> Pace:
        tokens = self._tokens(view)
        idle = None if self._last_call is None else self._clock.now() - self._last_call
        return Pace(
            calls=self._calls,
            growth_tokens=max(tokens - self._cut_size, 0) / max(self._calls, 1),
            room_tokens=max(self.budget.limit_tokens - tokens, 0),
            idle_seconds=idle,
        )

    def _take(self, plan: _Plan, edits: Sequence[Edit]) -> None:
        """Put edits into the plan, each applied to the view the next one is planned on."""
        for edit in edits:
            at = min(
                (p for p in (_where(plan.view, op) for op in edit.ops) if p is not None),
                default=len(plan.view),
            )
            whole = unbound(edit, plan.view, at, open_step(plan.view.slots()))
            plan.touched = min(plan.touched, at)
            plan.edits.append(whole)
            plan.view = plan.view.edited(self._predicted(whole, len(plan.edits)), self._rendering)

    def _predicted(self, edit: Edit, number: int) -> EditEntry:
        return EditEntry(
            v=VERSION,
            id=self.transcript.last_id + number,
            time=self._clock.now(),
            by=edit.by,
            reason=edit.reason,
            ops=edit.ops,
        )

    async def _commit(self, plan: _Plan, before: int) -> tuple[EditEntry, ...]:
        if not plan.edits:
            return ()
        last = max((max(e.archived, default=0) for e in plan.edits), default=0)
        if last > self._archived:
            lines = await contents_lines(self.transcript, self._archived + 1, last, self._declared)
            await self.transcript.archive(lines)
        self._anchor = None
        after = self.calibration.tokens(self.fixed_tokens + plan.view.total.tokens)
        committed = await self.transcript.commit(plan.edits, before=before, after=after)
        self._archived = max(self._archived, last)
        self.view = plan.view
        self._cut_size = after
        self._tell(committed, before, after)
        return committed

    def _tell(self, committed: Sequence[EditEntry], before: int, after: int) -> None:
        by_pass: dict[str, int] = {}
        for entry in committed:
            by_pass[entry.by] = by_pass.get(entry.by, 0) + 1
        for name, count in by_pass.items():
            text = f"{name}: {count} edits, {before:,} → {after:,} tokens"
            fields = {"edits": count, "before_tokens": before, "after_tokens": after}
            self._watch(Event(name=f"context.{name}", text=text, fields=fields))

    def _verify(self, plan: _Plan) -> None:
        """Check the rules on everything that is new or was touched."""
        start = self._checked if plan.touched >= self._checked else 0
        invariants.check(self.view, start)
        self._offloaded = len(self.view)
        found = groups(self.view.slots(start))
        self._checked = start + found[-1].start if found else 0

    def _cannot_fit(self, view: View) -> CannotFit:
        newest = view[-1].load.tokens if len(view) else 0
        ratio = self.calibration.ratio
        parts = {
            "system and tools": round(self.fixed_tokens * ratio),
            "newest message": round(newest * ratio),
            "other messages": round((view.total.tokens - newest) * ratio),
            "reserve for the reply": self.budget.reserve_tokens,
            "buffer": self.budget.buffer_tokens,
        }
        named = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items())
        return CannotFit(
            f"the request does not fit a window of {self.budget.window_tokens:,} tokens: {named}",
            window_tokens=self.budget.window_tokens,
            by_part=parts,
        )

    async def undo(self) -> EditEntry:
        """Take back the newest batch of edits that shrank the context, and fold again.

        Raises:
            NotFound: there is none.
        """
        newest: list[EditEntry] = []
        async for entry in self.transcript.entries():
            if not isinstance(entry, EditEntry) or entry.undoes or entry.by == "repair":
                continue
            if entry.id in self.transcript.undone:
                continue
            if newest and entry.batch != newest[0].batch:
                newest = []
            newest.append(entry)
        if not newest:
            raise NotFound("no edit to undo", ref=self.transcript.path)
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
        plan = _Plan(view=self.view)
        self._take(plan, repair.plan(plan.view, self._checked))
        self._take(plan, offload.plan(plan.view, self.budget, self._offloaded))
        self._shrink(plan)
        told: dict[str, int] = {}
        for edit in plan.edits:
            told[edit.by] = told.get(edit.by, 0) + 1
        told["before_tokens"] = self._tokens(self.view)
        told["after_tokens"] = self._tokens(plan.view)
        return told


def _where(view: View, op: object) -> int | None:
    entry = getattr(op, "entry", None)
    if entry is None:
        entry = getattr(op, "first", None)
    if entry is None:
        after = int(getattr(op, "after", 0))
        if not after:
            return 0
        at = view.position(after)
        return None if at is None else at + 1
    return view.position(entry)


def _last_archived(entry: EditEntry) -> int:
    return max((getattr(op, "last", 0) for op in entry.ops), default=0)
