"""The manifest: the numbered list of records a selection sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wayfare.memory.folder import Entry
from wayfare.memory.index import shortened
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits
from wayfare.memory.record import one_line

_DAY_SECONDS = 86_400.0
_NARROWER = (160, 110, 80)
"""Characters of a description, tried in turn until every record has its line: a short line that
is there can be chosen, a long one that is not cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The list as sent, and which file each of its numbers (from 0) means.

    `narrowed` says that there were more records than are listed.
    """

    text: str
    files: tuple[str, ...]
    narrowed: bool = False


def build_manifest(
    entries: Sequence[Entry],
    *,
    now: float,
    when: Callable[[Entry], float],
    likely: Callable[[int], Sequence[str]] | None = None,
    limits: MemoryLimits = DEFAULT_LIMITS,
) -> Manifest:
    """List the records, one line each: number, type, file, age, description.

    Args:
        entries: All of them, in the order they are listed.
        now: Unix seconds, for ages.
        when: When a record was last changed (unix seconds; 0: unknown).
        likely: The so many files the query is likeliest about, asked only when not all fit.
        limits: Records, characters, characters of a description.
    """
    for chars in (limits.manifest_description_chars, *_NARROWER):
        if len(entries) > limits.manifest_records:
            break
        lines = [_line(n, entry, now, when, chars) for n, entry in enumerate(entries)]
        if sum(len(line) + 1 for line in lines) <= limits.manifest_chars:
            return Manifest(text="\n".join(lines), files=tuple(e.file for e in entries))
    chosen = list(entries)
    if likely is not None:
        wanted = {file: n for n, file in enumerate(likely(limits.manifest_records))}
        # Standing and likely records first; the sort is stable, so the rest keeps its order.
        chosen.sort(key=lambda e: (not e.always, wanted.get(e.file, len(wanted))))
    listed: list[str] = []
    files: list[str] = []
    used = 0
    for entry in chosen[: limits.manifest_records]:
        line = _line(len(listed), entry, now, when, _NARROWER[-1])
        if used + len(line) + 1 > limits.manifest_chars:
            break
        listed.append(line)
        files.append(entry.file)
        used += len(line) + 1
    return Manifest(text="\n".join(listed), files=tuple(files), narrowed=len(files) < len(entries))


def age(seconds: float) -> str:
    """How long ago, in words: `today`, `3 days ago`, `5 months ago`, `2 years ago`."""
    days = int(max(seconds, 0.0) // _DAY_SECONDS)
    if days == 0:
        return "today"
    for size, unit in ((365, "year"), (30, "month"), (1, "day")):
        if days >= size:
            count = days // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "today"


def _line(number: int, entry: Entry, now: float, when: Callable[[Entry], float], chars: int) -> str:
    changed = when(entry)
    told = age(now - changed) if changed else "age unknown"
    description = shortened(one_line(entry.description), chars)
    return f"[{number}] {entry.type} | {one_line(entry.file)} | {told} | {description}"
