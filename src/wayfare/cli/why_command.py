"""`wayfare why ADDRESS`: what was done to a text, when, and why; what stands for it now."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wayfare.cli.addresses import Losses, opened, workspace_address
from wayfare.cli.printing import columns, counted, plain, put, say
from wayfare.cli.story import Happened, Story, holders, story
from wayfare.clock import moment
from wayfare.context.tool_use import tool_use
from wayfare.context.view import Slot
from wayfare.errors import NotFound
from wayfare.messages import Message, ToolResult
from wayfare.session import Places, run_sync, session_names
from wayfare.store import Ref
from wayfare.transcript import EditEntry, Entry, MarkEntry, MessageEntry, Transcript, UsageEntry

_SHOWN_CHARS: Final = 400
_MOST_EDITS: Final = 40
"""Edits listed of a run of entries; the rest are counted."""


def run(address: str, root: Path) -> None:
    """Print the story of whatever is behind an address: an entry, a run of entries, an archived
    result, an edit or the marker it made.

    Raises:
        NotFound: the address leads to nothing of this workspace.
    """
    places = Places(workspace=root.resolve())
    losses = Losses()
    lines = run_sync(_lines, places, workspace_address(address, places.workspace), losses)
    width = columns(sys.stdout)
    for line in lines:
        put(_wrapped(line, width) + "\n")
    if losses.paths:
        say(losses.told())


async def _lines(places: Places, ref: Ref, losses: Losses) -> list[str]:
    session = places.session_of(ref.path)
    if session and places.log(session).is_file():
        transcript, _ = await opened(places, session, losses)
        if ref.path == transcript.contents_path:
            return [f"{ref.path}: the table of contents of what left the context of {session}"]
        if ref.path == transcript.path:
            return await _of_log(transcript, ref, session)
    for name in [session] if session else session_names(places):
        if not places.log(name).is_file():
            continue
        transcript, _ = await opened(places, name, losses)
        held = await holders(transcript, ref.path)
        if held:
            return [line for one in held for line in await _of_entry(transcript, *one)]
    raise NotFound(f"{ref} leads to nothing in {places.workspace}", ref=str(ref))


async def _of_log(transcript: Transcript, ref: Ref, session: str) -> list[str]:
    if ref.first is None:
        return [f"{ref.path}: the log of the session {session}; wayfare context {session} shows it"]
    last = ref.last if ref.last is not None else ref.first
    entries = [entry async for entry in transcript.entries(ref.first, last)]
    if not entries:
        raise NotFound(
            f"no entry {ref.first} in {transcript.path}; it ends with {transcript.last_id}",
            ref=str(ref),
        )
    if len(entries) > 1:
        return await _of_run(transcript, entries)
    match entries[0]:
        case MessageEntry() as entry:
            return await _of_entry(transcript, entry)
        case EditEntry() as entry:
            return await _of_edit(transcript, entry)
        case MarkEntry() as entry:
            detail = ", ".join(f"{key} {value}" for key, value in entry.detail.items())
            return [f"{_name(transcript, entry)}: a mark, {entry.name}, {_when(entry)}", detail]
        case UsageEntry() as entry:
            used = f"{entry.usage.prompt_tokens:,} tokens sent, {entry.usage.output_tokens:,} back"
            return [f"{_name(transcript, entry)}: usage of {entry.purpose}, {_when(entry)}: {used}"]


async def _of_entry(
    transcript: Transcript, entry: MessageEntry, block: int | None = None
) -> list[str]:
    entered = await transcript.entered(entry)
    told = await story(transcript, range(entry.id, entry.id + 1), block)
    message = entered.message
    where = f", block {block + 1} of {len(message.blocks)}" if block is not None else ""
    lines = [
        f"{_name(transcript, entry)}{where}: {_what(message, block)}, entered {_when(entry)}",
        *(f"  full text in {ref}" for ref in entered.refs.values()),
        "",
        *_happened(told.happened),
        "",
        *_now(told, entry, block),
    ]
    return lines


def _what(message: Message, block: int | None) -> str:
    if message.calls:
        uses = ", ".join(f"{use.name} {use.main}".strip() for use in map(tool_use, message.calls))
        return f"{message.origin}, calls {plain(uses)}"
    answered = message.results if block is None else message.blocks[block : block + 1]
    chars = len(message.text) + sum(len(r.text) for r in answered if isinstance(r, ToolResult))
    return f"{message.origin}, {chars:,} characters"


def _happened(happened: Sequence[Happened]) -> list[str]:
    if not happened:
        return ["no edit touched it"]
    lines: list[str] = []
    for one in happened[:_MOST_EDITS]:
        edit = one.edit
        taken_back = " (taken back since)" if one.undone else ""
        lines.append(
            f"#{edit.id} {edit.by}, {_when(edit)}: {'; '.join(one.deeds)}{taken_back}; why: "
            f"{plain(edit.reason)}; the context went from {edit.before:,} to {edit.after:,} tokens"
        )
    if len(happened) > _MOST_EDITS:
        lines.append(f"and {len(happened) - _MOST_EDITS:,} edits more")
    return lines


def _now(told: Story, entry: MessageEntry, block: int | None) -> list[str]:
    slot = told.slots(range(entry.id, entry.id + 1)).get(entry.id)
    if slot is None:
        return ["now: not in the context"]
    if slot.made and slot.entry != entry.id:
        return [f"now: behind the marker of edit #{slot.entry}, which reads", *_quoted(_text(slot))]
    if not slot.edits:
        return ["now: in the context, whole"]
    return ["now: in the context as", *_quoted(_text(slot, block))]


def _text(slot: Slot, block: int | None = None) -> str:
    texts: list[str] = []
    for number, shown in zip(slot.numbers, slot.message.blocks, strict=True):
        if block is None or number == block:
            texts.append(
                shown.text if isinstance(shown, ToolResult) else getattr(shown, "text", "")
            )
    if not any(texts):
        texts = [f"{call.name} {dict(call.input)}" for call in slot.message.calls]
    return "\n".join(text for text in texts if text)


def _quoted(text: str) -> list[str]:
    cut = text[:_SHOWN_CHARS]
    lines = [f"  | {plain(line)}" for line in cut.splitlines() if line.strip()]
    return [*lines, f"  | … ({len(text):,} characters)"] if len(text) > len(cut) else lines


async def _of_run(transcript: Transcript, entries: Sequence[Entry]) -> list[str]:
    first, last = entries[0].id, entries[-1].id
    messages = [entry for entry in entries if isinstance(entry, MessageEntry)]
    watched = range(first, last + 1)
    told = await story(transcript, watched)
    whole = [(await transcript.entered(entry)).message for entry in messages]
    origins = Counter(str(message.origin) for message in whole)
    made = ", ".join(f"{name} {count:,}" for name, count in origins.most_common())
    slots = told.slots(watched)
    now: Counter[str] = Counter()
    for entry in messages:
        slot = slots.get(entry.id)
        if slot is None:
            now["not in the context"] += 1
        elif slot.made:
            now[f"behind the marker of edit #{slot.entry}"] += 1
        else:
            now["in the context, shortened" if slot.edits else "in the context, whole"] += 1
    others = len(entries) - len(messages)
    return [
        f"{transcript.path}#{first}-{last}: {counted(len(messages), 'message')} ({made or 'none'})"
        + (f", {counted(others, 'other entry', 'other entries')}" if others else ""),
        "",
        *_happened(told.happened),
        "",
        "now: " + (", ".join(f"{count:,} {place}" for place, count in now.most_common()) or "–"),
    ]


async def _of_edit(transcript: Transcript, entry: EditEntry) -> list[str]:
    told = await story(transcript, range(entry.id, entry.id + 1))
    if entry.undoes:
        undone = ", ".join(f"#{number}" for number in entry.undoes)
        return [f"{_name(transcript, entry)}: takes back {undone}, {_when(entry)}: {entry.reason}"]
    kinds = Counter(type(op).__name__.lower() for op in entry.ops)
    batch = f", with edit #{entry.batch}" if entry.batch != entry.id else ""
    lines = [
        f"{_name(transcript, entry)}: an edit, {entry.by}, {_when(entry)}{batch}",
        f"  why: {plain(entry.reason)}",
        f"  the context went from {entry.before:,} to {entry.after:,} tokens",
        f"  operations: {', '.join(f'{name} {count}' for name, count in kinds.items())}",
    ]
    if entry.id in transcript.undone:
        return [*lines, "  taken back since"]
    slot = told.slots(range(entry.id, entry.id + 1)).get(entry.id)
    if told.happened:
        lines += ["", "its marker", *_happened(told.happened)]
    if slot is not None and slot.made:
        where = "stands in the context and reads" if slot.entry == entry.id else "is behind that of"
        which = "" if slot.entry == entry.id else f" edit #{slot.entry}, which reads"
        lines += ["", f"its marker {where}{which}", *_quoted(_text(slot))]
    return lines


def _name(transcript: Transcript, entry: Entry) -> str:
    return str(transcript.address(entry.id))


def _when(entry: Entry) -> str:
    return moment(entry.time, "%Y-%m-%d %H:%M:%S")


def _wrapped(line: str, width: int | None) -> str:
    """A line that fits the terminal, its continuation set in; addresses are never broken."""
    if width is None or len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lead = "  | " if line.startswith("  | ") else indent
    return textwrap.fill(
        line,
        width,
        subsequent_indent=lead,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
