"""A branch: another session that begins as this one did, up to a point before a compaction."""

from __future__ import annotations

from wayfare.backends import Sync
from wayfare.clock import Clock
from wayfare.errors import NotFound
from wayfare.session.opening import file_transcript, session_name
from wayfare.session.places import Places
from wayfare.transcript import EditEntry, Transcript


async def branched(
    places: Places,
    source: Transcript,
    *,
    before: int = 0,
    clock: Clock,
    sync: Sync = "always",
) -> str:
    """Begin another session with what `source` held before an entry; returns its name.

    What the branch shows is what this session showed then. Full texts stay where they are: the
    branch's addresses lead to them.

    Args:
        before: Number of the first entry that is left out; 0: of the newest compaction.

    Raises:
        NotFound: there is no compaction, or no such entry.
        WriteFailed: the branch cannot be written.
    """
    before = before or await _newest_edit(source)
    if not 1 < before <= source.last_id + 1:
        raise NotFound(f"no entry {before} in {source.path}", ref=source.path)
    name = session_name(clock)
    while places.log(name).exists():
        name = session_name(clock)
    target = file_transcript(places, name, clock=clock, format=source.format, sync=sync)
    await target.open()
    try:
        await target.copy(source, before=before)
    finally:
        await target.close()
    return name


async def _newest_edit(source: Transcript) -> int:
    """The first entry of the newest batch of edits that counts."""
    newest = 0
    async for entry in source.entries():
        if not isinstance(entry, EditEntry) or entry.undoes or entry.id in source.undone:
            continue
        if entry.by not in ("repair", "signed"):
            newest = entry.batch
    if not newest:
        raise NotFound("no compaction to branch from", ref=source.path)
    return newest
