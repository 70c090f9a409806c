"""Opening transcripts and governors: on disk, in memory, for writing and for reading only."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from wayfare import json_text
from wayfare.backends import FileBlobs, FileDocs, FileLog, InMemoryBlobs, InMemoryLog, OsDisk, Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock, SystemClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.scheduler import CachePolicy
from wayfare.context.tool_use import Declared
from wayfare.errors import ConfigError, NotFound, WriteFailed
from wayfare.events import Event, Watched, ignore
from wayfare.session.places import RESULTS, TRANSCRIPTS, Places
from wayfare.store import Ref
from wayfare.tokens import Meter, TokenMeter
from wayfare.transcript import Transcript

_T = TypeVar("_T")


def session_name(clock: Clock) -> str:
    """A fresh session's name: the day, and what makes it unique."""
    day = _day(clock.now())
    return f"{day}-{clock.token()}"


def _day(now: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")


def file_transcript(
    places: Places,
    session: str,
    *,
    clock: Clock,
    format: str = "anthropic",
    sync: Sync = "always",
    watch: Watched = ignore,
    disk: Disk | None = None,
) -> Transcript:
    """The transcript of a session in files, not yet opened."""
    disk = disk or OsDisk()
    log = places.log(session)
    return Transcript(
        log=FileLog(
            log,
            disk=disk,
            sync=sync,
            clock=clock,
            is_whole=_is_entry,
            inside=places.workspace,
            gitignore_in=places.workspace / places.transcripts,
        ),
        blobs=FileBlobs(
            places.results_of(session),
            workspace=places.workspace,
            readable=[places.workspace / places.results],
            disk=disk,
            sync=sync,
            clock=clock,
            gitignore_in=places.workspace / places.results.split("/")[0],
        ),
        contents=FileLog(
            log.parent / "contents.tsv",
            disk=disk,
            sync=sync,
            clock=clock,
            lock_name=".contents.lock",
            inside=places.workspace,
        ),
        path=f"{places.transcripts}/{session}/transcript.jsonl",
        contents_path=f"{places.transcripts}/{session}/contents.tsv",
        clock=clock,
        format=format,
        checkpoints=FileDocs(
            log.parent,
            suffix=".checkpoint",
            inside=places.workspace,
            lock_path=log.parent / ".checkpoint.lock",
            disk=disk,
            sync=sync,
            check_twins=False,
            clock=clock,
        ),
        watch=watch,
    )


def _is_entry(line: bytes) -> bool:
    """Whether a line is whole JSON, lone surrogates as the log writes them included."""
    try:
        json_text.loads(line)
    except ValueError:
        return False
    return True


def memory_transcript(
    session: str,
    *,
    clock: Clock,
    format: str = "anthropic",
    watch: Watched = ignore,
    unsaved: str = "",
) -> Transcript:
    """A transcript that lives in memory, for tests and for workspaces that cannot be written."""
    return Transcript(
        log=InMemoryLog(),
        blobs=InMemoryBlobs(f"{RESULTS}/{session}"),
        contents=InMemoryLog(),
        path=f"{TRANSCRIPTS}/{session}/transcript.jsonl",
        contents_path=f"{TRANSCRIPTS}/{session}/contents.tsv",
        clock=clock,
        format=format,
        watch=watch,
        unsaved=unsaved,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A session that is open: `how` is `fresh`, `resumed`, or `unsaved` when the workspace
    cannot be written and the session lives in memory alone."""

    session: str
    how: str
    governor: Governor


async def open_session(
    places: Places,
    session: str = "",
    *,
    budget: Budget,
    clock: Clock | None = None,
    format: str = "anthropic",
    sync: Sync = "always",
    watch: Watched = ignore,
    declared: Declared | None = None,
    disk: Disk | None = None,
    fixed_tokens: int = 0,
) -> Begun:
    """Resume a session, or begin a fresh one when none is named or the named one is gone.

    Raises:
        LeaseHeld: another process writes this session; names it.
    """
    clock = clock or SystemClock()
    disk = disk or OsDisk()
    known = bool(session) and disk.stat(places.log(session)) is not None
    if session and not known:
        text = f"session {session} has no transcript here; a fresh one was begun"
        watch(Event(name="session.missing", text=text, fields={"session": session}))
    name = session if known else session_name(clock)

    async def opened(transcript: Transcript) -> Governor:
        return await governed(
            transcript,
            budget,
            clock=clock,
            watch=watch,
            declared=declared,
            fixed_tokens=fixed_tokens,
        )

    transcript = file_transcript(
        places, name, clock=clock, format=format, sync=sync, watch=watch, disk=disk
    )
    try:
        governor = await opened(transcript)
    except WriteFailed as error:
        with suppress(WriteFailed):
            await transcript.close()
        text = f"{error}; write access is needed to save this session: it goes on in memory alone"
        watch(Event(name="session.write_failed", text=text, fields={"path": error.path}))
        governor = await opened(
            memory_transcript(
                name, clock=clock, format=format, watch=watch, unsaved=f"not saved, {error.reason}"
            )
        )
        return Begun(session=name, how="unsaved", governor=governor)
    return Begun(session=name, how="resumed" if known else "fresh", governor=governor)


async def governed(
    transcript: Transcript,
    budget: Budget,
    *,
    clock: Clock | None = None,
    meter: Meter | None = None,
    watch: Watched = ignore,
    declared: Declared | None = None,
    cache: CachePolicy | None = None,
    fixed_tokens: int = 0,
) -> Governor:
    """Open a transcript, begin it if it is new, and fold it into a governor.

    Raises:
        LeaseHeld: another process writes this session; names it.
        WriteFailed: the storage is not writable.
    """
    found = await transcript.open()
    if not found.entries:
        await transcript.begin({"budget": budget.name, "window_tokens": budget.window_tokens})
    governor = Governor(
        transcript=transcript,
        budget=budget,
        meter=meter or TokenMeter(),
        clock=clock or SystemClock(),
        watch=watch,
        declared=declared,
        cache=cache,
        fixed_tokens=fixed_tokens,
    )
    if found.entries:
        await governor.resume()
    return governor


async def looked_at(transcript: Transcript, budget: Budget | None = None) -> Governor:
    """Fold a transcript for reading only: no lock, nothing written.

    Raises:
        NotFound: there is no such session.
    """
    found = await transcript.look()
    if not found.entries:
        raise NotFound(f"no session at {transcript.path}", ref=transcript.path)
    if budget is None:
        budget = _told_budget(transcript.head)
    governor = Governor(
        transcript=transcript, budget=budget, meter=TokenMeter(), clock=SystemClock(), watch=ignore
    )
    await governor.resume()
    return governor


def _told_budget(head: Mapping[str, Any]) -> Budget:
    """The budget a log was begun with; the usual one where its head tells none that can be."""
    told: object = head.get("window_tokens")
    window_tokens = told if isinstance(told, int) and told > 0 else 200_000
    try:
        return Budget.named(str(head.get("budget", "window")), window_tokens)
    except ConfigError:
        return Budget.window(200_000)


async def read_address(places: Places, address: str) -> bytes:
    """The exact bytes an address of this workspace leads to.

    Raises:
        NotFound: it leads nowhere; the text says what was looked for.
    """
    ref = Ref.parse(address)
    session = places.session_of(ref.path) or "unknown"
    transcript = file_transcript(places, session, clock=SystemClock())
    await transcript.look()
    return await transcript.read(ref)


def run_sync(job: Callable[..., Coroutine[Any, Any, _T]], *args: object) -> _T:
    """The one door for callers without an event loop: run `job(*args)` to its end."""
    import anyio

    return anyio.run(job, *args)
