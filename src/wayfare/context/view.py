"""The view: the fold of a transcript into what the model will see next.

A `View` is a value. Adding an entry gives another view; views that only grew share their lists,
so a step costs what it brought and not what came before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wayfare.context.facts import holds_request
from wayfare.context.folding import Fold, request_text
from wayfare.context.rendering import Rendering
from wayfare.context.slot import Slot
from wayfare.context.tool_use import Declared, ToolUse, tool_use
from wayfare.messages import Message, Origin
from wayfare.tokens import Load, Meter
from wayfare.transcript import EditEntry, Entered


@dataclass(frozen=True, slots=True)
class View:
    """The messages the model will see next, oldest first.

    `step` counts assistant replies, `edits` the edits applied. `active_request` is the entry of
    the newest message that is the user's alone, `aside` that of a newer one in which the user
    says a word beside results (0: none).
    """

    meter: Meter
    declared: Declared | None = None
    total: Load = Load()
    step: int = 0
    active_request: int = 0
    aside: int = 0
    edits: int = 0
    _slots: list[Slot] = field(default_factory=list[Slot])
    _messages: list[Message] = field(default_factory=list[Message])
    _upto: list[int] = field(default_factory=list[int])
    """Tokens of each slot and all in front of it."""
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
        return self._messages[: self._length]

    def tokens_from(self, position: int) -> int:
        """Raw tokens of what stands at `position` and behind it."""
        if position >= self._length:
            return 0
        return self.total.tokens - (self._upto[position - 1] if position > 0 else 0)

    def position(self, entry: int) -> int | None:
        """Where the slot of `entry` stands; searched from the end, where edits mostly are."""
        for at in range(self._length - 1, -1, -1):
            if self._slots[at].entry == entry:
                return at
        return None

    @property
    def active(self) -> tuple[int, ...]:
        """The entries of the user's words that hold now, oldest first."""
        return tuple(entry for entry in (self.active_request, self.aside) if entry)

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
            uses=self._uses(message),
        )
        grown = self if len(self._slots) == self._length else self._copied()
        grown._slots.append(slot)
        grown._messages.append(message)
        total = grown.total + slot.load
        grown._upto.append(total.tokens)
        active, aside = _active(entered, self.active_request, self.aside)
        return replace(
            grown,
            total=total,
            step=step,
            active_request=active,
            aside=aside,
            _length=self._length + 1,
        )

    def holding(self, slots: Sequence[Slot]) -> View:
        """The same view with other slots."""
        upto: list[int] = []
        load = Load()
        for slot in slots:
            load += slot.load
            upto.append(load.tokens)
        return replace(
            self,
            total=load,
            _slots=[*slots],
            _messages=[slot.message for slot in slots],
            _upto=upto,
            _length=len(slots),
        )

    def _copied(self) -> View:
        """The same view with lists of its own, for one that another view has outgrown."""
        return replace(
            self,
            _slots=self._slots[: self._length],
            _messages=self._messages[: self._length],
            _upto=self._upto[: self._length],
        )

    def _uses(self, message: Message) -> Mapping[str, ToolUse]:
        """What the calls of a message are about, or those that its results answer."""
        if message.role == "assistant":
            return {call.id: tool_use(call, self.declared) for call in message.calls}
        wanted = {result.call_id for result in message.results}
        found: dict[str, ToolUse] = {}
        at = self._length - 1
        while wanted and at >= 0 and self._slots[at].message.results:
            at -= 1
        while wanted and at >= 0 and self._slots[at].message.role == "assistant":
            for id in wanted & self._slots[at].uses.keys():
                found.setdefault(id, self._slots[at].uses[id])
            at -= 1
        return found

    def request_text(self) -> str:
        """The user's words that hold now, as they are shown."""
        return request_text(self.slots(), self.active)

    def edited(self, entries: Sequence[EditEntry], rendering: Rendering) -> View:
        """With edits applied, in their order. What they name and is not there is passed over."""
        fold = Fold(self.slots(), self.meter, rendering, self.active)
        for entry in entries:
            fold.apply(entry)
        slots = fold.slots()
        upto: list[int] = []
        tokens = 0
        for slot in slots:
            tokens += slot.load.tokens
            upto.append(tokens)
        return replace(
            self,
            total=self.total + fold.change,
            edits=self.edits + len(entries),
            _slots=slots,
            _messages=[slot.message for slot in slots],
            _upto=upto,
            _length=len(slots),
        )


def _active(entered: Entered, request: int, aside: int) -> tuple[int, int]:
    """The entries of the user's newest request and of a word said beside results since."""
    message = entered.message
    if message.origin is not Origin.USER:
        return request, aside
    if not message.results:
        return entered.id, 0
    return request, entered.id if holds_request(message) else aside


def prompts(view: View) -> int:
    """How many messages in front are the system prompt, where it is sent as messages."""
    return next((at for at, slot in enumerate(view) if not slot.is_prompt), len(view))
