"""`wayfare memory dream`: upkeep now, or in the process a session started for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wayfare.agent.hooks import Hooks
from wayfare.cli.memory_opening import tell, wanted_of
from wayfare.cli.model_choice import open_model
from wayfare.cli.printing import put, say
from wayfare.cli.session_setup import hooks_of, places_of
from wayfare.cli.settings_files import read_settings
from wayfare.clock import SystemClock
from wayfare.events import Event
from wayfare.memory import Extracted, MemoryLimits, dream
from wayfare.session import run_sync
from wayfare.session.leftovers import pick_up, sessions_since
from wayfare.session.memory_hooks import asking
from wayfare.session.memory_wanted import memory_store
from wayfare.session.side_query import ModelSideQuery
from wayfare.settings import Flag


def run(root: Path, *, model: str, now: bool, review: bool, detached: bool) -> int:
    """Dream, if the gates are open or are not asked; says what was done.

    Args:
        root: The workspace.
        model: Whom to ask instead of the model that is set.
        now: Do not ask how long ago the last one was.
        review: The plan waits for the owner.
        detached: Nobody watches; the report waits for the next session.

    Raises:
        ConfigError: no model is set, or a setting is not valid.
        NotFound: the memory cannot be read.
    """
    flags = [Flag(key="model.name", value=model, flag="--model")] if model else []
    read = read_settings(root, flags)
    wanted, places, clock = wanted_of(read), places_of(read), SystemClock()
    limits = _at_once(wanted.limits) if now else wanted.limits

    def watch(event: Event) -> None:
        tell(event)
        if event.name in ("memory.plan_refused", "memory.dream_failed", "memory.extract_failed"):
            say(f"wayfare: {event.text}")

    async def work() -> int:
        asked = open_model(read.settings, clock=clock, watch=watch, side=True)
        side = ModelSideQuery(lambda: (asked,), lambda usage, model: None)
        memory = memory_store(wanted.project, clock=clock, limits=limits, watch=watch)
        store, search = memory.store, memory.search
        hooks = Hooks(hooks=hooks_of(read.settings), watch=watch)
        store.ask_first = asking(hooks, lambda: {"cwd": str(root), "session_id": ""})

        async def since(moment: float) -> int:
            return sessions_since(places, moment)

        async def leftovers() -> Sequence[Extracted]:
            return await pick_up(places, store, search, side, clock=clock, watch=watch)

        try:
            dreamt = await dream(
                store, side, since, leftovers=leftovers, review=review, watch=watch
            )
        finally:
            await memory.close()
            close = getattr(asked, "close", None)
            if close is not None:
                await close()
        if not detached:
            put(f"{dreamt}\n")
            for refusal in dreamt.consolidated.refusals if dreamt.consolidated else ():
                say(f"wayfare: {refusal}")
        return 0 if dreamt.gate.open or not now else 1

    return run_sync(work)


def _at_once(limits: MemoryLimits) -> MemoryLimits:
    return replace(limits, dream_hours=0.0, dream_scan_minutes=0.0, dream_sessions=0)
