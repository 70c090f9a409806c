"""`wayfare why ADDRESS`: what was done to a text, when, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import typer

from wayfare.clock import SystemClock
from wayfare.errors import NotFound
from wayfare.session import Places, file_transcript, run_sync, session_names
from wayfare.store import Ref
from wayfare.transcript import Collapse, EditEntry, Insert, MessageEntry, Transcript


def run(address: str, root: Path) -> None:
    """Print the story of the entry behind an address.

    Raises:
        NotFound: the address leads to no entry of this workspace.
    """
    run_sync(_explain, Places(workspace=root.resolve()), Ref.parse(address))


async def _explain(places: Places, ref: Ref) -> None:
    for name in session_names(places):
        transcript = file_transcript(places, name, clock=SystemClock())
        if transcript.path != ref.path and f"/{name}/" not in ref.path:
            continue
        await transcript.look()
        entry = await _entry(transcript, ref)
        if entry is not None:
            await _tell(transcript, entry)
            return
    raise NotFound(f"{ref} leads to no entry of a session here", ref=str(ref))


async def _entry(transcript: Transcript, ref: Ref) -> int | None:
    if ref.path == transcript.path:
        return ref.first
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry) and entry.blobs:
            held = await transcript.entered(entry)
            if any(blob.path == ref.path for blob in held.refs.values()):
                return entry.id
    return None


async def _tell(transcript: Transcript, number: int) -> None:
    found = False
    async for entry in transcript.entries():
        if entry.id == number and isinstance(entry, MessageEntry):
            found = True
            files = ", ".join(str(r) for r in (await transcript.entered(entry)).refs.values())
            text = f"entered {_when(entry.time)} as entry {number}, origin {entry.origin}"
            typer.echo(text + (f", full text in {files}" if files else ""))
        elif isinstance(entry, EditEntry) and _touches(entry, number):
            undone = " (undone)" if entry.id in transcript.undone else ""
            change = f"{entry.before:,} → {entry.after:,} tokens"
            typer.echo(f"{entry.by} {_when(entry.time)}: {entry.reason}; context {change}{undone}")
    if not found:
        raise NotFound(f"no entry {number} in {transcript.path}", ref=str(number))


def _touches(entry: EditEntry, number: int) -> bool:
    for op in entry.ops:
        if isinstance(op, Collapse):
            if op.first <= number <= op.last and number not in op.keep:
                return True
        elif isinstance(op, Insert):
            if op.after == number:
                return True
        elif op.entry == number:
            return True
    return False


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
