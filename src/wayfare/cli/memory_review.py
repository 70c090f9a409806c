"""`wayfare memory review`: what waits for the owner, and the owner's word on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import typer

from wayfare.cli.memory_opening import opened, tell
from wayfare.cli.printing import counted, plain, put, put_json, say
from wayfare.errors import NotFound
from wayfare.json_text import UNREADABLE
from wayfare.memory import MemoryStore, Waiting, apply_plan, approve, decline, waiting
from wayfare.memory.consolidate import WaitingPlan
from wayfare.session import run_sync
from wayfare.store.ref import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The owner's word: on which, and what."""

    id: str = ""
    approve: bool = False
    decline: bool = False
    anyway: bool = False


def run(root: Path, said: Said, *, user: bool, json: bool) -> int:
    """List what waits, show one, or settle it.

    Raises:
        NotFound: nothing of that id waits.
        RecordConflict: the record it would change was changed since.
        BadParameter: no id, or two words at once.
    """
    if said.approve and said.decline:
        raise typer.BadParameter("--approve or --decline, not both", param_hint="--approve")
    if (said.approve or said.decline) and not said.id:
        raise typer.BadParameter("say which: wayfare memory review lists them", param_hint="ID")

    async def work() -> int:
        async with opened(root, user=user) as memory:
            store = memory.store
            if said.approve or said.decline:
                return await _settle(store, said)
            items = [_shown(item) for item in await waiting(store.storage)]
            items += [_shown_plan(id, plan) for id, plan in await _plans(store)]
        if said.id:
            items = [item for item in items if item["id"] == said.id]
            if not items:
                raise NotFound(f"nothing called {said.id!r} waits for review", ref=said.id)
        if json:
            put_json(items)
            return 0
        for item in items:
            put(plain(f"{item['id']}  {item['kind']}: {item['text']}") + "\n")
            for line in item["lines"] if said.id else item["lines"][:1]:
                put(f"    {plain(line)}\n")
        if not items:
            say("nothing waits")
        return 0

    return run_sync(work)


async def _settle(store: MemoryStore, said: Said) -> int:
    plans = dict(await _plans(store))
    if said.id in plans:
        if said.decline:
            content = await store.storage.inbox.read(said.id)
            if content is not None:
                await store.storage.inbox.delete(said.id, expected=digest(content))
            put(f"declined: {plain(said.id)}\n")
            return 0
        done = await apply_plan(store, said.id, watch=tell)
        put(f"{done}\n")
        for refusal in done.refusals:
            say(f"wayfare: {refusal}")
        return 0 if done.outcome in ("applied", "nothing to do") else 1
    if said.decline:
        await decline(store, said.id)
        put(f"declined: {plain(said.id)}\n")
        return 0
    offered = await approve(store, said.id, anyway=said.anyway)
    verdict = offered.verdicts[0]
    if verdict.outcome == "reject":
        say(f"wayfare: still refused: {verdict.detail} ({verdict.reason})")
        return 1
    put(f"{offered}: {verdict.file}\n")
    return 0


async def _plans(store: MemoryStore) -> list[tuple[str, WaitingPlan]]:
    found: list[tuple[str, WaitingPlan]] = []
    for name in await store.storage.inbox.names():
        content = await store.storage.inbox.read(name)
        try:
            plan = msgspec.json.decode(content or b"", type=WaitingPlan)
        except UNREADABLE:
            continue
        if plan.kind == "plan":
            found.append((name, plan))
    return found


def _shown(item: Waiting) -> dict[str, Any]:
    candidate = item.candidate
    target = f" (changes {item.file})" if item.file else ""
    return {
        "id": item.id,
        "kind": item.kind,
        "text": f"{candidate.name}{target}: {item.detail or item.reason}",
        "lines": [candidate.description, "", *candidate.body.splitlines()],
        "reason": item.reason,
        "file": item.file,
        "at": item.at,
    }


def _shown_plan(id: str, plan: WaitingPlan) -> dict[str, Any]:
    lines = [
        f"{op.get('op')}: {', '.join(op.get('files', ()))}"
        + (f" → {op['record'].get('name')}" if op.get("record") else "")
        + (f" ({op['reason']})" if op.get("reason") else "")
        for op in plan.operations
    ]
    return {
        "id": id,
        "kind": "plan",
        "text": f"consolidation of {counted(len(plan.hashes), 'record')}",
        "lines": lines,
        "reason": "",
        "file": "",
        "at": plan.at,
    }
