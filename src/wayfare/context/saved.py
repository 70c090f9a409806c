"""The fold as a value that a checkpoint can hold, and back."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Final

import msgspec

from wayfare import json_text
from wayfare.context.contents import Contents, Waiting
from wayfare.context.facts import Ledger, SavedLedger
from wayfare.context.slot import Slot
from wayfare.context.tool_use import Declared
from wayfare.context.view import View
from wayfare.formats import codec
from wayfare.messages import Message, user
from wayfare.tokens import Meter

_PROBE: Final = user("def probe_of(the_meter): return 12_345  # \u8ba1\u91cf")


class SavedFold(msgspec.Struct, frozen=True, kw_only=True):
    """View, facts and what the table of contents does not list yet. `made_for` tells one meter and
    one set of tools from others, under which the log would fold to something else."""

    made_for: str
    slots: list[Slot]
    step: int
    active_request: int
    aside: int
    edits: int
    ledger: SavedLedger
    waiting: list[Waiting]
    listed: int


def saved(view: View, ledger: Ledger, contents: Contents) -> object:
    """The fold as a value JSON can hold."""
    return SavedFold(
        made_for=_made_for(view.meter, view.declared),
        slots=[replace(slot, message=_told_once(slot.message)) for slot in view.slots()],
        step=view.step,
        active_request=view.active_request,
        aside=view.aside,
        edits=view.edits,
        ledger=ledger.saved(),
        waiting=[*contents.waiting],
        listed=contents.listed,
    )


def restored(
    value: Any, meter: Meter, declared: Declared | None
) -> tuple[View, Ledger, Contents] | None:
    """The fold that `saved` made; None when it is no such value, or was made for another meter or
    other tools."""
    try:
        fold = msgspec.convert(value, SavedFold, str_keys=True)
    except msgspec.ValidationError:
        return None
    if fold.made_for != _made_for(meter, declared):
        return None
    empty = View(
        meter,
        declared,
        step=fold.step,
        active_request=fold.active_request,
        aside=fold.aside,
        edits=fold.edits,
    )
    slots = [replace(slot, message=_whole(slot.message)) for slot in fold.slots]
    ledger = Ledger.restored(fold.ledger, declared)
    return empty.holding(slots), ledger, Contents(fold.waiting, fold.listed)


def _made_for(meter: Meter, declared: Declared | None) -> str:
    """What a fold hangs on beside the log."""
    measured = meter.message(_PROBE)
    told = sorted((declared or {}).items(), key=lambda one: one[0])
    return hashlib.sha256(json_text.dumps([type(meter).__name__, measured, told])).hexdigest()


def _told_once(message: Message) -> Message:
    """The message without blocks where its wire value alone gives them again."""
    return msgspec.structs.replace(message, blocks=()) if _is_its_wire(message) else message


def _is_its_wire(message: Message) -> bool:
    if message.wire is None or message.edited or not message.blocks:
        return False
    read = codec(message.format).decode(message.wire)
    return msgspec.structs.replace(read, origin=message.origin) == message


def _whole(message: Message) -> Message:
    """The message with its blocks, which share its wire value as a codec reads them."""
    wire = message.wire
    if wire is not None and not message.edited and not message.blocks:
        read = codec(message.format).decode(wire)
        return msgspec.structs.replace(read, origin=message.origin)
    return _shared(message)


def _shared(message: Message) -> Message:
    """The message with blocks that share its wire value, as a codec reads them: where a message is
    one item on the wire, its block is that very item."""
    wire = message.wire
    if wire is None or not any(block.wire == wire for block in message.blocks):
        return message
    blocks = tuple(
        msgspec.structs.replace(block, wire=wire) if block.wire == wire else block
        for block in message.blocks
    )
    return msgspec.structs.replace(message, blocks=blocks)
