"""Why a text that was to be replaced is not in a file, and where something like it is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ANCHORS = 12
"""Places compared closely; the lines that are rarest in the file are tried first."""
_COMPARED_CHARS = 20_000
"""Longer texts are not compared sign by sign, which takes time by the square of their length."""
_SHOWN_LINES = 12
_LIKE = 0.6
"""Share of alike signs below which a place is no help."""
_NUMBERED = re.compile(r"^\s*\d+\t", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Lines of a file that are like a text: the first of them (from 1), and the share of alike
    signs."""

    first: int
    lines: tuple[str, ...]
    likeness: float


def explain(text: str, wanted: str, instead: str) -> str:
    """What to tell the model about a text that was not found."""
    if _NUMBERED.match(wanted) and _NUMBERED.sub("", wanted) in text:
        return (
            "It has line numbers in front of its lines: they belong to read_file, not to the file"
        )
    if "\\n" in wanted and wanted.replace("\\n", "\n").replace('\\"', '"') in text:
        return "It has a backslash and an n where the file has line ends"
    if len(instead.strip()) > 8 and instead in text:
        line = text[: text.index(instead)].count("\n") + 1
        return f"The new text already stands at line {line:,}: the edit may have been made before"
    near = nearest(text, wanted)
    if near is None:
        return "Nothing in the file is like it: read the file again"
    lines = near.lines[:_SHOWN_LINES]
    more = (
        f"\n[… {len(near.lines) - len(lines)} more lines]" if len(near.lines) > len(lines) else ""
    )
    shown = "\n".join(f"{near.first + at}\t{line}" for at, line in enumerate(lines))
    why = _difference(wanted, near.lines)
    return f"{why} The nearest is at line {near.first:,}:\n{shown}{more}"


def _difference(wanted: str, lines: Sequence[str]) -> str:
    own = wanted.splitlines()
    if len(own) == len(lines):
        if [line.rstrip() for line in own] == [line.rstrip() for line in lines]:
            return "It differs in blanks at the end of lines."
        if [line.strip() for line in own] == [line.strip() for line in lines]:
            return "It differs in indentation (tabs or blanks)."
        for at, (one, other) in enumerate(zip(own, lines, strict=True)):
            if one != other:
                return f"Its line {at + 1} differs."
    return "It differs."


def nearest(text: str, wanted: str) -> Near | None:
    """The lines of `text` that are most like `wanted`; None when nothing is."""
    lines, own = text.splitlines(), wanted.strip("\r\n").splitlines()
    if not lines or not own:
        return None
    best: Near | None = None
    for start in _starts(lines, own):
        window = lines[start : start + len(own)]
        likeness = _likeness("\n".join(window), "\n".join(own))
        if likeness >= _LIKE and (best is None or likeness > best.likeness):
            best = Near(first=start + 1, lines=tuple(window), likeness=likeness)
    return best


def _starts(lines: Sequence[str], own: Sequence[str]) -> Iterator[int]:
    """Where the text could begin, by lines both have; else by lines that are alike."""
    stripped: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        stripped.setdefault(line.strip(), []).append(at)
    known = [
        (len(stripped[line.strip()]), offset)
        for offset, line in enumerate(own)
        if len(line.strip()) > 2 and line.strip() in stripped
    ]
    starts: dict[int, None] = {}
    for _, offset in sorted(known):
        for at in stripped[own[offset].strip()]:
            starts[max(at - offset, 0)] = None
            if len(starts) >= _ANCHORS:
                yield from starts
                return
    if not starts:
        longest = max(range(len(own)), key=lambda at: len(own[at].strip()))
        like = own[longest].strip()
        if 2 < len(like) <= 500:
            for found in difflib.get_close_matches(like, list(stripped), n=3, cutoff=_LIKE):
                starts |= dict.fromkeys(max(at - longest, 0) for at in stripped[found][:_ANCHORS])
    yield from starts


def _likeness(one: str, other: str) -> float:
    if max(len(one), len(other)) > _COMPARED_CHARS:
        one, other = one[:_COMPARED_CHARS], other[:_COMPARED_CHARS]
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.quick_ratio() if len(one) > 4_000 else matcher.ratio()
