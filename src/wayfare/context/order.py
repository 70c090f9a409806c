"""The passes in their order: one visible list, cheap first, dear last.

Nothing is committed here. What may wait is weighed against the prompt cache it breaks; what the
limit forces is pressed harder level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.context.budget import Budget, Goal
from wayfare.context.passes import condense, fit, microcompact, offload, repair, snip
from wayfare.context.plan import Plan
from wayfare.context.reckoning import Reckoning
from wayfare.context.rhythm import Rhythm
from wayfare.context.scheduler import CachePolicy, Pace
from wayfare.context.signed import left_behind, stale
from wayfare.context.stubs import Addresses
from wayfare.context.view import View, prompts
from wayfare.errors import CannotFit


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a session stands before a call: what the passes look at beside the view.

    Attributes:
        budget: What the context may take.
        addresses: Where its texts stand.
        reckoning: What requests are believed to take.
        rhythm: How the session goes, call by call.
        cache: What is known of the prompt cache.
        now: Unix seconds.
        checked: Positions before it are known to be legal.
        offloaded: Positions before it were looked at for large results.
        sent: So many leading messages stood in the last request.
        spares: Whether signed blocks of an open step were spared by an edit.
        undone: Edits taken back: the first of a batch and the entry that took it back.
    """

    budget: Budget
    addresses: Addresses
    reckoning: Reckoning
    rhythm: Rhythm
    cache: CachePolicy
    now: float
    checked: int
    offloaded: int
    sent: int
    spares: bool
    undone: Sequence[tuple[int, int]]

    def pace(self, tokens: int) -> Pace:
        """How the session goes, with a request of so many tokens."""
        room_tokens = self.budget.limit_tokens - tokens
        return self.rhythm.pace(self.now, room_tokens=room_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """How hard to press: shares of the usual preview, recent tail and digest that may stay, and
    how many of the newest steps stay in any case (None: as the budget says)."""

    preview_share: float
    tail_share: float
    room_share: float
    keep_steps: int | None = None


_LEVELS = (
    _Level(preview_share=1.0, tail_share=1.0, room_share=1.0),
    _Level(preview_share=0.25, tail_share=0.25, room_share=0.5),
    _Level(preview_share=0.0, tail_share=0.0, room_share=0.25),
    _Level(preview_share=0.0, tail_share=0.0, room_share=0.05, keep_steps=0),
)


def run(plan: Plan, standing: Standing) -> None:
    """All passes, in order.

    Raises:
        CannotFit: what may not be shrunk does not fit; names the parts.
    """
    budget = standing.budget
    for stage in repair.STAGES:
        plan.take(stage(plan.view, standing.checked))
    if standing.spares:
        plan.take(left_behind(plan.view.slots()))
    if standing.undone:
        plan.take(stale(plan.view.slots(), standing.undone))
    plan.take(offload.plan(plan.view, budget, standing.offloaded))
    plan.take(snip.plan(plan.view, budget))
    # Whether anything came since the last request, or is to be mended.
    has_more = len(plan.view) > standing.sent or bool(plan.edits)
    aim = standing.reckoning.goal(plan.view, budget)
    if not has_more:
        # A budget of characters is a wish: what it asked for was tried at the last request.
        aim = aim.without_chars()
    if aim.over(plan.view.total):
        _shrink(plan, standing, aim)
        plan.take(snip.plan(plan.view, budget))
    elif has_more and not budget.at_once:
        # What did not pay at the last request does not pay now.
        _economise(plan, standing, aim)
    if plan.edits:
        # What these edits left behind would have to go at the next call: better in one batch.
        plan.take(left_behind(plan.view.slots()))


def cut_is_due(view: View, standing: Standing) -> bool:
    """Whether a cut would be made though the limit does not force it, if it takes out enough."""
    budget, tokens = standing.budget, standing.reckoning.tokens(view)
    target = target_tokens(budget)
    if budget.at_once or tokens <= target:
        return False
    is_cold = standing.cache.cold(standing.pace(tokens))
    if is_cold and tokens > budget.limit_tokens * budget.cold_share:
        return True
    return standing.rhythm.due(standing.cache, target, budget.patience)


def target_tokens(budget: Budget) -> int:
    """What a cut leaves, at most."""
    return int(budget.limit_tokens * budget.stop_share)


def _shrink(plan: Plan, standing: Standing, aim: Goal) -> None:
    """The limit forces it: harder level by level, until the view is within it."""
    budget, addresses = standing.budget, standing.addresses
    if budget.at_once:
        plan.take(microcompact.plan(plan.view, budget, aim, addresses))
    else:
        _condense(plan, standing, aim)
    for level in _LEVELS:
        if not level.preview_share:
            # A budget of characters is a wish, the window is not: only for the window is
            # everything cut, the user's own words among it.
            aim = aim.without_chars()
        if not aim.over(plan.view.total):
            return
        preview_chars = int(budget.fit_preview_chars * level.preview_share)
        plan.take(fit.plan(plan.view, budget, aim, addresses, preview_chars=preview_chars))
        if aim.over(plan.view.total):
            _condense(plan, standing, aim, level)
    # Characters say when to start; only tokens and bytes are what a provider refuses.
    total = plan.view.total
    if total.tokens > aim.limit.tokens or total.bytes > aim.limit.bytes:
        raise _cannot_fit(plan.view, standing)


def _economise(plan: Plan, standing: Standing, aim: Goal) -> None:
    """Nothing forces it, but it costs less than it saves."""
    budget, reckoning = standing.budget, standing.reckoning
    tokens = reckoning.tokens(plan.view)
    if tokens <= target_tokens(budget):
        return
    if cut_is_due(plan.view, standing):
        trial = plan.copy()
        _condense(trial, standing, aim)
        if reckoning.tokens(trial.view) <= tokens * (1 - budget.least_cut_share):
            plan.become(trial)
            return
    plan.take(
        microcompact.plan_paying(
            plan.view,
            budget,
            standing.addresses,
            cache=standing.cache,
            pace=standing.pace(tokens),
            sent=min(standing.sent, plan.touched),
        )
    )


def _condense(plan: Plan, standing: Standing, aim: Goal, level: _Level | None = None) -> None:
    budget, ratio = standing.budget, standing.reckoning.calibration.ratio
    tail = None
    if level is not None:
        tail = int(budget.share(budget.tail_share * level.tail_share) / ratio)
    plan.take(
        condense.plan(
            plan.view,
            budget,
            aim,
            standing.addresses,
            ratio=ratio,
            tail_tokens=tail,
            room_share=level.room_share if level is not None else 1.0,
            keep_steps=level.keep_steps if level is not None else None,
        )
    )


def _cannot_fit(view: View, standing: Standing) -> CannotFit:
    budget, reckoning = standing.budget, standing.reckoning
    front = prompts(view)
    newest = view[-1].load.tokens if len(view) > front else 0
    ratio = reckoning.calibration.ratio
    prompt = sum(slot.load.tokens for slot in view.slots()[:front])
    parts = {
        "system and tools": round((reckoning.fixed_tokens + prompt) * ratio),
        "newest message": round(newest * ratio),
        "other messages": round((view.total.tokens - newest - prompt) * ratio),
        "reserve for the reply": budget.reserve_tokens,
        "buffer": budget.buffer_tokens,
    }
    named = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items())
    return CannotFit(
        f"the request does not fit a window of {budget.window_tokens:,} tokens: {named}",
        window_tokens=budget.window_tokens,
        by_part=parts,
    )
