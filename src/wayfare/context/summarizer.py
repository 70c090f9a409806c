"""The summarizer: compaction by a model, checked, with the digest where there is no summary.

One call, `summarizer(governor, focus=…, trigger=…)`, whatever asked for it: the limit, a person,
the model's own tool, a refusal. What the summary does not hold of the must-keep facts is put
behind it, live state comes back from its sources, and all of it is committed as one batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from wayfare.clock import Clock
from wayfare.context import recovery
from wayfare.context.breaker import FAILED, Breaker
from wayfare.context.compacted import LEAST_REQUEST_CHARS, REQUEST_CHARS, compacted
from wayfare.context.digest import Room, name_index
from wayfare.context.folding import archived_span
from wayfare.context.must_keep import Fact, Retention, listed, missing, must_keep
from wayfare.context.passes import condense, microcompact
from wayfare.context.passes import notes as notes_pass
from wayfare.context.pipeline import Governor
from wayfare.context.restore import Restorer
from wayfare.context.span import Span, shown_text, span_of
from wayfare.context.summary_query import (
    CHARS_A_TOKEN,
    PROSE_SHARE,
    Learned,
    Spent,
    SummaryQuery,
)
from wayfare.context.summary_reply import Failed, Summary, bounded
from wayfare.context.view import View
from wayfare.errors import CannotFit
from wayfare.events import Event, Watched
from wayfare.messages import Message, Origin, user
from wayfare.model import Model
from wayfare.redaction import scrub
from wayfare.tokens import total
from wayfare.transcript import Collapse, Edit, EditEntry, Insert

IDLE_SECONDS: Final = 120.0
FACTS_SHARE: Final = 0.15
_FULL_SHARE: Final = 0.8
"""Of the limit, as much a compacted request takes at most with what is restored."""
_LEAST_REPLACED_TOKENS: Final = 150
_REPLACED_SHARE: Final = 0.9
"""Of what it replaces, as much a summary takes at most, with all that stands around it."""
_SMALL_TOKENS: Final = 2_000
_MOST_CHARS_A_TOKEN: Final = 5
_SHARED: Final = ("permission mode", "instructions", "recent files")
"""Sources that say the same to a sub-agent as to the session."""

NotesNow = Callable[[], Awaitable[notes_pass.Notes | None]]


@dataclass(slots=True, kw_only=True)
class Summarizer:
    """Compacts, by a summary where it can.

    Args:
        model: Who summarizes; None: nobody, the digest stands in.
        clock: Time.
        watch: Told of every summary, failure and what was retained.
        restorer: Sources of live state.
        spent: Told what a call used.
        notes: The session notes as they are now, or None.
        idle_seconds: How long a summary may go without a piece; a slow stream is no failure.
    """

    model: Model | None
    clock: Clock
    watch: Watched
    restorer: Restorer = field(default_factory=Restorer)
    spent: Spent = lambda usage, model: None
    notes: NotesNow | None = None
    idle_seconds: float = IDLE_SECONDS
    _breakers: dict[str, Breaker] = field(default_factory=dict[str, Breaker])
    _learned: dict[str, Learned] = field(default_factory=dict[str, Learned])

    async def __call__(
        self, governor: Governor, /, *, focus: str = "", trigger: str = "manual"
    ) -> tuple[EditEntry, ...]:
        """Compact now.

        Args:
            focus: What matters, in the words of whoever asked.
            trigger: `manual`, `model`, `auto` (the limit) or `reactive` (a refusal).

        Returns:
            The edits; none where a summary that was asked for failed (the event says why) or
            nothing would be gained.

        Raises:
            WriteFailed: what had to leave could not be archived; nothing was replaced.
        """
        if trigger == "auto" and self.notes is not None and not focus:
            edits = await self._from_notes(governor)
            if edits:
                return edits
        first = _first_plans(governor, trigger)
        span = span_of(governor.planned(*first), governor, trigger)
        replaced = total(slot.load for slot in span.gone).tokens
        if not span.older or replaced < _LEAST_REPLACED_TOKENS:
            return ()
        if all(slot.made for slot in span.gone):
            # A summary of nothing but a summary says the same again.
            return await self._digest(governor, first, trigger) if trigger == "auto" else ()
        breaker = await self._breaker(governor)
        if self.model is None or breaker.open(self.clock.now(), governor.budget.summary_failures):
            if self.model is not None:
                self._tell("compaction.breaker", "summaries keep failing: a digest stands in")
            return await self._digest(governor, first, trigger)
        query = SummaryQuery(
            model=self.model,
            idle_seconds=self.idle_seconds,
            spent=self.spent,
            learned=self._learned.setdefault(self.model.name, Learned()),
        )
        made = await query(governor, span, focus)
        if isinstance(made, Failed):
            in_a_row = await breaker.failed(governor.transcript, made.kind, made.text, trigger)
            text = f"no summary: {made.text}"
            fields = {"kind": made.kind, "in_a_row": in_a_row, "trigger": trigger}
            self._tell("compaction.failed", text, **fields)
            if trigger in ("manual", "model"):
                return ()
            return await self._digest(governor, first, trigger)
        breaker.succeeded()
        edits = await self._commit(governor, first, span, made, trigger)
        if not edits:
            self._tell("compaction.nothing", "a summary would take more than what it replaces")
            return await self._digest(governor, first, trigger)
        return edits

    def for_subagent(self) -> Summarizer:
        """The same for a context of its own: without the session's notes and task list."""
        own = {name: s for name, s in self.restorer.sources.items() if name in _SHARED}
        return replace(self, notes=None, restorer=Restorer(own), _breakers={})

    async def _breaker(self, governor: Governor) -> Breaker:
        path = governor.transcript.path
        if path not in self._breakers:
            self._breakers[path] = await Breaker.of(governor.transcript)
        return self._breakers[path]

    async def _commit(
        self,
        governor: Governor,
        first: Sequence[recovery.Planner],
        span: Span,
        summary: Summary,
        trigger: str,
    ) -> tuple[EditEntry, ...]:
        began = self.clock.monotonic()
        before = governor.tokens
        message, facts, lost, added = await self._message(governor, span, summary, trigger)
        op = Collapse(span.older[0].entry, span.older[-1].entry, message=message, keep=span.keep)
        edit = Edit(
            by="reactive" if trigger == "reactive" else "summary",
            reason=f"{len(span.gone)} messages, {_WHY[trigger]}",
            ops=(op,),
        )
        after = governor.planned(*first, lambda view: [edit]).total.tokens
        if after >= governor.planned(*first).total.tokens:
            return ()
        edits = await governor.edit(*first, lambda view: [edit])
        self._report(
            facts,
            lost,
            added,
            before_tokens=before,
            after_tokens=governor.tokens,
            seconds=self.clock.monotonic() - began,
            trigger=trigger,
            unsourced_lines=summary.unsourced_lines,
        )
        return edits

    async def _message(
        self, governor: Governor, span: Span, summary: Summary, trigger: str
    ) -> tuple[Message, Sequence[Fact], Sequence[Fact], Sequence[Fact]]:
        """The message that will stand, never larger than what it replaces; all facts, those the
        summary lacks, those put behind it."""
        meter, budget = governor.meter, governor.budget
        ratio = governor.calibration.ratio
        most = int(total(slot.load for slot in span.gone).tokens * _REPLACED_SHARE)
        request = governor.view.request_text()

        def made(prose: str, facts: str, restored: str) -> Message:
            return compacted(
                prose=prose,
                request=request,
                facts=facts,
                restored=restored,
                last_entry=archived_span(span.older)[1],
                addresses=governor.addresses,
                reactive=trigger == "reactive",
                # All of it stands in the context: where little is replaced its beginning will do.
                request_chars=REQUEST_CHARS if most > _SMALL_TOKENS else LEAST_REQUEST_CHARS,
            )

        left = most - meter.text(made("", "", "").text)
        prose = bounded(summary.prose, meter.text, max(left, 0))
        shown = shown_text(span.standing)
        facts = must_keep(governor.ledger)
        lost = missing(facts, f"{shown}\n{prose}")
        spare = left - meter.text(prose)
        # What the prose leaves of its share goes to the facts it lacks.
        both = int(budget.share(PROSE_SHARE + FACTS_SHARE) / ratio) - meter.text(prose)
        facts_tokens = max(min(both, spare), 0)
        added_text, added = behind(governor, lost, facts_tokens)
        room = self._restore_room(governor, span, spare - meter.text(added_text), ratio)
        restored = await self.restorer.restored(
            room_tokens=room, ledger=governor.ledger, meter=meter, shown=shown
        )
        message = made(prose, added_text, restored)
        return message, facts, lost, added

    def _restore_room(self, governor: Governor, span: Span, spare_tokens: int, ratio: float) -> int:
        budget = governor.budget
        standing = total(slot.load for slot in span.standing).tokens + governor.fixed_tokens
        free = int(budget.limit_tokens * _FULL_SHARE / ratio) - standing
        free -= int(budget.share(PROSE_SHARE + FACTS_SHARE) / ratio)
        return max(min(int(budget.share(budget.restore_share) / ratio), free, spare_tokens), 0)

    async def _digest(
        self, governor: Governor, first: Sequence[recovery.Planner], trigger: str
    ) -> tuple[EditEntry, ...]:
        """The same without a model, what is restored in a message of its own behind it."""
        budget, ratio = governor.budget, governor.calibration.ratio

        def digest(view: View) -> Sequence[Edit]:
            if trigger == "auto":
                return condense.plan(
                    view,
                    budget,
                    governor.goal,
                    governor.addresses,
                    ratio=ratio,
                )
            by = "reactive" if trigger == "reactive" else "compact"
            return recovery.compaction(view, budget, by=by, reason=_WHY[trigger], ratio=ratio)

        after = governor.planned(*first, digest)
        saved = governor.view.total.tokens - after.total.tokens
        if saved <= 0:
            return ()
        shown = shown_text(after.slots())
        facts = must_keep(governor.ledger)
        lost = missing(facts, shown)
        told, added = behind(
            governor,
            lost,
            # No prose takes its share; the digest's own text has a budget of its own.
            min(int(budget.share(PROSE_SHARE + FACTS_SHARE) / ratio), saved // 2),
            index=False,
        )
        restored = await self.restorer.restored(
            room_tokens=max(min(int(budget.share(budget.restore_share) / ratio), saved // 3), 0),
            ledger=governor.ledger,
            meter=governor.meter,
            shown=shown,
        )
        text = "\n".join(part for part in (told, restored) if part)

        def restore(view: View) -> Sequence[Edit]:
            made = next((s.entry for s in reversed(view.slots()) if s.made), None)
            if not text or made is None:
                return []
            op = Insert(made, user(text, origin=Origin.SUMMARY))
            return [Edit(by="restore", reason="facts and live state", ops=(op,))]

        edits = await governor.edit(*first, digest, restore)
        self._report(facts, lost, added, trigger=trigger)
        return edits

    async def _from_notes(self, governor: Governor) -> tuple[EditEntry, ...]:
        """A compaction without a model call, where the notes cover what would leave."""
        assert self.notes is not None
        found = await self.notes()
        if found is None:
            return ()
        plan = notes_pass.plan(governor.view, governor.budget, found, governor.calibration.ratio)
        if plan is None:
            return ()
        shown = shown_text(plan.standing)
        facts = must_keep(governor.ledger)
        lost = missing(facts, f"{shown}\n{found.text}")
        ratio = governor.calibration.ratio
        facts_tokens = int(governor.budget.share(FACTS_SHARE) / ratio)
        added_text, added = behind(governor, lost, facts_tokens)
        saved = plan.gone_tokens - governor.meter.text(found.text) - facts_tokens
        if saved <= 0:
            return ()
        restored = await self.restorer.restored(
            room_tokens=min(int(governor.budget.share(governor.budget.restore_share)), saved // 2),
            ledger=governor.ledger,
            meter=governor.meter,
            shown=shown,
        )
        message = compacted(
            prose=found.text,
            request=governor.view.request_text(),
            facts=added_text,
            restored=restored,
            last_entry=plan.last_entry,
            addresses=governor.addresses,
        )
        if governor.planned(lambda view: [plan.edit(message)]).total.tokens >= int(
            governor.goal.limit.tokens
        ):
            return ()
        edits = await governor.edit(lambda view: [plan.edit(message)])
        text = f"from the session notes, which cover {plan.covered} messages"
        self._tell("compaction.notes", text)
        self._report(facts, lost, added, trigger="auto")
        return edits

    def _report(
        self,
        facts: Sequence[Fact],
        lost: Sequence[Fact],
        added: Sequence[Fact],
        **fields: object,
    ) -> None:
        """What became of the must-keep facts."""
        found = Retention(
            kept=len(facts) - len(lost), added=len(added), by_address=len(lost) - len(added)
        )
        text = (
            f"{found.total} facts: {found.kept} kept, {found.added} added back, "
            f"{found.by_address} by address"
        )
        told = {"kept": found.kept, "added": found.added, "by_address": found.by_address}
        self._tell("compaction.retention", text, **told, **fields)

    def _tell(self, name: str, text: str, **fields: object) -> None:
        self.watch(Event(name=name, text=text, fields=fields))


_WHY: Final = {
    "manual": "asked for",
    "model": "asked for by the model",
    "auto": "over the limit",
    "reactive": "refused as too long",
}


def due(governor: Governor) -> bool:
    """Whether the passes would have to make a digest for the next call."""
    budget, load = governor.budget, governor.view.total
    over = governor.tokens > budget.limit_tokens or load.bytes > budget.limit_bytes
    over = over or (budget.limit_chars is not None and load.chars > budget.limit_chars)
    if not over and not governor.cut_is_due:
        return False
    try:
        return "digest" in governor.preview()
    except CannotFit:
        return False


def _first_plans(governor: Governor, trigger: str) -> tuple[recovery.Planner, ...]:
    """What is done before: a budget that shortens at once does so first where the limit presses."""
    if trigger != "auto" or not governor.budget.at_once:
        return ()
    aim = governor.goal
    return (lambda view: microcompact.plan(view, governor.budget, aim, governor.addresses),)


def behind(
    governor: Governor, lost: Sequence[Fact], room_tokens: int, *, index: bool = True
) -> tuple[str, tuple[Fact, ...]]:
    """What stands behind a summary: the facts it lacks, then the names in use."""
    budget = governor.budget
    chars = room_tokens * CHARS_A_TOKEN
    room = Room(
        chars=chars,
        file_name_chars=min(budget.file_name_chars, chars // 16),
        identifier_chars=min(budget.identifier_chars, chars // 8),
    )
    names = "\n".join(name_index(governor.ledger, room)) if index else ""
    chars = room_tokens * _MOST_CHARS_A_TOKEN
    while True:
        text, taken = listed(lost, room_chars=max(chars - len(names), 0))
        if taken:
            text = f"From the log, with entry numbers:\n{scrub(text)[0]}"
        whole = "\n".join(part for part in (text, names) if part)
        if governor.meter.text(whole) <= room_tokens or not chars:
            return whole, taken
        chars = chars * 7 // 8


__all__ = ["FAILED", "Span", "Summarizer", "due", "span_of"]
