"""The session's compaction: who summarizes, what comes back afterwards from its live source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anyio.abc import TaskGroup

from wayfare.agent.kit import Kit
from wayfare.agent.limits import Totals
from wayfare.agent.ports import AfterTurn
from wayfare.agent.system_prompt import find_instructions
from wayfare.backends import FileDocs, Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock
from wayfare.context.pipeline import Governor
from wayfare.context.restore import RecentFiles, Restorer, Source, Wanted, lines_source, todo_source
from wayfare.context.summarizer import NotesNow, Summarizer
from wayfare.events import Watched
from wayfare.model import Model, Usage
from wayfare.notes.keeper import NAME, Keeper
from wayfare.session.places import Places

_MOST_NOTES_BYTES: Final = 1 << 20
"""Notes take some thousand tokens; whatever is so much larger was put there by somebody else."""


def summarizer_for(
    model: Model | None,
    *,
    totals: Totals,
    clock: Clock,
    watch: Watched,
    notes: NotesNow | None = None,
) -> Summarizer:
    """The summarizer of a session; `register_sources` adds what it restores."""

    def spent(usage: Usage, by: Model) -> None:
        totals.count(usage, by.prices)

    return Summarizer(model=model, clock=clock, watch=watch, spent=spent, notes=notes)


def keeper_for(
    governor: Governor,
    places: Places,
    session: str,
    *,
    model: Model | None,
    watch: Watched,
    background: TaskGroup,
    clock: Clock,
    disk: Disk | None,
    sync: Sync,
) -> Keeper:
    """The keeper of a session's notes, `notes.md` in its folder."""
    return Keeper(
        governor=governor,
        docs=notes_docs(places, session, clock=clock, disk=disk, sync=sync),
        address=notes_address(places, session),
        model=model,
        watch=watch,
        start=background.start_soon,
    )


def notes_docs(
    places: Places,
    session: str,
    *,
    clock: Clock | None = None,
    disk: Disk | None = None,
    sync: Sync = "always",
) -> FileDocs:
    """Where the notes of a session stand."""
    folder = places.folder(session)
    return FileDocs(
        folder,
        inside=places.workspace,
        lock_path=folder / ".notes.lock",
        disk=disk,
        sync=sync,
        check_twins=False,
        most_bytes=_MOST_NOTES_BYTES,
        clock=clock,
    )


def notes_address(places: Places, session: str) -> str:
    """The printed address of a session's notes."""
    return f"{places.transcripts}/{session}/{NAME}.md"


def with_notes(after_turn: AfterTurn, keeper: Keeper) -> AfterTurn:
    """The port after a turn, at which the notes are looked at, too."""

    async def after(ended: str, /) -> None:
        await keeper.after_turn()
        await after_turn(ended)

    return after


def register_sources(restorer: Restorer, kit: Kit, workspace: Path, *, notes: str = "") -> None:
    """Everything a session restores: what is short first, files last.

    Args:
        notes: The address of the session notes, said once there are any.
    """
    context, consent = kit.context, kit.consent

    def mode() -> Sequence[str]:
        return [consent.policy.mode]

    def subagents() -> Sequence[str]:
        return context.subagents.running()

    def commands() -> Sequence[str]:
        from wayfare.agent.builtin.jobs import Jobs

        jobs = context.kept.get(Jobs)
        return [] if jobs is None else [f"{j.id}: {j.command} (runs)" for j in jobs.running()]

    def notes_there() -> Sequence[str]:
        there = notes and (workspace / notes).is_file()
        return [notes] if there else []

    restorer.register("task list", todo_source(context.sight.todos))
    restorer.register("permission mode", lines_source("Permission mode:", mode))
    restorer.register("sub-agents", lines_source("Sub-agents at work:", subagents))
    restorer.register("background commands", lines_source("Commands in the background:", commands))
    restorer.register("session notes", lines_source("Session notes:", notes_there))
    restorer.register("instructions", _instructions(workspace, kit.system))
    restorer.register("recent files", RecentFiles(workspace))


def _instructions(workspace: Path, system: str) -> Source:
    """Instruction files whose text is no longer what the system prompt holds."""

    async def say(wanted: Wanted, /) -> str:
        found = find_instructions(workspace, most_chars=wanted.room_tokens * 3)
        changed = [
            f'<file path="{one.path}">\n{one.text.strip()}\n</file>'
            for one in found
            if one.text and one.text.strip() not in system
        ]
        if not changed:
            return ""
        return "\n".join(["Instruction files, changed since the session began:", *changed])

    return say
