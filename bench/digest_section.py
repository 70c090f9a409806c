"""The digest at the real compaction points of recordings."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.judges.reader import Reader
from bench.measures import CompactionPoint, compaction_points, compaction_row, newest_names
from bench.recordings import Recording
from bench.report import Section, table
from bench.wire import text_of, texts
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.digest import Room, digest
from wayfare.context.facts import Ledger
from wayfare.context.passes import condense
from wayfare.context.stubs import Addresses
from wayfare.formats import codec
from wayfare.session import Places, file_transcript, governed, memory_transcript

OWN_CHARS: Final = 12_000
"""Median length of the leading agent's summaries in some 400 sessions."""
ASKED_FILES: Final = 0.80
ASKED_IDENTIFIERS: Final = 0.50
MOST_FILE_NAMES: Final = 0.40
WINDOW_TOKENS: Final = 200_000


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


def made(ledger: Ledger, chars: int) -> str:
    """Our digest of a ledger, at most `chars` long, in its usual division."""
    addresses = Addresses(
        transcript=".transcripts/s/transcript.jsonl", contents=".transcripts/s/contents.tsv"
    )
    return digest(ledger, addresses, Room.of(chars))


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """The first whole request after a compaction: its text, and of the texts it no longer shows
    how many there are and how many an address in it leads to."""

    text: str
    hidden: int
    reached: int


def request_after(point: CompactionPoint) -> After:
    """Compact a session at its real point by digest alone, and look at the request."""
    with tempfile.TemporaryDirectory() as folder:
        request = asyncio.run(_compacted(point, Path(folder)))
        text = text_of(request, point.format)
        shown = {t for wire in request for t in texts(wire, point.format)}
        gone = {t for wire in point.messages for t in texts(wire, point.format)} - shown
        hidden = [t for t in gone if t.strip()]
        ways = Reader(Path(folder)).index(text)
        return After(text=text, hidden=len(hidden), reached=sum(ways.find(t).found for t in hidden))


async def _compacted(point: CompactionPoint, folder: Path) -> list[dict[str, object]]:
    clock = MovableClock()
    transcript = file_transcript(
        Places(workspace=folder), "bench", clock=clock, format=point.format, sync="never"
    )
    budget = Budget.window(WINDOW_TOKENS)
    governor = await governed(transcript, budget, clock=clock)
    own = codec(point.format)
    await governor.add([own.decode(wire) for wire in point.messages])
    await governor.edit(
        lambda view: condense.plan(
            view, budget, governor.goal, governor.addresses, ratio=1.0, tail_tokens=0
        )
    )
    prepared = await governor.prepare()
    await transcript.close()
    return own.encode(prepared.messages)


def section(recordings: Sequence[Recording], command: str) -> Section:
    """Rows: the real summaries, names only, ours at the same size and at its own."""
    points = [point for recording in recordings for point in compaction_points(recording)]
    title = "The digest at real compaction points"
    if not points:
        text = "These recordings hold no compaction with its summary."
        return Section(key="digest", title=title, command=command, text=text)
    ledgers = {id(point): ledger_of(point) for point in points}
    after = {id(point): request_after(point) for point in points}
    ways: dict[str, Callable[[CompactionPoint], str]] = {
        "the leading agent's summaries": lambda p: p.summary,
        "names only, newest first, same size": lambda p: newest_names(p, len(p.summary)),
        "our digest, same size": lambda p: made(ledgers[id(p)], len(p.summary)),
        f"our digest, {OWN_CHARS:,} characters": lambda p: made(ledgers[id(p)], OWN_CHARS),
        f"first request after it, window {WINDOW_TOKENS:,}": lambda p: after[id(p)].text,
    }
    found = {name: compaction_row(points, make) for name, make in ways.items()}
    rows = [
        (
            name,
            _percent(row["files"]),
            _percent(row["identifiers"]),
            f"{row['chars_median']:,.0f}",
            _percent(row["file_name_share"]),
        )
        for name, row in found.items()
    ]
    head = (
        "",
        "file names used again",
        "identifiers used again",
        "characters, median",
        "of them file names",
    )
    hidden = sum(one.hidden for one in after.values())
    reached = sum(one.reached for one in after.values())
    names, ours = (found[k] for k in list(ways)[1:3])
    text = (
        f"{len(points)} compactions; used again: in the next 60 messages. *First request after "
        "it*: the session compacted at that point by the digest alone, as small as it goes, "
        "without a model.\n\n"
        f"{table(head, rows)}\n\n"
        f"Of {hidden:,} texts that the first requests no longer show, {reached:,} are reached by "
        f"an address in them in at most two reads ({reached / max(hidden, 1) * 100:.2f} %).\n\n"
        + _verdict(ours, names)
    )
    return Section(key="digest", title=title, command=command, text=text)


def _verdict(ours: dict[str, float], names: dict[str, float]) -> str:
    asked = (
        ("file names", ours["files"] >= ASKED_FILES, ours["files"], ASKED_FILES),
        ("identifiers", ours["identifiers"] >= ASKED_IDENTIFIERS, ours["identifiers"],
         ASKED_IDENTIFIERS),
        ("file names above names only", ours["files"] > names["files"], ours["files"],
         names["files"]),
        ("identifiers above names only", ours["identifiers"] > names["identifiers"],
         ours["identifiers"], names["identifiers"]),
        ("characters that are file names, at most", ours["file_name_share"] <= MOST_FILE_NAMES,
         ours["file_name_share"], MOST_FILE_NAMES),
    )  # fmt: skip
    lines = [
        f"- {what}: {value * 100:.1f} % (asked {wanted * 100:.1f} %), "
        + ("reached" if ok else "**not reached**")
        for what, ok, value, wanted in asked
    ]
    return "At the same size:\n\n" + "\n".join(lines)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.0f} %"
