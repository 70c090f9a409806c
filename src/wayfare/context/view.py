"""The view: the fold of a transcript into what the model will see next.

A `View` is a value. Adding an entry gives another view; views that only grew share their slots,
so a step costs what it brought and not what came before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayfare.context.compacted import prose_of
from wayfare.context.digest import marker
from wayfare.context.rendering import MessageOp, Rendering, Shown, rendered
from wayfare.messages import Block, Message, Origin
from wayfare.store import Ref
from wayfare.tokens import Load, Meter, total
from wayfare.transcript import Collapse, EditEntry, Entered, Insert, Stub


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

    @property
    def numbers(self) -> tuple[int, ...]:
        """The original numbers of the blocks shown."""
        return self.index if self.index is not None else tuple(range(len(self.message.blocks)))

    @property
    def shown(self) -> Shown:
        """The message as it is shown."""
        return Shown(message=self.message, index=self.index, shortened=self.shortened)

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
        return find(self._slots if len(self._slots) == self._length else self.slots(), entry)

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

    def edited(self, entry: EditEntry, rendering: Rendering) -> View:
        """With an edit applied. What it names and is not in the view is passed over."""
        slots = self.slots()
        total = self.total
        for op in entry.ops:
            if isinstance(op, Insert):
                total += _insert(slots, op, entry, self.meter)
            elif isinstance(op, Collapse):
                total += self._collapse(slots, op, entry, rendering)
            else:
                total += self._shape(slots, op, entry, rendering)
        return replace(self, total=total, edits=self.edits + 1, _slots=slots, _length=len(slots))

    def _collapse(
        self, slots: list[Slot], op: Collapse, entry: EditEntry, rendering: Rendering
    ) -> Load:
        first, last = find(slots, op.first), find(slots, op.last)
        if first is None or last is None or last < first:
            return Load()
        gone = slots[first : last + 1]
        kept = [slot for slot in gone if slot.entry in op.keep]
        message = op.message or marker(
            op, archived_span(gone), self.request_text(), rendering, _carried(gone)
        )
        made = made_slot(message, entry, gone[-1].step, self.meter)
        slots[first : last + 1] = [made, *kept]
        return made.load + total(s.load for s in kept) - total(s.load for s in gone)

    def _shape(
        self, slots: list[Slot], op: MessageOp, entry: EditEntry, rendering: Rendering
    ) -> Load:
        at = find(slots, op.entry)
        if at is None:
            return Load()
        old = slots[at]
        uses = rendering.uses(asking(slots, at) if isinstance(op, Stub) else old.message)
        address = {n: rendering.addresses.of(old.refs, old.entry, n) for n in old.numbers}
        shown = rendered(old.shown, op, address, uses)
        if shown is None:
            del slots[at]
            return Load() - old.load
        new = replace(
            old,
            message=shown.message,
            index=shown.index,
            shortened=shown.shortened,
            load=self.meter.message(shown.message),
            edits=(*old.edits, entry.id),
        )
        slots[at] = new
        return new.load - old.load

    def request_text(self) -> str:
        """The active request, as it is shown."""
        at = self.position(self.active_request)
        return self._slots[at].message.text if at is not None else ""


def _carried(gone: Sequence[Slot]) -> str:
    """The words of the last summary among slots that leave: a digest hands them on."""
    made = (prose_of(slot.message) for slot in reversed(gone) if slot.made)
    return next((prose for prose in made if prose), "")


def _insert(slots: list[Slot], op: Insert, entry: EditEntry, meter: Meter) -> Load:
    after = find(slots, op.after) if op.after else -1
    if after is None:
        return Load()
    made = made_slot(op.message, entry, slots[after].step if after >= 0 else 0, meter)
    slots.insert(after + 1, made)
    return made.load


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
    return (min(real, default=entries[0]), max(real, default=entries[-1]))


def asking(slots: Sequence[Slot], at: int) -> Message:
    """The assistant message whose calls the results at `at` answer, calls of one step joined."""
    blocks: list[Block] = []
    at -= 1
    while at >= 0 and slots[at].message.results:
        at -= 1
    while at >= 0 and slots[at].message.role == "assistant":
        blocks[:0] = slots[at].message.calls
        at -= 1
    return Message(role="assistant", blocks=tuple(blocks), origin=Origin.ASSISTANT)


def find(slots: Sequence[Slot], entry: int) -> int | None:
    """Where the slot of `entry` stands; searched from the end, where edits mostly are."""
    for at in range(len(slots) - 1, -1, -1):
        if slots[at].entry == entry:
            return at
    return None
