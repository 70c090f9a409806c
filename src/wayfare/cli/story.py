"""What became of one message of a session: the log folded once more, edit by edit, watching it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from wayfare.context.facts import Ledger
from wayfare.context.rendering import Rendering
from wayfare.context.stubs import Addresses
from wayfare.context.view import Slot, View
from wayfare.tokens import TokenMeter
from wayfare.transcript import (
    AsText,
    Clean,
    Collapse,
    DropBlocks,
    EditEntry,
    HeadTail,
    Insert,
    MessageEntry,
    Omit,
    Op,
    Preview,
    Reorder,
    ShortInput,
    Silent,
    Stub,
    Transcript,
)
from wayfare.transcript.entries import BLOB

_DEEDS: Final[Mapping[type[Any], str]] = {
    Stub: "a result became one line",
    ShortInput: "the long arguments of a call were shortened",
    Silent: "a result that said nothing says so",
    Omit: "it left the context",
    AsText: "a call or a result without its counterpart became plain text",
    Clean: "characters that are no valid Unicode were replaced",
    Reorder: "its blocks were put in order",
}
_BEHIND: Final = "it went behind a marker"
_INSERTED: Final = "a message was put after it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One edit that touched what is watched, in words; `undone` says that it counts no longer."""

    edit: EditEntry
    deeds: tuple[str, ...]
    undone: bool = False


@dataclass(slots=True, kw_only=True)
class Story:
    """What happened to the entries that are watched, and what stands for each of them now."""

    view: View
    happened: list[Happened] = field(default_factory=list[Happened])
    stands_for: dict[int, int] = field(default_factory=dict[int, int])
    """For each entry that went behind a marker, the edit whose marker it is."""

    def slots(self, watched: range) -> dict[int, Slot]:
        """For each entry that is in sight, or has a marker, the message that shows it."""
        shown = {slot.entry: slot for slot in self.view}
        standing = ((entry, shown.get(self.stands_for.get(entry, entry))) for entry in watched)
        return {entry: slot for entry, slot in standing if slot is not None}


async def story(transcript: Transcript, watched: range, block: int | None = None) -> Story:
    """Fold the log, noting every edit that touches an entry in `watched`.

    A marker that an entry went behind is watched in its place. `block` leaves out what was done
    to the other blocks of the entry.
    """
    ledger = Ledger()
    addresses = Addresses(transcript=transcript.path, contents=transcript.contents_path)
    rendering = Rendering(addresses=addresses, ledger=ledger)
    told = Story(view=View(TokenMeter()))
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry):
            entered = await transcript.entered(entry)
            told.view = told.view.added(entered)
            ledger.add(entered)
        elif isinstance(entry, EditEntry) and not entry.undoes:
            before = told.slots(watched)
            undone = entry.id in transcript.undone
            deeds = _deeds(entry, told.view, before, block)
            if deeds:
                told.happened.append(Happened(edit=entry, deeds=deeds, undone=undone))
            if not undone:
                told.view = told.view.edited([entry], rendering)
                _follow(told, entry, before, watched)
    return told


def _follow(told: Story, entry: EditEntry, before: Mapping[int, Slot], watched: range) -> None:
    """Whatever was there and is no longer went behind the marker of this edit, if it made one."""
    if any(isinstance(op, Collapse) for op in entry.ops):
        left = told.slots(watched)
        told.stands_for.update((gone, entry.id) for gone in before if gone not in left)


def _deeds(
    entry: EditEntry, view: View, before: Mapping[int, Slot], block: int | None
) -> tuple[str, ...]:
    """What the edit does to the entries that are watched, or to what stands for them, in words."""
    standing = {slot.entry for slot in before.values()}
    counts: Counter[str] = Counter()
    for op in entry.ops:
        if isinstance(op, Collapse):
            gone = _collapsed(op, view)
            counts[_BEHIND] += sum(slot.entry in gone for slot in before.values())
        elif isinstance(op, Insert):
            counts[_INSERTED] += op.after in standing
        elif op.entry in standing and not _other_block(op, block):
            counts[_deed(op)] += 1
    return tuple(
        f"{deed} ({count} ×)" if count > 1 else deed for deed, count in counts.items() if count
    )


def _collapsed(op: Collapse, view: View) -> set[int]:
    """The entries of the view that a marker takes the place of."""
    first, last = view.position(op.first), view.position(op.last)
    if first is None or last is None:
        return set()
    return {slot.entry for slot in view.slots(first, last + 1)} - set(op.keep)


def _deed(op: Op) -> str:
    match op:
        case Preview(chars=0):
            return "a result shows its address alone"
        case Preview():
            return f"a result shows its first {op.chars:,} characters"
        case HeadTail():
            return f"a text shows its beginning and its end, {op.chars:,} characters"
        case DropBlocks():
            return f"{len(op.blocks)} of its blocks left the context"
        case _:
            return _DEEDS.get(type(op), type(op).__name__)


def _other_block(op: Op, block: int | None) -> bool:
    if block is None:
        return False
    if isinstance(op, DropBlocks):
        return block not in op.blocks
    return getattr(op, "block", block) != block


async def holders(transcript: Transcript, path: str) -> list[tuple[MessageEntry, int]]:
    """The entries that keep a result in the file at `path`, with the number of the block."""
    found: list[tuple[MessageEntry, int]] = []
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry) and entry.blobs:
            found += [(entry, at) for at, held in _files(entry.wire) if held == path]
    return found


def _files(wire: Any) -> list[tuple[int, str]]:
    """Blocks of a stored message that stand in files, and which."""
    content: Any = cast("dict[str, Any]", wire).get("content") if isinstance(wire, dict) else None
    blocks: list[Any] = cast("list[Any]", content if isinstance(content, list) else [wire])
    found: list[tuple[int, str]] = []
    for at, block in enumerate(blocks):
        if isinstance(block, dict):
            held = cast("dict[str, Any]", block).values()
            found += [(at, str(one[BLOB].get("path"))) for one in held if _is_file(one)]
    return found


def _is_file(value: object) -> bool:
    return isinstance(value, dict) and BLOB in value
