"""The memories recall chooses from, side by side: the project's, the user's."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from wayfare.errors import StoreError
from wayfare.events import Event, Watch
from wayfare.memory.folder import Entry
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import RecordFile
from wayfare.memory.search import Found, MemorySearch
from wayfare.memory.slug import name_key


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSource:
    """One memory among those recall chooses from.

    `prefix` tells its files from the other memories' (`user/`; the project's has none), `address`
    is what stands before a file's name where the reader finds it.
    """

    store: MemoryStore
    search: MemorySearch
    prefix: str = ""
    address: str = ".memory/"

    async def refresh(self, watch: Watch) -> None:
        """Look at the folder again and bring the search up to date.

        Raises:
            NotFound: the folder is there and cannot be read.
        """
        await self.store.refresh()
        try:
            await self.search.sync()
        except StoreError as error:
            watch(Event(name="memory.search_failed", text=str(error)))

    def candidates(self) -> list[Entry]:
        """Records that may be recalled, in order, under their prefixed files: those another one
        supersedes are not."""
        entries = self.store.folder.in_order()
        over = {name_key(name) for e in entries for name in e.supersedes}
        if over:
            entries = [
                e
                for e in entries
                if name_key(e.name) not in over and name_key(e.file[:-3]) not in over
            ]
        if not self.prefix:
            return entries
        return [msgspec.structs.replace(e, file=f"{self.prefix}{e.file}") for e in entries]

    def has(self, key: str) -> bool:
        """Whether a prefixed file is one of this memory's."""
        return key.startswith(self.prefix) and self.file(key) in self.store.entries

    def file(self, key: str) -> str:
        """The file a prefixed one is in its own memory."""
        return key.removeprefix(self.prefix)

    def rank(self, query: str, count: int, floor: float | None = None) -> list[Found]:
        """The records that answer a query, under their prefixed files; none when the search is
        damaged."""
        try:
            if floor is None:
                found = self.search.rank(query, count)
            else:
                found = self.search.rank(query, count, floor=floor)
        except StoreError:
            return []
        return [
            Found(file=f"{self.prefix}{f.file}", strength=f.strength, matched=f.matched)
            for f in found
        ]

    async def read(self, key: str) -> tuple[Entry, RecordFile] | None:
        """A record with its body; None when it is gone."""
        entry = self.store.entries.get(self.file(key))
        found = None if entry is None else await self.store.read(entry.file)
        return None if entry is None or found is None else (entry, found)
