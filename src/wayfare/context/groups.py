"""Step groups: the smallest runs of messages that stay or leave together.

A group is one or more assistant messages in a row with the results that answer their calls, or
a single other message. Between groups no call is open and no reasoning stands apart from what it
led to, so a context may be cut there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.context.slot import Slot
from wayfare.messages import Message, Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Slots `start` up to, not including, `stop`."""

    start: int
    stop: int
    is_step: bool
    """Whether it is a model's step rather than a message that stands alone."""

    def of(self, slots: Sequence[Slot]) -> Sequence[Slot]:
        """The slots of the group."""
        return slots[self.start : self.stop]


def groups(slots: Sequence[Slot], start: int = 0) -> list[Group]:
    """The groups from position `start`, which must be the start of one, to the end."""
    found: list[Group] = []
    at = start
    while at < len(slots):
        stop = at + 1
        is_step = slots[at].message.role == "assistant"
        if is_step:
            stop = _end_of_reply(slots, at)
            while stop < len(slots) and carries_results(slots[stop]):
                stop += 1
        found.append(Group(start=at, stop=stop, is_step=is_step))
        at = stop
    return found


def _end_of_reply(slots: Sequence[Slot], start: int) -> int:
    """Where the assistant messages end that are one reply, the first of them at `start`."""
    called: set[str] = set()
    for at in range(start, len(slots)):
        message = slots[at].message
        ids = {call.id for call in message.calls}
        if message.role != "assistant" or (called and (_reasons_first(message) or ids & called)):
            return at
        if ids and message.format == "openai-chat":
            return at + 1  # The format wants the results directly behind this very message.
        called |= ids
    return len(slots)


def _reasons_first(message: Message) -> bool:
    """Whether a reply begins with the message: a model reasons before it calls, never after."""
    first = message.blocks[0] if message.blocks else None
    return isinstance(first, Thinking) and first.bound


def carries_results(slot: Slot) -> bool:
    """Whether the message answers calls."""
    return bool(slot.message.results)


def tail_start(slots: Sequence[Slot], tail_tokens: float) -> int:
    """Where a tail of at most so many raw tokens begins: whole groups, at least the open step."""
    at = open_step(slots)
    used = sum(slot.load.tokens for slot in slots[at:])
    for group in reversed(groups(slots[:at])):
        used += sum(slot.load.tokens for slot in group.of(slots))
        if used > tail_tokens:
            break
        at = group.start
    return at


def open_step(slots: Sequence[Slot]) -> int:
    """Where the newest step begins whose results the model has not answered; the length if the
    newest message is not a result."""
    if not slots or not carries_results(slots[-1]):
        return len(slots)
    at = len(slots) - 1
    while at > 0 and carries_results(slots[at]):
        at -= 1
    while at > 0 and slots[at - 1].message.role == "assistant":
        at -= 1
    return groups(slots, at)[-1].start
