"""`wayfare context`: what fills a session's window, by origin and tool, and what was done."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Final

from wayfare.cli.addresses import Losses, chosen_session, lost_line, opened
from wayfare.cli.context_page import Contents, Large, Pile, page
from wayfare.cli.printing import columns, put, put_json, say
from wayfare.context.pipeline import Governor
from wayfare.context.tool_use import ToolUse, tool_use
from wayfare.session import Places, looked_at, run_sync, session_names
from wayfare.transcript import EditEntry, MessageEntry, Transcript

_UNKNOWN: Final = ToolUse(name="?", kind="other", path="", main="")
"""The use behind a result whose call left the context."""


def run(session: str, root: Path, *, json: bool) -> None:
    """Print what a session's context holds.

    Raises:
        NotFound: no such session in this workspace.
    """
    places = Places(workspace=root.resolve())
    found = run_sync(look, places, chosen_session(places, session))
    if found.missing:
        say(lost_line(found.missing))
    if found.unreadable:
        lines = ", ".join(str(number) for number in found.unreadable[:5])
        say(f"wayfare: lines of the log that are no entries were passed over: {lines}")
    if json:
        put_json(found.value())
    else:
        others = [name for name in session_names(places) if name != found.session]
        put("\n".join([*page(found, others, columns(sys.stdout)), ""]))


async def look(places: Places, session: str) -> Contents:
    """What a session's context holds, read without opening it."""
    losses = Losses()
    transcript, read = await opened(places, session, losses)
    governor = await looked_at(transcript)
    budget, view = governor.budget, governor.view
    edits, last, entered = await _history(transcript)
    reported_at, reported = await _reported(transcript)
    origins, tools, largest = _measured(governor)
    table = places.folder(session) / "contents.tsv"
    return Contents(
        session=session,
        format=transcript.format,
        budget=budget.name,
        window_tokens=budget.window_tokens,
        limit_tokens=budget.limit_tokens,
        log=transcript.path,
        table=transcript.contents_path,
        table_lines=_line_count(table),
        messages=len(view),
        entered=entered,
        reported_tokens=reported,
        tokens=_tokens(governor, reported_at, reported, max(last.values(), default=None, key=_id)),
        estimated_tokens=view.total.tokens,
        origins=origins,
        tools=tools,
        largest=largest,
        edits=edits,
        last=last,
        undone=len(transcript.undone),
        unreadable=read.unreadable_lines,
        missing=tuple(losses.paths),
    )


def _id(entry: EditEntry) -> int:
    return entry.id


async def _history(transcript: Transcript) -> tuple[Counter[str], dict[str, EditEntry], int]:
    """Edits by pass, the last of each, and how many messages entered."""
    edits: Counter[str] = Counter()
    last: dict[str, EditEntry] = {}
    entered = 0
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry):
            entered += 1
        elif isinstance(entry, EditEntry) and not entry.undoes:
            edits[entry.by] += 1
            last[entry.by] = entry
    return edits, last, entered


async def _reported(transcript: Transcript) -> tuple[int, int]:
    """The entry that a provider's last count came with, and the tokens of its request."""
    found = (0, 0)
    async for entry in transcript.entries():
        if isinstance(entry, MessageEntry) and entry.usage is not None:
            found = (entry.id, sum(entry.usage[:3]))
    return found


def _tokens(governor: Governor, at: int, reported: int, last: EditEntry | None) -> int:
    """What the context takes: what the provider counted and an estimate of what came since; all
    of it estimated where there was no count or an edit came after it."""
    view = governor.view
    if not reported or (last is not None and last.id > at):
        return view.total.tokens
    since = sum(slot.load.tokens for slot in view if slot.entry >= at and not slot.made)
    counted_raw = max(view.total.tokens - since, 1)
    return round(reported + since * reported / counted_raw)


def _measured(governor: Governor) -> tuple[dict[str, Pile], dict[str, Pile], list[Large]]:
    origins: dict[str, Pile] = {}
    tools: dict[str, Pile] = {}
    largest: list[Large] = []
    uses: dict[str, ToolUse] = {}
    for slot in governor.view:
        tokens = slot.load.tokens
        origins.setdefault(str(slot.message.origin), Pile()).add(tokens)
        called = [tool_use(call) for call in slot.message.calls]
        uses.update(zip((call.id for call in slot.message.calls), called, strict=True))
        answered = [uses.get(result.call_id, _UNKNOWN) for result in slot.message.results]
        for use in answered:
            tools.setdefault(use.name, Pile()).add(tokens // len(answered))
        told = ", ".join(f"{use.name} {use.main}".strip() for use in answered or called)
        what = f"{slot.message.origin}: {told}" if told else str(slot.message.origin)
        largest.append(Large(entry=slot.entry, what=what, tokens=tokens))
    largest.sort(key=lambda one: -one.tokens)
    return origins, tools, largest[:5]


def _line_count(path: Path) -> int:
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)
