"""A plan: edits decided so far and the view as it will be with them, nothing committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayfare.context.groups import groups
from wayfare.context.rendering import Rendering
from wayfare.context.signed import unbound
from wayfare.context.slot import Slot
from wayfare.context.view import View
from wayfare.messages import Message, Origin, Text
from wayfare.transcript import Collapse, DropBlocks, Edit, EditEntry, Insert, Op
from wayfare.transcript.entries import VERSION

UNTOUCHED = 1 << 62


@dataclass(slots=True, kw_only=True)
class Plan:
    """Edits gathered so far; `touched` is the first position any of them touches.

    `next_id` is the number the first edit will get in the log, `time` when.
    """

    view: View
    rendering: Rendering
    next_id: int
    time: float
    edits: list[Edit] = field(default_factory=list[Edit])
    touched: int = UNTOUCHED

    def take(self, edits: Sequence[Edit]) -> None:
        """Put edits in, all planned on the view as it stands."""
        if not edits:
            return
        slots = self.view.slots()
        places = {slot.entry: at for at, slot in enumerate(slots)}
        found = [at for edit in edits for op in edit.ops if (at := _where(op, places)) is not None]
        at = min(found, default=len(slots))
        whole = list(edits)
        drops = unbound(edits, slots, places, at)
        told: list[Edit] = []
        if drops or any(edit.by == "signed" for edit in edits):
            told = _told(edits, slots, at, self.rendering.addresses.contents)
            # It stands in front of the step that is touched: what that step signed goes, too.
            at = min([at, *(_where(op, places) or 0 for edit in told for op in edit.ops)])
            drops = unbound(edits, slots, places, at)
        if drops:
            # In front: a digest is made from what stands when everything else has been done.
            whole.insert(0, Edit(by="signed", reason="reasoning bound to what changed", ops=drops))
        # Behind the rest: a result that a repair puts in stands directly behind its call.
        whole += told
        self.touched = min(self.touched, at)
        entries = [self._predicted(edit, n) for n, edit in enumerate(whole)]
        self.edits += whole
        self.view = self.view.edited(entries, self.rendering)

    def copy(self) -> Plan:
        """Another plan that goes on from here."""
        return replace(self, edits=[*self.edits])

    def become(self, other: Plan) -> None:
        """Go on from where a copy went."""
        self.edits, self.view, self.touched = other.edits, other.view, other.touched

    def _predicted(self, edit: Edit, number: int) -> EditEntry:
        return EditEntry(
            v=VERSION,
            id=self.next_id + len(self.edits) + number,
            time=self.time,
            by=edit.by,
            reason=edit.reason,
            ops=edit.ops,
        )


def _where(op: Op, places: Mapping[int, int]) -> int | None:
    """The position an operation touches first."""
    if isinstance(op, Insert):
        at = places.get(op.after) if op.after else -1
        return None if at is None else at + 1
    return places.get(op.first if isinstance(op, Collapse) else op.entry)


def _told(edits: Sequence[Edit], slots: Sequence[Slot], at: int, contents: str) -> list[Edit]:
    """What says where dropped reasoning stands, if nothing else in the context does."""
    if any(isinstance(op, Collapse) for edit in edits for op in edit.ops):
        return []
    if any(slot.made and slot.message.origin is Origin.SUMMARY for slot in slots):
        return []
    start = max((g.start for g in groups(slots) if g.start <= at), default=0)
    text = f"[Reasoning of earlier steps left out; all of it: {contents}]"
    message = Message(role="user", blocks=(Text(text=text),), origin=Origin.SUMMARY)
    insert = Insert(slots[start - 1].entry if start else 0, message)
    return [Edit(by="signed", reason="reasoning left out", ops=(insert,))]


def reached(edits: Iterable[Edit | EditEntry]) -> int:
    """The last entry whose text edits take out of sight and leave to the table of contents."""
    last = 0
    for edit in edits:
        ops = edit.ops
        if edit.by == "repair" or not any(isinstance(op, Collapse | DropBlocks) for op in ops):
            continue
        for op in ops:
            last = max(last, op.last if isinstance(op, Collapse) else getattr(op, "entry", 0))
    return last
