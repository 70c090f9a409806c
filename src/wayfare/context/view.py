"""The view: the fold of a transcript into what the model will see next.

A `View` is a value. Adding an entry gives another view; views that only grew share their slots,
so a step costs what it brought and not what came before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayfare.context import ops
from wayfare.messages import Message, Origin
from wayfare.store import Ref
from wayfare.tokens import Load, Meter
from wayfare.transcript import Collapse, EditEntry, Entered, Insert


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One message of the view, with where it comes from.

    `entry` is the number of its message entry, or of the edit that made it (`made`). `shortened`
    are the numbers of blocks that show a stand-in of ours. `index` holds, once blocks were
    dropped or moved, the original number of each block that is left.
    """

    entry: int
    time: float
    message: Message
    load: Load
    step: int
    refs: Mapping[int, Ref] = field(default_factory=dict[int, Ref])
    edits: tuple[int, ...] = ()
    shortened: frozenset[int] = frozenset()
    index: tuple[int, ...] | None = None
    made: bool = False

    def block_number(self, position: int) -> int:
        """The original number of the block now at `position`."""
        return position if self.index is None else self.index[position]


@dataclass(frozen=True, slots=True)
class View:
    """The messages the model will see next, oldest first.

    `step` counts assistant replies; `changed_from` is the first position that an edit touched
    since the prefix was last sent (None: it only grew); `active_request` is the entry of the
    newest message in the user's own words.
    """

    meter: Meter
    total: Load = Load()
    step: int = 0
    active_request: int = 0
    edits: int = 0
    _slots: list[Slot] = field(default_factory=list[Slot])
    _length: int = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Slot]:
        for at in range(self._length):
            yield self._slots[at]

    def __getitem__(self, at: int) -> Slot:
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return self._slots[at if at >= 0 else self._length + at]

    def slots(self, start: int = 0, stop: int | None = None) -> list[Slot]:
        """The slots from `start` to `stop`, as a new list."""
        return self._slots[start : self._length if stop is None else min(stop, self._length)]

    def messages(self) -> list[Message]:
        """The messages, as a new list."""
        return [slot.message for slot in self._slots[: self._length]]

    def position(self, entry: int) -> int | None:
        """Where the slot of `entry` stands; searched from the end, where edits mostly are."""
        for at in range(self._length - 1, -1, -1):
            if self._slots[at].entry == entry:
                return at
        return None

    def added(self, entered: Entered) -> View:
        """With one more message."""
        message = entered.message
        step = self.step + 1 if message.role == "assistant" else self.step
        slot = Slot(
            entry=entered.id,
            time=entered.time,
            message=message,
            load=self.meter.message(message),
            step=step,
            refs=entered.refs,
        )
        slots = self._slots
        if len(slots) != self._length:
            slots = slots[: self._length]
        slots.append(slot)
        return replace(
            self,
            total=self.total + slot.load,
            step=step,
            active_request=entered.id if message.origin is Origin.USER else self.active_request,
            _slots=slots,
            _length=self._length + 1,
        )

    def edited(self, entry: EditEntry) -> View:
        """With an edit applied. What it names and is not in the view is passed over."""
        slots = self.slots()
        total = self.total
        for op in entry.ops:
            total = self._apply(op, entry, slots, total)
        return replace(self, total=total, edits=self.edits + 1, _slots=slots, _length=len(slots))

    def _apply(self, op: object, entry: EditEntry, slots: list[Slot], total: Load) -> Load:
        if isinstance(op, Insert):
            made = self._made(op.message, entry, slots, op.after)
            after = _find(slots, op.after) if op.after else -1
            if after is None:
                return total
            slots.insert(after + 1, made)
            return total + made.load
        if isinstance(op, Collapse):
            first, last = _find(slots, op.first), _find(slots, op.last)
            if first is None or last is None or last < first:
                return total
            gone = slots[first : last + 1]
            kept = [slot for slot in gone if slot.entry in op.keep]
            made = self._made(op.message, entry, slots, op.last)
            slots[first : last + 1] = [made, *kept]
            for slot in gone:
                total -= slot.load
            for slot in kept:
                total += slot.load
            return total + made.load
        at = _find(slots, op.entry)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        if at is None:
            return total
        old = slots[at]
        shown = ops.rendered(old.message, old.index, op)
        if shown is None:
            del slots[at]
            return total - old.load
        message, index = shown
        new = replace(
            old,
            message=message,
            index=index,
            load=self.meter.message(message),
            edits=(*old.edits, entry.id),
            shortened=old.shortened | ops.shortens(op),
        )
        slots[at] = new
        return total - old.load + new.load

    def _made(self, message: Message, entry: EditEntry, slots: Sequence[Slot], near: int) -> Slot:
        at = _find(slots, near)
        return Slot(
            entry=entry.id,
            time=entry.time,
            message=message,
            load=self.meter.message(message),
            step=slots[at].step if at is not None else 0,
            edits=(entry.id,),
            made=True,
        )


def _find(slots: Sequence[Slot], entry: int) -> int | None:
    for at in range(len(slots) - 1, -1, -1):
        if slots[at].entry == entry:
            return at
    return None
