"""The measures without a judge: needed references, needed content, and what survives a compaction.

`NeededIndex`, `Needed`, `Shares` and `Standing` (per step) come from `bench.needed`. Here is the
measure at the real compaction points of recordings: of the file names and identifiers that occur
before a compaction and are used again in the tool inputs of the next 60 messages, the share that
stands in a text: the real summary, a digest, or a bare list of names.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.names import RUN, file_names, files_of, identifiers
from bench.needed import Needed, NeededIndex, Shares, Standing, share
from bench.recordings import Recording
from bench.wire import Format, Wire, call_texts, text_of, texts

NEXT_MESSAGES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPoint:
    """One real compaction: what stood before it, the summary it got, and what was used after."""

    recording: str
    format: Format
    at: int
    messages: Sequence[Wire]
    summary: str
    files: frozenset[str]
    identifiers: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionScore:
    """Names that stand in a text, of those that are used again."""

    files: int
    files_needed: int
    identifiers: int
    identifiers_needed: int
    chars: int
    file_name_chars: int


def compaction_points(recording: Recording) -> list[CompactionPoint]:
    """The compactions of a recording whose summary is among its messages."""
    found: list[CompactionPoint] = []
    for compaction in recording.compactions:
        at: int | None = compaction.get("at_message")
        place: int | None = compaction.get("summary_message")
        if at is None or place is None:
            continue
        summary: Wire = recording.messages[place]
        before: list[Wire] = recording.messages[:at]
        after: list[Wire] = recording.messages[place + 1 : place + 1 + NEXT_MESSAGES]
        used = "\n".join(t for m in after for t in call_texts(m, recording.format))
        known = text_of(before, recording.format)
        found.append(
            CompactionPoint(
                recording=recording.name,
                format=recording.format,
                at=at,
                messages=before,
                summary=text_of([summary], recording.format),
                files=frozenset(file_names(used) & file_names(known)),
                identifiers=frozenset(identifiers(used) & identifiers(known)),
            )
        )
    return found


def score(point: CompactionPoint, text: str) -> CompactionScore:
    """How many of the names that are used again stand in a text."""
    return CompactionScore(
        files=sum(name in text for name in point.files),
        files_needed=len(point.files),
        identifiers=sum(name in text for name in point.identifiers),
        identifiers_needed=len(point.identifiers),
        chars=len(text),
        file_name_chars=sum(len(n) for n in RUN.findall(text) if files_of([n])),
    )


def newest_names(point: CompactionPoint, chars: int) -> str:
    """The row to be above: file names and identifiers alone, newest first, `chars` characters."""
    found: dict[str, None] = {}
    room = chars
    for message in reversed(point.messages):
        fresh: set[str] = set()
        for text in texts(message, point.format):
            fresh |= files_of(RUN.findall(text))
            fresh |= identifiers(text)
        for name in sorted(fresh - found.keys()):
            room -= len(name) + 1
            if room < 0:
                return " ".join(found)
            found[name] = None
    return " ".join(found)


def compaction_row(
    points: Sequence[CompactionPoint], make_text: Callable[[CompactionPoint], str]
) -> dict[str, Any]:
    """The scores of one way to make a text, over all points: sums, and the median of file shares.

    `file_name_share` is the share of the texts' characters that are file names.
    """
    scores = [score(point, make_text(point)) for point in points]
    shares = [s.files / s.files_needed for s in scores if s.files_needed]
    return {
        "points": len(scores),
        "files": share(sum(s.files for s in scores), sum(s.files_needed for s in scores)),
        "files_median": statistics.median(shares) if shares else None,
        "identifiers": share(
            sum(s.identifiers for s in scores), sum(s.identifiers_needed for s in scores)
        ),
        "chars_median": statistics.median(s.chars for s in scores) if scores else None,
        "file_name_share": share(
            sum(s.file_name_chars for s in scores), sum(s.chars for s in scores)
        ),
        "scores": scores,
    }


__all__ = [
    "CompactionPoint",
    "CompactionScore",
    "Needed",
    "NeededIndex",
    "Shares",
    "Standing",
    "compaction_points",
    "compaction_row",
    "newest_names",
    "score",
    "share",
]
