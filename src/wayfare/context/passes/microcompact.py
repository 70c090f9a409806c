"""Microcompact: consumed results become one line that says what they were and where they stand.

*Consumed* means that the model has answered after seeing them. Long string arguments of consumed
calls, the bodies of writes and edits, are shortened the same way. What is superseded goes first
(the same file read again or written later), then the oldest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from wayfare.context.budget import Budget, Goal
from wayfare.context.stubs import Addresses, result_text, short_input, stub
from wayfare.context.tool_use import Declared, ToolUse, tool_use
from wayfare.context.view import Slot, View
from wayfare.messages import Media, Message, ToolCall, ToolResult
from wayfare.tokens import Load, media_tokens
from wayfare.transcript import Edit, ShortInput, Stub

_LONG_ARGUMENT_CHARS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something consumed that could be shortened: where, what of, and what that would save."""

    position: int
    slot: Slot
    op: Stub | ShortInput
    saved: Load
    superseded: bool
    use: ToolUse | None


def plan(
    view: View,
    budget: Budget,
    goal: Goal,
    addresses: Addresses,
    declared: Declared | None = None,
) -> list[Edit]:
    """Shorten until the goal's target is met or nothing consumed is left."""
    chosen: list[Candidate] = []
    left = view.total
    ordered = sorted(
        candidates(view, budget, addresses, declared),
        key=lambda c: (not c.superseded, c.position),
    )
    for candidate in ordered:
        if goal.met(left):
            break
        chosen.append(candidate)
        left -= candidate.saved
    if not chosen:
        return []
    chosen.sort(key=lambda c: c.position)
    old = sum(1 for c in chosen if c.superseded)
    reason = f"{len(chosen)} consumed results and arguments, {old} of them superseded"
    return [Edit(by="microcompact", reason=reason, ops=tuple(c.op for c in chosen))]


def candidates(
    view: View, budget: Budget, addresses: Addresses, declared: Declared | None = None
) -> list[Candidate]:
    """Everything in the view that is consumed and worth shortening, oldest first."""
    slots = view.slots()
    consumed = _consumed_before(slots, budget)
    uses: dict[str, ToolUse] = {}
    touched: dict[str, int] = {}
    found: list[Candidate] = []
    for at, slot in enumerate(slots):
        for call in slot.message.calls:
            use = uses[call.id] = tool_use(call, declared)
            if use.path:
                touched[use.path] = at
    uses.clear()
    for at, slot in enumerate(slots[:consumed]):
        for call in slot.message.calls:
            uses[call.id] = tool_use(call, declared)
        found += _results(view, at, slot, budget, addresses, uses, touched)
        found += _arguments(view, at, slot, addresses)
    if budget.keep_results:
        newest = [c for c in found if isinstance(c.op, Stub)][-budget.keep_results :]
        found = [c for c in found if c not in newest]
    return found


def _consumed_before(slots: list[Slot], budget: Budget) -> int:
    """The position from which results are not consumed, or too new to touch."""
    newest = slots[-1].step if slots else 0
    last_reply = next(
        (at for at in range(len(slots) - 1, -1, -1) if slots[at].message.role == "assistant"), 0
    )
    if not budget.keep_steps:
        return last_reply
    old_step = newest - budget.keep_steps
    kept = next((at for at, slot in enumerate(slots) if slot.step > old_step), len(slots))
    return min(last_reply, kept)


def _results(
    view: View,
    at: int,
    slot: Slot,
    budget: Budget,
    addresses: Addresses,
    uses: dict[str, ToolUse],
    touched: dict[str, int],
) -> Iterator[Candidate]:
    for position, block in enumerate(slot.message.blocks):
        if not isinstance(block, ToolResult):
            continue
        use = uses.get(block.call_id)
        if use is not None and not use.compactable:
            continue
        text = result_text(block.content)
        media = sum(media_tokens(b) for b in block.content if isinstance(b, Media))
        if budget.shorten_over_chars and len(text) <= budget.shorten_over_chars and not media:
            continue
        tokens = view.meter.text(text) + media
        if budget.shorten_over_tokens and tokens <= budget.shorten_over_tokens:
            continue
        number = slot.block_number(position)
        line = stub(
            use,
            block,
            addresses.of(slot.refs, slot.entry, number),
            whole=number not in slot.shortened,
        )
        if len(line) >= len(text) and not media:
            continue
        superseded = use is not None and bool(use.path) and touched.get(use.path, at) > at
        yield Candidate(
            position=at,
            slot=slot,
            op=Stub(slot.entry, number),
            saved=_saved(view, slot, block, line),
            superseded=superseded,
            use=use,
        )


def _saved(view: View, slot: Slot, block: ToolResult, line: str) -> Load:
    tokens = view.meter.text(result_text(block.content)) - view.meter.text(line)
    tokens += sum(media_tokens(b) for b in block.content if isinstance(b, Media))
    chars = len(result_text(block.content)) - len(line)
    return Load(tokens, chars, chars)


def _arguments(view: View, at: int, slot: Slot, addresses: Addresses) -> Iterator[Candidate]:
    for position, block in enumerate(slot.message.blocks):
        if not isinstance(block, ToolCall) or not block.input:
            continue
        number = slot.block_number(position)
        if number in slot.shortened:
            continue
        address = f"{addresses.transcript}#{slot.entry}"
        shorter = short_input(dict(block.input), address, _LONG_ARGUMENT_CHARS)
        if shorter is None:
            continue
        saved = view.meter.message(slot.message) - view.meter.message(
            _with_input(slot.message, position, shorter)
        )
        if saved.tokens > 0:
            yield Candidate(
                position=at,
                slot=slot,
                op=ShortInput(slot.entry, number, _LONG_ARGUMENT_CHARS),
                saved=saved,
                superseded=False,
                use=None,
            )


def _with_input(message: Message, position: int, value: dict[str, Any]) -> Message:
    blocks = list(message.blocks)
    old = blocks[position]
    assert isinstance(old, ToolCall)
    blocks[position] = ToolCall(id=old.id, name=old.name, input=value)
    return message.with_blocks(blocks)
