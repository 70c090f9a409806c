"""The agent's four memory tools. What it writes passes the gate like everything else, and rests on
what the user said in this turn, not on what the agent read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Tool, ToolOutput, failure
from wayfare.errors import LeaseHeld, NotFound, RecordConflict, StoreError
from wayfare.events import ignore
from wayfare.memory.candidate import Candidate
from wayfare.memory.folder import Entry
from wayfare.memory.history import forget
from wayfare.memory.journal import Source
from wayfare.memory.likeness import Utterance, ground
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.recall_source import RecallSource
from wayfare.memory.record import RecordFile
from wayfare.memory.search import Found, MemorySearch
from wayfare.memory.side_query import fenced
from wayfare.memory.slug import why_outside

FOUND_RECORDS = 10
OWN_PREFIX = "user/"
"""Stands before the files of the user's own memory."""
_OWN_TYPES = ("user", "feedback")
"""What can be true of a person in every project; the other types say something of one project."""


def memory_tools(
    store: MemoryStore,
    search: MemorySearch,
    *,
    said: Callable[[], Sequence[Utterance]],
    session: str = "",
    wrote: Callable[[], None] = lambda: None,
    own: RecallSource | None = None,
) -> tuple[Tool, ...]:
    """`memory_search`, `memory_read`, `memory_write` and `memory_forget`.

    Args:
        store: The project's records.
        search: Their words.
        said: What was said in this turn, tool results included: on it rests what is written.
        session: Goes into the journal.
        wrote: Called when something was written or forgotten, so that extraction skips the turn.
        own: The user's own memory, whose files are shown as `user/…`; None: there is none.
    """
    scopes = [RecallSource(store=store, search=search), *([own] if own is not None else [])]

    def scope_of(name: str) -> tuple[MemoryStore, str]:
        """The memory a name is one of, and the name there."""
        if own is not None and name.startswith(OWN_PREFIX):
            return own.store, name.removeprefix(OWN_PREFIX)
        return store, name

    @tool(name="memory_search", read_only=True, kind="search", main_argument="query")
    async def memory_search(query: str) -> ToolOutput:
        """Search the long-term memory by words; returns names, files and descriptions.

        Args:
            query: What to look for, in any language.
        """
        found: list[tuple[Found, Entry]] = []
        for source in scopes:
            await source.refresh(ignore)
            for hit in source.rank(query, FOUND_RECORDS):
                entry = source.store.entries.get(source.file(hit.file))
                if entry is not None:
                    found.append((hit, entry))
        found.sort(key=lambda pair: -pair[0].strength)  # stable: the project's first
        lines = [
            f"- {hit.file} ({entry.type}) {entry.name}: {entry.description}"
            for hit, entry in found[:FOUND_RECORDS]
        ]
        if not lines:
            return ToolOutput(text="No record answers that.")
        return ToolOutput(text=fenced("memory", "\n".join(lines)))

    @tool(name="memory_read", read_only=True, kind="read", main_argument="name")
    async def memory_read(name: str) -> ToolOutput:
        """Read one record of the long-term memory in full.

        Args:
            name: Its name or file name, with user/ before it as the index or a search shows it.
        """
        memory, bare = scope_of(name)
        found = await read_record_by(memory, bare)
        if isinstance(found, str):
            return failure(found)
        memory.note_use([found.file])
        return ToolOutput(text=shown_record(found, "" if memory is store else OWN_PREFIX))

    @tool(name="memory_write", kind="write", main_argument="name")
    async def memory_write(
        name: str, type: str, description: str, body: str, scope: str = "project"
    ) -> ToolOutput:
        """Remember something the user wants kept beyond this task, or change such a record.

        Args:
            name: A short name; the name of an existing record changes that record.
            type: user (who they are, preferences), feedback (how to work), project (stable
                background) or reference (where things are outside).
            description: One line that tells when it matters.
            body: The fact first, then lines "**Why:**" and "**How to apply:**" where known.
            scope: project (default), or user for what the user says holds in all their projects.
        """
        if scope not in ("project", "user"):
            return failure(f"There is no scope {scope!r}; there are project and user.")
        memory, name = scope_of(name)
        if scope == "user" and own is not None:
            memory = own.store
        if (scope == "user" or memory is not store) and (own is None or type not in _OWN_TYPES):
            return failure(
                "There is no memory of the user's own here; leave scope out."
                if own is None
                else f"Of the scope user are the types {' and '.join(_OWN_TYPES)} only."
            )
        candidate = Candidate(
            name=name,
            description=description,
            type=type,
            body=body,
            scope="persistent",
            evidence=ground(f"{description}\n{body}", said(), session=session),
        )
        try:
            offered = await memory.offer(
                [candidate], actor="agent", source=Source(session=session), reason="memory_write"
            )
        except (RecordConflict, LeaseHeld, StoreError) as error:
            return failure(f"It could not be stored: {error}")
        verdict, prefix = offered.verdicts[0], "" if memory is store else OWN_PREFIX
        if verdict.writes:
            wrote()
            word = "Stored" if verdict.outcome == "accept" else "Updated"
            return ToolOutput(text=f"{word} {prefix}{verdict.file}. {offered.written.room}.")
        if verdict.outcome == "duplicate":
            return ToolOutput(text=f"{prefix}{verdict.file} says it already; nothing was written.")
        if verdict.outcome == "reject":
            return failure(f"Not stored: {verdict.detail} ({verdict.reason}).")
        return ToolOutput(text=f"It waits for the owner's review: {verdict.detail}.")

    @tool(name="memory_forget", kind="write", main_argument="name")
    async def memory_forget(name: str, reason: str = "") -> ToolOutput:
        """Forget a record because the user asked for it; the owner can undo that.

        Args:
            name: Its name or file name.
            reason: Why, in the user's words.
        """
        try:
            await forget(*scope_of(name), actor="agent", reason=reason)
        except NotFound:
            return failure(f"There is no record {name!r}.")
        except (RecordConflict, LeaseHeld, StoreError) as error:
            return failure(f"It could not be forgotten: {error}")
        wrote()
        return ToolOutput(text=f"Forgotten: {name}.")

    return (memory_search, memory_read, memory_write, memory_forget)


async def read_record_by(store: MemoryStore, name: str) -> RecordFile | str:
    """The record of a name or file name; or, in words, why it is not given."""
    reason = why_outside(name)
    if reason:
        return f"{name!r} is refused: {reason}."
    try:
        found = await store.read(name)
    except StoreError as error:
        return f"{name!r} cannot be read: {error}"
    return found if found is not None else f"There is no record {name!r}; memory_search finds them."


def shown_record(found: RecordFile, prefix: str = "") -> str:
    """A record in its fence, whole; `prefix` stands before its file."""
    record = found.record
    text = f"{record.name}: {record.description}\n\n{record.body}"
    return fenced("memory", text, file=f"{prefix}{found.file}", type=record.type)
