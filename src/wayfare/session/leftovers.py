"""What earlier sessions of a workspace said and no extraction read: picked up by the next one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from wayfare.backends import OsDisk
from wayfare.clock import Clock
from wayfare.errors import StoreError
from wayfare.events import Watched
from wayfare.memory import Extracted, Extractor, MemorySearch, MemoryStore, SideQuery
from wayfare.memory.extract import Cursor, read_cursors
from wayfare.messages import Origin
from wayfare.session.opening import file_transcript
from wayfare.session.places import Places, session_names
from wayfare.session.said import Said

MOST_SESSIONS: Final = 5
"""So many are picked up at one start, the newest first; the others by the starts that follow."""


async def pick_up(
    places: Places,
    store: MemoryStore,
    search: MemorySearch,
    side_query: SideQuery,
    *,
    but: str = "",
    clock: Clock,
    watch: Watched,
) -> list[Extracted]:
    """Extract from sessions that ended before their words were read. Nothing raises.

    Only sessions that had a memory count: they left a cursor at their first turn. One that is open
    in a process is left to it.

    Args:
        but: The session that asks.
    """
    done: list[Extracted] = []
    with suppress(StoreError, OSError):
        cursors = await read_cursors(store.storage.state)
        for name in reversed(session_names(places)):
            if len(done) == MOST_SESSIONS:
                break
            cursor = cursors.get(name)
            if name == but or cursor is None or not _written_since(places, name, cursor, clock):
                continue
            said = await _unread(places, name, cursor, clock)
            if said is not None:
                extractor = Extractor(store, side_query, session=name, search=search, watch=watch)
                result = await extractor.run(said.all)
                done += [result] if result is not None else []
    return done


def sessions_since(places: Places, moment: float, *, but: str = "") -> int:
    """How many other sessions were written since a moment (unix seconds)."""
    return sum(
        places.log(name).stat().st_mtime > moment for name in session_names(places) if name != but
    )


def _written_since(places: Places, name: str, cursor: Cursor, clock: Clock) -> bool:
    """Whether the log may hold something new; when the clock is wrong, it may."""
    return cursor.at > clock.now() or places.log(name).stat().st_mtime > cursor.at


async def _unread(places: Places, name: str, cursor: Cursor, clock: Clock) -> Said | None:
    """The session's words, when the user said something that no extraction read."""
    held = OsDisk().lock(places.log(name).with_name(".lock"), b"")
    if held is None:
        return None
    held.release()
    transcript = file_transcript(places, name, clock=clock)
    await transcript.look()
    said = Said(transcript)
    heard: Sequence[object] = [
        u for u in await said.catch_up() if u.origin == Origin.USER and u.entry_id > cursor.entry
    ]
    return said if heard else None
