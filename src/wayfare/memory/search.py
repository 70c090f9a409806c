"""Searching records by words: the lexical index kept in step with the folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from wayfare.lexical import ABSTAIN_BELOW, Document, Hit, LexicalIndex
from wayfare.memory.folder import Entry, Folder, read_file
from wayfare.memory.header import body_text
from wayfare.memory.memory_store import MemoryStore

LIKELY_RECORDS = 5
"""So many records are compared with a candidate word by word: a twin is among the first."""
_BATCH = 2_000
_BATCH_BYTES = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A record that answers a query: its file, how strongly (0 to 1), by which words."""

    file: str
    strength: float
    matched: tuple[str, ...]


class MemorySearch:
    """A search index over one memory's records; derived, each process may have its own.

    Args:
        store: The records.
        index: Where the words are kept: a file of the state folder, or `":memory:"`.
    """

    def __init__(self, store: MemoryStore, index: LexicalIndex) -> None:
        self._store = store
        self._index = index
        self._synced: Folder | None = None
        self._revision = 0

    async def sync(self) -> int:
        """Bring the index up to date with the store's entries; returns how many were read.

        Compared whole the first time and where something is missing, else by what changed.

        Raises:
            StoreError: the index cannot be written.
        """
        folder, revision = self._store.folder, self._store.folder.revision
        count = 0
        if folder is self._synced:
            count = await self._take(folder.changed_since(self._revision))
        if folder is not self._synced or len(self._index) < len(folder):
            count += await self._compare()
        self._synced, self._revision = folder, revision
        folder.drop_bodies()
        return count

    async def _take(self, files: Sequence[str]) -> int:
        entries = self._store.entries
        gone = [file for file in files if file not in entries]
        if gone:
            self._index.remove(gone)
        return await self._put([file for file in files if file in entries])

    async def _compare(self) -> int:
        entries = self._store.entries
        digests = {file: entry.sha256 for file, entry in entries.items()}
        stale = self._index.stale(digests)
        if stale.gone:
            self._index.remove(stale.gone)
        return await self._put(sorted(stale.changed))

    async def _put(self, files: Sequence[str]) -> int:
        entries = self._store.entries
        for part in _batches([entries[file] for file in files]):
            digests = {entry.file: entry.sha256 for entry in part}
            documents = [d async for d in self._documents([*digests])]
            self._index.put(documents, digests=digests)
        return len(files)

    async def leave_no_trace(self) -> None:
        """After a redaction: keep no word of records that are gone.

        Raises:
            StoreError: the index cannot be written; its words stay until it is made anew.
        """
        await self.sync()
        self._index.leave_no_trace()

    def rank(self, query: str, limit: int, *, floor: float = ABSTAIN_BELOW) -> list[Found]:
        """The records that answer a query, best first; none when nothing answers it.

        Raises:
            StoreError: the index is damaged; the next `sync` fills it again.
        """
        hits = self._index.rank(query, limit, floor=floor)
        return [_found(hit) for hit in hits if hit.key in self._store.entries]

    def likely(self, text: str) -> Sequence[str]:
        """The files whose records share most words with a text; for the gate's comparisons."""
        return [found.file for found in self.rank(text, LIKELY_RECORDS, floor=0.0)]

    def explain(self, query: str, file: str) -> str:
        """Why a record came up for a query, or did not, in words."""
        told = self._index.explain(query, file)
        return f"{file}: not in the search index" if told is None else str(told)

    async def _documents(self, files: Sequence[str]) -> AsyncIterator[Document]:
        for file in files:
            body = self._store.folder.take_body(file)
            if body is None:
                content = await read_file(self._store.storage.records, file)
                body = None if content is None else body_text(content)
            entry = self._store.entries.get(file)
            if body is not None and entry is not None:
                yield Document(
                    key=file,
                    name=entry.name,
                    aliases=(*entry.aliases, entry.subject) if entry.subject else entry.aliases,
                    description=entry.description,
                    body=body,
                )


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """What is put into the index in one transaction: many records, but no mass of text."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) == _BATCH or size + entry.size_bytes > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size_bytes
    if batch:
        yield batch


def _found(hit: Hit) -> Found:
    return Found(file=hit.key, strength=hit.strength, matched=hit.matched)
