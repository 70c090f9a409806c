"""Folding: what the operations of edits make of the slots of a view.

A batch of edits is applied in one go: places are looked up once, and the list is put together
again only where messages came or went.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from wayfare.context.compacted import prose_of
from wayfare.context.digest import marker
from wayfare.context.rendering import MessageOp, Rendering, rendered
from wayfare.context.slot import Slot
from wayfare.messages import Message
from wayfare.tokens import Load, Meter, total
from wayfare.transcript import Collapse, EditEntry, Insert


class Fold:
    """Edits being applied to a list of slots, which is its own."""

    def __init__(
        self, slots: list[Slot], meter: Meter, rendering: Rendering, active: Sequence[int]
    ) -> None:
        self._cells: list[list[Slot]] = []
        """What stands in the place of each slot the fold began with, and was put behind it."""
        self._front: list[Slot] = []
        self._meter = meter
        self._rendering = rendering
        self._active = active
        self._places: dict[int, int] = {}
        self._moved = False
        self.change = Load()
        self._begin(slots)

    def _begin(self, slots: list[Slot]) -> None:
        self._front = []
        self._cells = [[slot] for slot in slots]
        self._places = {slot.entry: at for at, slot in enumerate(slots)}
        self._moved = False

    def slots(self) -> list[Slot]:
        """The slots as they are now."""
        if not self._moved:
            return [*self._front, *(cell[0] for cell in self._cells)]
        return [*self._front, *(slot for cell in self._cells for slot in cell)]

    def _place(self, entry: int) -> int | None:
        found = self._places.get(entry)
        if found is None and self._moved:
            self._begin(self.slots())
            found = self._places.get(entry)
        return found

    def apply(self, entry: EditEntry) -> None:
        """Take one edit."""
        for op in entry.ops:
            if isinstance(op, Insert):
                self._insert(op, entry)
            elif isinstance(op, Collapse):
                self._collapse(op, entry)
            else:
                self._shape(op, entry)

    def _insert(self, op: Insert, entry: EditEntry) -> None:
        at = self._place(op.after) if op.after else None
        if op.after and at is None:
            return
        step = self._cells[at][0].step if at is not None and self._cells[at] else 0
        made = made_slot(op.message, entry, step, self._meter)
        if at is None:
            self._front.append(made)
        else:
            self._cells[at].append(made)
        self._moved = True
        self.change += made.load

    def _collapse(self, op: Collapse, entry: EditEntry) -> None:
        if self._moved:
            self._begin(self.slots())
        first, last = self._places.get(op.first), self._places.get(op.last)
        if first is None or last is None or last < first:
            return
        gone = [cell[0] for cell in self._cells[first : last + 1]]
        by_entry = {slot.entry: slot for slot in gone}
        front = [by_entry[e] for e in op.front if e in by_entry]
        kept = [slot for slot in gone if slot.entry in op.keep and slot not in front]
        after = [cell[0] for cell in self._cells[last + 1 :]]
        before = [cell[0] for cell in self._cells[:first]]
        span = archived_span(gone)
        message = op.message or marker(
            op,
            span,
            request_text([*before, *gone, *after], self._active),
            seen=[*before, *front, *kept, *after],
            rendering=self._rendering,
            carried=_carried(gone),
        )
        made = replace(made_slot(message, entry, gone[-1].step, self._meter), stands_for=span)
        self.change += total(s.load for s in (*front, made, *kept)) - total(s.load for s in gone)
        self._begin([*before, *front, made, *kept, *after])

    def _shape(self, op: MessageOp, entry: EditEntry) -> None:
        at = self._place(op.entry)
        if at is None or not self._cells[at] or self._cells[at][0].entry != op.entry:
            return
        old = self._cells[at][0]
        where = self._rendering.addresses.where(old.entry, old.refs)
        shown = rendered(old.shown, op, where, old.uses)
        if shown is None:
            del self._cells[at][0]
            self._moved = True
            self.change -= old.load
            return
        new = replace(
            old,
            message=shown.message,
            index=shown.index,
            shortened=shown.shortened,
            load=self._meter.message(shown.message),
            edits=(*old.edits, entry.id),
        )
        self._cells[at][0] = new
        self.change += new.load - old.load


def made_slot(message: Message, entry: EditEntry, step: int, meter: Meter) -> Slot:
    """The slot of a message that an edit makes."""
    return Slot(
        entry=entry.id,
        time=entry.time,
        message=message,
        load=meter.message(message),
        step=step,
        edits=(entry.id,),
        made=True,
    )


def archived_span(slots: Sequence[Slot]) -> tuple[int, int]:
    """The first and last number among entries that `slots` show or stand for."""
    entries = [slot.entry for slot in slots]
    real = [slot.entry for slot in slots if not slot.made]
    # A marker among them stood for entries of its own, which the next one leads to in its place.
    real += [entry for slot in slots for entry in slot.stands_for or ()]
    return (min(real, default=entries[0]), max(real, default=entries[-1]))


def request_text(slots: Iterable[Slot], active: Sequence[int]) -> str:
    """The user's words that hold now, as they are shown."""
    return "\n".join(slot.message.text for slot in slots if slot.entry in active)


def _carried(gone: Sequence[Slot]) -> str:
    """The words of the last summary among slots that leave: a digest hands them on."""
    made = (prose_of(slot.message) for slot in reversed(gone) if slot.made)
    return next((prose for prose in made if prose), "")
