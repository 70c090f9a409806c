"""The context over time: one point a request, for the drawing and the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from wayfare.context.pipeline import Governor, Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One request: tokens sent, tokens by origin (as the runtime measures), edits by pass."""

    step: int
    tokens: int
    believed_tokens: int
    by_origin: Mapping[str, int]
    edits: Mapping[str, int] = field(default_factory=dict[str, int])
    before_tokens: int = 0
    after_tokens: int = 0
    refused: bool = False


def point(governor: Governor, prepared: Prepared, sent_tokens: int, *, refused: bool) -> Point:
    """What a request looked like."""
    by_origin: Counter[str] = Counter()
    for slot in governor.view:
        by_origin[str(slot.message.origin)] += slot.load.tokens
    if governor.fixed_tokens:
        by_origin["system"] += governor.fixed_tokens
    return Point(
        step=governor.view.step,
        tokens=sent_tokens,
        believed_tokens=prepared.tokens,
        by_origin=dict(by_origin),
        edits=dict(Counter(entry.by for entry in prepared.edits)),
        before_tokens=prepared.edits[0].before if prepared.edits else 0,
        after_tokens=prepared.edits[0].after if prepared.edits else 0,
        refused=refused,
    )
