"""The agent's four memory tools. What it writes passes the gate like everything else, and rests on
what the user said in this turn, not on what the agent read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from wayfare.agent.tools import Tool, ToolOutput, failure, tool
from wayfare.errors import LeaseHeld, NotFound, RecordConflict, StoreError
from wayfare.memory.candidate import Candidate
from wayfare.memory.history import forget
from wayfare.memory.journal import Source
from wayfare.memory.likeness import Utterance, ground
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import RecordFile
from wayfare.memory.search import MemorySearch
from wayfare.memory.side_query import fenced
from wayfare.memory.slug import why_outside

FOUND_RECORDS = 10


def memory_tools(
    store: MemoryStore,
    search: MemorySearch,
    *,
    said: Callable[[], Sequence[Utterance]],
    session: str = "",
    wrote: Callable[[], None] = lambda: None,
) -> tuple[Tool, ...]:
    """`memory_search`, `memory_read`, `memory_write` and `memory_forget` on one memory.

    Args:
        said: What was said in this turn, tool results included: on it rests what is written.
        session: Goes into the journal.
        wrote: Called when something was written or forgotten, so that extraction skips the turn.
    """

    @tool(name="memory_search", read_only=True, kind="search", main_argument="query")
    async def memory_search(query: str) -> ToolOutput:
        """Search the long-term memory by words; returns names, files and descriptions.

        Args:
            query: What to look for, in any language.
        """
        await store.refresh()
        with suppress(StoreError):
            await search.sync()
        found = search.rank(query, FOUND_RECORDS)
        if not found:
            return ToolOutput(text="No record answers that.")
        lines = [
            f"- {entry.file} ({entry.type}) {entry.name}: {entry.description}"
            for hit in found
            if (entry := store.entries.get(hit.file)) is not None
        ]
        return ToolOutput(text=fenced("memory", "\n".join(lines)))

    @tool(name="memory_read", read_only=True, kind="read", main_argument="name")
    async def memory_read(name: str) -> ToolOutput:
        """Read one record of the long-term memory in full.

        Args:
            name: Its name or file name.
        """
        found = await read_record_by(store, name)
        if isinstance(found, str):
            return failure(found)
        store.note_use([found.file])
        return ToolOutput(text=shown_record(found))

    @tool(name="memory_write", kind="write", main_argument="name")
    async def memory_write(name: str, type: str, description: str, body: str) -> ToolOutput:
        """Remember something the user wants kept beyond this task, or change such a record.

        Args:
            name: A short name; the name of an existing record changes that record.
            type: user (who they are, preferences), feedback (how to work), project (stable
                background) or reference (where things are outside).
            description: One line that tells when it matters.
            body: The fact first, then lines "**Why:**" and "**How to apply:**" where known.
        """
        candidate = Candidate(
            name=name,
            description=description,
            type=type,
            body=body,
            scope="persistent",
            evidence=ground(f"{description}\n{body}", said(), session=session),
        )
        try:
            offered = await store.offer(
                [candidate], actor="agent", source=Source(session=session), reason="memory_write"
            )
        except (RecordConflict, LeaseHeld, StoreError) as error:
            return failure(f"It could not be stored: {error}")
        verdict = offered.verdicts[0]
        if verdict.writes:
            wrote()
            word = "Stored" if verdict.outcome == "accept" else "Updated"
            return ToolOutput(text=f"{word} {verdict.file}. {offered.written.room}.")
        if verdict.outcome == "duplicate":
            return ToolOutput(text=f"{verdict.file} says it already; nothing was written.")
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
            await forget(store, name, actor="agent", reason=reason)
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


def shown_record(found: RecordFile) -> str:
    """A record in its fence, whole."""
    record = found.record
    text = f"{record.name}: {record.description}\n\n{record.body}"
    return fenced("memory", text, file=found.file, type=record.type)
