"""The context over time: one point a request, for the drawing and the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wayfare.context.pipeline import Governor, Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class EditNote:
    """One edit that was committed for a request: the pass that made it, and why."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One request.

    Args:
        step: How many replies the model had given before it.
        tokens: What the provider counted.
        believed_tokens: What the runtime believed it would take.
        chars: Characters of its messages, as the runtime measures them.
        by_origin: Tokens by who authored them, as the runtime's meter estimates them; they add up
            to about `tokens`.
        edits: What was committed for it, in order.
        before_tokens: The context before these edits, as believed; 0 where there are none.
        after_tokens: And after them.
        refused: Whether the provider refused it.
        cost: What the session has cost up to here, this request included, in input tokens.
        entered_tokens: What a request with everything that entered so far would take.
    """

    step: int
    tokens: int
    believed_tokens: int
    chars: int
    by_origin: Mapping[str, int]
    edits: tuple[EditNote, ...] = ()
    before_tokens: int = 0
    after_tokens: int = 0
    refused: bool = False
    cost: float = 0.0
    entered_tokens: int = 0

    @property
    def edits_by_pass(self) -> Mapping[str, int]:
        """How many edits each pass made."""
        return Counter(edit.by for edit in self.edits)


def point(
    governor: Governor,
    prepared: Prepared,
    *,
    tokens: int,
    refused: bool,
    cost: float,
    entered_tokens: int,
) -> Point:
    """What a request looked like."""
    by_origin: Counter[str] = Counter()
    for slot in governor.view:
        by_origin[str(slot.message.origin)] += slot.load.tokens
    if governor.fixed_tokens:
        by_origin["system"] += governor.fixed_tokens
    return Point(
        step=governor.view.step,
        tokens=tokens,
        believed_tokens=prepared.tokens,
        chars=governor.view.total.chars,
        by_origin=dict(by_origin),
        edits=tuple(EditNote(by=entry.by, reason=entry.reason) for entry in prepared.edits),
        before_tokens=prepared.edits[0].before if prepared.edits else 0,
        after_tokens=prepared.edits[0].after if prepared.edits else 0,
        refused=refused,
        cost=cost,
        entered_tokens=entered_tokens,
    )
