"""The digest at the real compaction points of recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench.measures import CompactionPoint, compaction_points, compaction_row, newest_names
from bench.recordings import Recording
from bench.report import Section, table
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.digest import Room, digest
from wayfare.context.facts import Ledger
from wayfare.context.stubs import Addresses
from wayfare.formats import codec
from wayfare.session import governed, memory_transcript


def ledger_of(point: CompactionPoint) -> Ledger:
    """The facts of a session up to a compaction point."""

    async def fold() -> Ledger:
        clock = MovableClock()
        transcript = memory_transcript("bench", clock=clock, format=point.format)
        governor = await governed(transcript, Budget.window(2_000_000), clock=clock)
        own = codec(point.format)
        await governor.add([own.decode(wire) for wire in point.messages])
        return governor.ledger

    return asyncio.run(fold())


def made(point: CompactionPoint, chars: int) -> str:
    """Our digest for a point, at most `chars` long."""
    addresses = Addresses(
        transcript=".transcripts/s/transcript.jsonl", contents=".transcripts/s/contents.tsv"
    )
    room = Room(chars=chars, file_name_chars=int(chars * 0.3), identifier_chars=int(chars * 0.5))
    return digest(ledger_of(point), addresses, room)


def section(recordings: Sequence[Recording], command: str) -> Section:
    """Rows: the real summaries, names only, ours at the same size and at its own."""
    points = [point for recording in recordings for point in compaction_points(recording)]
    title = "The digest at real compaction points"
    if not points:
        text = "These recordings hold no compaction with its summary."
        return Section(key="digest", title=title, command=command, text=text)
    ways = {
        "the leading agent's summaries": lambda p: p.summary,
        "names only, newest first, same size": lambda p: newest_names(p, len(p.summary)),
        "our digest, same size": lambda p: made(p, len(p.summary)),
        "our digest, its own size": lambda p: made(p, 12_000),
    }
    rows: list[tuple[object, ...]] = []
    for name, make in ways.items():
        row = compaction_row(points, make)
        rows.append(
            (
                name,
                f"{(row['files'] or 0) * 100:.0f} %",
                f"{(row['identifiers'] or 0) * 100:.0f} %",
                f"{row['chars_median']:,.0f}",
                f"{(row['file_name_share'] or 0) * 100:.0f} %",
            )
        )
    head = (
        "",
        "file names used again",
        "identifiers used again",
        "characters, median",
        "of them file names",
    )
    text = f"{len(points)} compactions; used again: in the next 60 messages.\n\n{table(head, rows)}"
    return Section(key="digest", title=title, command=command, text=text)
