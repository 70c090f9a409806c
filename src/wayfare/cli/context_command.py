"""`wayfare context`: what fills the window, by origin and tool, as bars, and what was done."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import typer

from wayfare import json_text
from wayfare.clock import SystemClock
from wayfare.context.pipeline import Governor
from wayfare.context.tool_use import tool_use
from wayfare.errors import NotFound
from wayfare.session import Places, file_transcript, looked_at, run_sync, session_names
from wayfare.transcript import EditEntry

_BAR_COLUMNS = 40


def run(session: str, root: Path, *, json: bool) -> None:
    """Print what a session's context holds.

    Raises:
        NotFound: no such session in this workspace.
    """
    places = Places(workspace=root.resolve())
    names = session_names(places)
    if not names or (session and session not in names):
        known = f"; there are: {', '.join(names[-8:])}" if names else ""
        wanted = f"session {session!r}" if session else "session"
        raise NotFound(f"no {wanted} under {places.workspace}{known}", ref=session)
    run_sync(_show, places, session or names[-1], json)


async def _show(places: Places, session: str, json: bool) -> None:
    transcript = file_transcript(places, session, clock=SystemClock())
    governor = await looked_at(transcript)
    origins, tools = _sizes(governor)
    edits: Counter[str] = Counter()
    async for entry in transcript.entries():
        if isinstance(entry, EditEntry):
            edits[entry.by] += 1
    if json:
        value = {
            "session": session,
            "budget": governor.budget.name,
            "window_tokens": governor.budget.window_tokens,
            "limit_tokens": governor.budget.limit_tokens,
            "tokens": governor.tokens,
            "messages": len(governor.view),
            "by_origin": dict(origins),
            "by_tool": dict(tools),
            "edits": dict(edits),
        }
        sys.stdout.write(json_text.dumps(value).decode("utf-8") + "\n")
        return
    limit = governor.budget.limit_tokens
    typer.echo(
        f"session {session}: {governor.tokens:,} of {limit:,} tokens before passes start "
        f"(window {governor.budget.window_tokens:,}, budget {governor.budget.name}), "
        f"{len(governor.view)} messages"
    )
    _bars("by origin", origins)
    _bars("results by tool", tools)
    done = ", ".join(f"{name} {count}" for name, count in edits.most_common())
    typer.echo(f"edits: {done or 'none'}")


def _sizes(governor: Governor) -> tuple[Counter[str], Counter[str]]:
    origins: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    names: dict[str, str] = {}
    for slot in governor.view:
        origins[str(slot.message.origin)] += slot.load.tokens
        for call in slot.message.calls:
            names[call.id] = tool_use(call).name
        results = slot.message.results
        for result in results:
            tools[names.get(result.call_id, "?")] += slot.load.tokens // len(results)
    return origins, tools


def _bars(title: str, sizes: Counter[str]) -> None:
    most = max(sizes.values(), default=0)
    if not most:
        return
    typer.echo(title)
    for name, tokens in sizes.most_common():
        bar = "█" * max(round(tokens / most * _BAR_COLUMNS), 1)
        typer.echo(f"  {name:<14} {tokens:>9,} {bar}")
