"""What a store has read: entries, their order in the index, use, and what nobody journalled yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wayfare.memory.folder import Entry, Folder, Seen, entry_of, read_file
from wayfare.memory.index import IndexOrder
from wayfare.memory.journal import JournalState
from wayfare.memory.record import read_record
from wayfare.memory.transaction import Change
from wayfare.store import Docs
from wayfare.store.ref import digest


class MemoryView:
    """The records as last seen. Only a view: the files are the truth, the journal their history.

    `suspects` are files whose text is not what the journal says; whoever has the right to write
    journals them first.
    """

    def __init__(
        self, entries: Mapping[str, Entry] | None = None, used: Mapping[str, float] | None = None
    ) -> None:
        self.folder = Folder(entries)
        self.order = IndexOrder()
        self.used = dict(used or {})
        self.suspects: set[str] = set()

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Every entry by file."""
        return self.folder.entries

    async def open(self, docs: Docs, journal: JournalState) -> Seen:
        """Read what the storage's stamps say has changed since the entries were kept, then put
        everything in order.

        Raises:
            NotFound: the folder is there and cannot be read.
        """
        seen = await self.folder.look(docs)
        self.order = IndexOrder(self.order.description_chars)
        self.order.fill(self.entries, journal, self.used)
        self.suspect_all(journal)
        return seen

    async def look(self, docs: Docs, journal: JournalState) -> Seen:
        """Read what the storage's stamps say has changed.

        Raises:
            NotFound: the folder is there and cannot be read.
        """
        seen = await self.folder.look(docs)
        for file in (*seen.read, *seen.gone, *seen.unreadable):
            self.rank(file, journal)
        self._suspect((*seen.read, *seen.gone), journal)
        return seen

    async def reread(self, docs: Docs, files: Iterable[str], journal: JournalState) -> None:
        """Read some files again, whatever their stamps."""
        for file in files:
            self.show(file, await read_file(docs, file), journal)

    def show(self, file: str, content: bytes | None, journal: JournalState) -> None:
        """Take a text as what stands in a file, or None as its being gone."""
        present = self.entries.get(file)
        if content is None:
            self.folder.remove(file)
        elif present is None or present.sha256 != digest(content):
            found = read_record(file, content)
            self.folder.put(entry_of(found), found.record.body)
        self.rank(file, journal)

    def rank(
        self, file: str, journal: JournalState, *, change: Change | None = None, at: float = 0.0
    ) -> None:
        """Put a file where it belongs in the index; `change` is one the journal will tell `at`."""
        entry = self.entries.get(file)
        if entry is None:
            self.order.remove(file)
        else:
            corrected = change is not None and change.reason == "correction"
            self.order.put(entry, journal, self.used, changed=at, corrected=corrected)

    def suspect_all(self, journal: JournalState) -> None:
        """Compare every file with what the journal says."""
        self.suspects.clear()
        self._suspect({*self.entries, *journal.known}, journal)

    def _suspect(self, files: Iterable[str], journal: JournalState) -> None:
        for file in files:
            entry = self.entries.get(file)
            found = None if entry is None else entry.sha256
            if found != "" and found != journal.known.get(file):
                self.suspects.add(file)
