"""The owner's word on what waits: let it in, or keep it out for good."""

from __future__ import annotations

from dataclasses import replace

from wayfare.errors import NotFound, RecordConflict
from wayfare.memory.candidate import Evidence
from wayfare.memory.journal import JournalLine, Stone
from wayfare.memory.likeness import fingerprint
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.notices import Offered
from wayfare.memory.slug import name_key
from wayfare.memory.waiting import Waiting, drop_waiting, waiting


async def approve(store: MemoryStore, id: str, *, anyway: bool = False) -> Offered:
    """Let a waiting candidate in, on the owner's word; it passes the gate once more, and stays
    where it waits when the gate refuses it still.

    Args:
        id: As `waiting` lists it.
        anyway: Also over a record that was changed since it began to wait.

    Raises:
        NotFound: nothing of that id waits.
        RecordConflict: the record it would change was changed since, and `anyway` is not set.
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused; the records are as before.
    """
    item = await _waiting(store, id)
    await store.refresh()
    candidate = replace(item.candidate, evidence=Evidence(origin="owner"))
    entry = store.entries.get(item.file)
    if item.file and entry is not None and item.expected != entry.sha256 and not anyway:
        found = await store.read(item.file)
        raise RecordConflict(
            f"{item.file} was changed since this update began to wait",
            expected=item.expected,
            found=entry.sha256,
            wanted=candidate.body,
            present=None if found is None else found.record.body,
        )
    expected = {item.file: entry.sha256} if item.file and entry is not None else None
    offered = await store.offer(
        [candidate], actor="user", reason=f"approved {id}", insist=True, expected=expected
    )
    if offered.verdicts[0].outcome != "reject":
        await drop_waiting(store.storage, id)
    return offered


async def decline(store: MemoryStore, id: str) -> None:
    """Keep a waiting candidate out: it is dropped, and a new one leaves a tombstone, so that it
    does not come to wait again unless the user says it.

    Raises:
        NotFound: nothing of that id waits.
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused.
    """
    item = await _waiting(store, id)
    if not item.file:
        candidate = item.candidate
        stone = Stone(
            name=name_key(candidate.name),
            subject=name_key(candidate.subject),
            description_print=fingerprint(candidate.description),
            body_print=fingerprint(candidate.body),
        )
        mark = JournalLine(
            op="forget",
            at=store.clock.now(),
            actor="user",
            file=f"{id}.md",
            reason="declined",
            stone=stone,
        )
        await store.append([mark])
    await drop_waiting(store.storage, id)


async def _waiting(store: MemoryStore, id: str) -> Waiting:
    for item in await waiting(store.storage):
        if item.id == id:
            return item
    raise NotFound(f"nothing called {id!r} waits for review", ref=id)
