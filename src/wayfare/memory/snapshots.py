"""Caches beside the records: what was folded and read, so that opening reads only what changed.

They are derived and may be thrown away; one that cannot be read is as good as none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from wayfare.clock import Clock
from wayfare.errors import StoreError
from wayfare.json_text import UNREADABLE
from wayfare.memory.folder import Entry
from wayfare.memory.journal import JournalState
from wayfare.store import Docs
from wayfare.store.ref import digest

SNAPSHOT = "snapshot"
SNAPSHOT_VERSION = 1
USED_RECORDS = 1_000
"""Of so many records the last use is remembered: far more than an index has lines."""


class Snapshot(msgspec.Struct, kw_only=True):
    """A fold of the journal's first lines, the entries last seen, and when records were used.

    `known_journal` says that there was a journal when it was made.
    """

    v: int = SNAPSHOT_VERSION
    journal: JournalState = msgspec.field(default_factory=JournalState)
    entries: dict[str, Entry] = msgspec.field(default_factory=dict[str, Entry])
    used: dict[str, float] = msgspec.field(default_factory=dict[str, float])


async def load_snapshot(state: Docs) -> Snapshot:
    """The last one saved, or an empty one."""
    with suppress(StoreError, *UNREADABLE):
        content = await state.read(SNAPSHOT)
        if content is not None:
            found = _DECODER.decode(content)
            if found.v == SNAPSHOT_VERSION:
                return found
    return Snapshot()


async def save_snapshot(
    state: Docs,
    journal: JournalState,
    entries: Mapping[str, Entry],
    used: Mapping[str, float],
    clock: Clock,
) -> None:
    """Save one; where it cannot be saved, or somebody else just did, nothing happens."""
    now = clock.now()
    latest = sorted(used.items(), key=lambda pair: -min(pair[1], now))[:USED_RECORDS]
    snapshot = Snapshot(journal=journal, entries=dict(entries), used=dict(latest))
    with suppress(StoreError):
        present = await state.read(SNAPSHOT)
        expected = None if present is None else digest(present)
        await state.write(SNAPSHOT, msgspec.json.encode(snapshot), expected=expected)


_DECODER = msgspec.json.Decoder(Snapshot)
