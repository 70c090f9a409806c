"""The ladder: what follows when a provider refuses a request as too long.

One rung per refusal, each leaving a smaller request, never the same bytes twice:

1. reactive compaction: the older history becomes a digest, about the last five messages stay;
2. fit: every text is cut, the newest message too;
3. digest only: nothing but the digest, the user's request and the open step, all cut hard;
4. one error that names what takes the room.

A rung that cannot make the request smaller is passed over without being sent. The window a refusal
names is believed from then on, and the size it names corrects the estimate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from wayfare.context.budget import SMALLEST_WINDOW_TOKENS, Budget, Goal
from wayfare.context.groups import groups, open_step
from wayfare.context.passes import condense, fit
from wayfare.context.pipeline import Governor, Prepared
from wayfare.context.view import Slot, View, prompts
from wayfare.context.words import kept_words
from wayfare.errors import CannotFit, PromptTooLong
from wayfare.events import Event, Watched
from wayfare.messages import Thinking
from wayfare.tokens import Load
from wayfare.transcript import Collapse, DropBlocks, Edit, EditEntry

Planner: TypeAlias = Callable[[View], Sequence[Edit]]
Compact: TypeAlias = Callable[[], Awaitable[Sequence[EditEntry]]]

REACTIVE: Final = "reactive compaction"
"""Name of the first rung."""

_PRESSED_SHARE: Final = 0.5
"""Of a request that was refused without a number, so much is tried next: halving finds any window
in a few steps."""
_SAFETY_SHARE: Final = 0.9
"""Of a window that is known, so much is used: two counters of tokens differ by some percent."""
_CHARS_A_TOKEN: Final = 3
_DIGEST_SHARE: Final = 0.15
_FAR: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One way to make a request smaller."""

    name: str
    plans: tuple[Planner, ...]


def compaction(
    view: View, budget: Budget, *, by: str, reason: str, ratio: float = 1.0
) -> list[Edit]:
    """One edit that makes a digest of all but about the last five messages.

    Pairs stay whole, the open step and the user's words stay as they are. Used for `/compact`, for
    the model's `compact` and as the first rung. Empty where it would not shrink anything.
    """
    slots = view.slots()
    head = next((at for at, s in enumerate(slots) if not s.is_prompt), 0)
    most_tokens = min(budget.reactive_keep_tokens, budget.share(budget.tail_share)) / ratio
    cut_at = recent_start(slots, budget.reactive_keep_messages, most_tokens)
    older = slots[head:cut_at]
    if not older:
        return []
    keep = kept_words(view, older, budget.share(budget.user_share) / ratio)
    gone = [slot for slot in older if slot.entry not in keep]
    chars = min(max(int(budget.limit_tokens * _DIGEST_SHARE) * _CHARS_A_TOKEN, 600), 12_000)
    # A digest as long as what it replaces saves nothing; a short one still does.
    chars = min(chars, sum(slot.load.chars for slot in gone) // 2)
    if chars < 200:
        return []
    room = (
        chars,
        min(budget.file_name_chars, chars // 4),
        min(budget.identifier_chars, chars // 3),
    )
    form = "reactive" if by == "reactive" else "digest"
    op = Collapse(older[0].entry, older[-1].entry, keep=keep, form=form, room=room)
    return [Edit(by=by, reason=f"{len(gone)} messages, {reason}", ops=(op,))]


def recent_start(slots: Sequence[Slot], most_messages: int, most_tokens: float) -> int:
    """Where the kept tail begins: whole step groups, at least the open step."""
    at = open_step(slots)
    used = sum(slot.load.tokens for slot in slots[at:])
    for group in reversed(groups(slots[:at])):
        used += sum(slot.load.tokens for slot in group.of(slots))
        if used > most_tokens or len(slots) - group.start > most_messages:
            break
        at = group.start
    return at


class Ladder:
    """The rungs for one model call; a call that succeeds leaves its ladder behind.

    Args:
        governor: Of the session.
        watch: Told of every rung.
        fixed: What system prompt, tools and index take, in tokens, by name: for the error.
        reactive: Makes the first rung by a summary; where it does nothing, a digest stands in.
    """

    def __init__(
        self,
        governor: Governor,
        *,
        watch: Watched,
        fixed: Mapping[str, int] | None = None,
        reactive: Compact | None = None,
    ) -> None:
        self._governor = governor
        self._watch = watch
        self._fixed = dict(fixed or {})
        self._reactive = reactive
        self._climbed = 0
        self._sends = 1

    async def climb(self, refused: Prepared, refusal: PromptTooLong) -> Prepared:
        """A smaller request than the refused one.

        Raises:
            CannotFit: no rung is left; names what takes the room.
            WriteFailed: what had to leave the context could not be archived.
        """
        governor = self._governor
        before = governor.view.total
        learn(governor, refusal)
        for rung in rungs(governor, before, refusal)[self._climbed :]:
            if self._sends >= governor.budget.sends_a_call:
                break
            self._climbed += 1
            made: Sequence[EditEntry] = ()
            if rung.name == REACTIVE and self._reactive is not None:
                made = await self._reactive()
            if not made:
                await governor.edit(*rung.plans)
            prepared = await governor.prepare()
            after = governor.view.total
            if _smaller(after, before):
                self._sends += 1
                self._tell(rung, refusal, refused.tokens, prepared.tokens)
                return prepared
        raise self._cannot_fit(refused, refusal)

    def _tell(self, rung: Rung, refusal: PromptTooLong, before: int, after: int) -> None:
        fields = {
            "rung": rung.name,
            "send": self._sends,
            "before_tokens": before,
            "after_tokens": after,
            "limit_tokens": refusal.limit_tokens,
            "sent_tokens": refusal.sent_tokens,
        }
        text = f"refused as too long; {rung.name}: {before:,} → {after:,} tokens"
        self._watch(Event(name="context.rung", text=text, fields=fields))

    def _cannot_fit(self, refused: Prepared, refusal: PromptTooLong) -> CannotFit:
        window = self._governor.budget.window_tokens
        error = cannot_fit(
            self._governor,
            self._fixed,
            f"the model refuses every request as too long, {self._sends} sent, the last of about "
            f"{refused.tokens:,} tokens against a window of {window:,}",
        )
        error.__cause__ = refusal
        return error


def cannot_fit(governor: Governor, fixed: Mapping[str, int], text: str) -> CannotFit:
    """The error at the end of the ladder: `text`, and what takes the room, part by part."""
    parts = shares(governor, fixed)
    named = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items())
    window = governor.budget.window_tokens
    return CannotFit(f"{text}: {named}", window_tokens=window, by_part=parts)


def _smaller(after: Load, before: Load) -> bool:
    return after.tokens < before.tokens and after.bytes < before.bytes


def rungs(governor: Governor, refused: Load, refusal: PromptTooLong) -> tuple[Rung, ...]:
    """The rungs, in order, for a request whose messages had the load `refused`."""
    budget, addresses = governor.budget, governor.addresses
    share = _pressed(governor, refusal)
    ratio = governor.calibration.ratio

    def pressed(view: View, part: float) -> Goal:
        limit = Load(int(refused.tokens * share * part), _FAR, budget.limit_bytes)
        return Goal(limit=limit, target=limit)

    def cut(preview_chars: int, part: float) -> Planner:
        return lambda view: fit.plan(
            view,
            budget,
            pressed(view, part),
            addresses,
            preview_chars=preview_chars,
            requests=not preview_chars,
        )

    def reactive(view: View) -> Sequence[Edit]:
        return compaction(view, budget, by="reactive", reason="refused as too long", ratio=ratio)

    def digest_only(view: View) -> Sequence[Edit]:
        return condense.plan(
            view,
            budget,
            pressed(view, 0.5),
            addresses,
            tail_tokens=0,
            ratio=ratio,
            room_share=0.25,
        )

    return (
        Rung(name=REACTIVE, plans=(reactive,)),
        Rung(
            name="fit",
            plans=(cut(budget.fit_preview_chars, 1.0), cut(budget.fit_preview_chars // 4, 1.0)),
        ),
        Rung(name="digest only", plans=(digest_only, cut(0, 0.25))),
    )


def _pressed(governor: Governor, refusal: PromptTooLong) -> float:
    """The share of the refused request that may be left."""
    limit, sent = refusal.limit_tokens, refusal.sent_tokens
    if limit is None or not sent or sent <= limit:
        return _PRESSED_SHARE
    reserve = min(governor.budget.reserve_tokens, limit // 4)
    return min(max((limit - reserve) / sent * _SAFETY_SHARE, 0.05), _SAFETY_SHARE)


def learn(governor: Governor, refusal: PromptTooLong) -> None:
    """Believe the window a refusal names when it is smaller than ours, and the size it counted."""
    if refusal.sent_tokens:
        estimated = governor.view.total.tokens + governor.fixed_tokens
        governor.calibration = governor.calibration.after(
            estimated_tokens=estimated, actual_tokens=refusal.sent_tokens
        )
    limit = refusal.limit_tokens
    if limit is not None and limit < governor.budget.window_tokens:
        governor.budget = narrowed(governor.budget, limit)


def narrowed(budget: Budget, window_tokens: int) -> Budget:
    """The same budget for a smaller window; reserve and buffer shrink with it."""
    window_tokens = max(window_tokens, SMALLEST_WINDOW_TOKENS)
    return budget.with_(
        window_tokens=window_tokens,
        reserve_tokens=min(budget.reserve_tokens, window_tokens // 4),
        buffer_tokens=min(budget.buffer_tokens, window_tokens // 10),
    )


def shares(governor: Governor, fixed: Mapping[str, int]) -> dict[str, int]:
    """What takes the room of the request, in tokens by name; adds up to the whole of it."""
    ratio = governor.calibration.ratio
    view = governor.view
    front = prompts(view)
    newest = view[-1].load.tokens if len(view) > front else 0
    prompt = sum(slot.load.tokens for slot in view.slots()[:front])
    unnamed = governor.fixed_tokens - sum(fixed.values()) + prompt
    parts = {name: round(tokens * ratio) for name, tokens in fixed.items()}
    if unnamed > 0:
        parts["system and tools"] = round(unnamed * ratio)
    parts["newest message"] = round(newest * ratio)
    parts["other messages"] = round((view.total.tokens - newest - prompt) * ratio)
    return parts


def without_reasoning(view: View) -> list[Edit]:
    """Edits that take all reasoning out of the request, for a provider that refuses it.

    Signed blocks go stale when a history moved to another model or endpoint.
    """
    edits: list[Edit] = []
    for slot in view:
        blocks = tuple(
            slot.block_number(at)
            for at, block in enumerate(slot.message.blocks)
            if isinstance(block, Thinking)
        )
        if blocks:
            op = DropBlocks(slot.entry, blocks)
            edits.append(Edit(by="repair", reason="reasoning the provider refuses", ops=(op,)))
    return edits
