"""The page `wayfare context` prints: bars on a terminal, the same numbers in a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wayfare.cli.printing import counted, plain
from wayfare.clock import moment
from wayfare.transcript import EditEntry

_TITLES: Final = {"tool": "tool results", "summary": "digests and markers"}
_BAR_COLUMNS: Final = 40
_NUMBERS_COLUMNS: Final = 50
"""What stands left of a bar."""


@dataclass(slots=True, kw_only=True)
class Pile:
    """What one origin or tool takes."""

    tokens: int = 0
    count: int = 0

    def add(self, tokens: int) -> None:
        """One more of it."""
        self.tokens += tokens
        self.count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Large:
    """One of the largest messages: its entry, what it is, estimated tokens."""

    entry: int
    what: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a session's context holds.

    `tokens` is what it takes as far as anybody knows, `estimated_tokens` what the meter says of
    the messages alone; the piles are in units of the latter.
    """

    session: str
    format: str
    budget: str
    window_tokens: int
    limit_tokens: int
    log: str
    table: str
    table_lines: int
    messages: int
    entered: int
    tokens: int
    estimated_tokens: int
    reported_tokens: int
    origins: Mapping[str, Pile]
    tools: Mapping[str, Pile]
    largest: Sequence[Large]
    edits: Mapping[str, int]
    last: Mapping[str, EditEntry]
    undone: int
    unreadable: tuple[int, ...]
    missing: tuple[str, ...]

    def scaled(self, tokens: int) -> int:
        """Estimated tokens as their part of `tokens`, so that parts add up to the whole."""
        return round(tokens * self.tokens / max(self.estimated_tokens, 1))

    def value(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "session": self.session,
            "format": self.format,
            "budget": self.budget,
            "window_tokens": self.window_tokens,
            "limit_tokens": self.limit_tokens,
            "tokens": self.tokens,
            "reported_tokens": self.reported_tokens,
            "messages": self.messages,
            "entered_messages": self.entered,
            "by_origin": {name: self.scaled(p.tokens) for name, p in self.origins.items()},
            "by_tool": {name: self.scaled(p.tokens) for name, p in self.tools.items()},
            "largest": [
                {
                    "address": f"{self.log}#{one.entry}",
                    "what": one.what,
                    "tokens": self.scaled(one.tokens),
                }
                for one in self.largest
            ],
            "edits": dict(self.edits),
            "contents_lines": self.table_lines,
            "missing": list(self.missing),
        }


def page(found: Contents, others: Sequence[str], width: int | None) -> list[str]:
    """The lines. `width` is the terminal's; None: a pipe, so no bars and nothing cut."""
    share = found.tokens / max(found.limit_tokens, 1)
    lines = [
        f"{plain(found.session)}: {found.format}, budget {found.budget}, "
        f"window {found.window_tokens:,} tokens",
        f"{counted(found.entered, 'message')} entered, {found.messages:,} in the context",
        "",
        f"{found.tokens:,} of {found.limit_tokens:,} tokens ({share:.0%} of the limit)",
    ]
    if width:
        lines.append(_bar(share, min(width, 64)))
    if found.reported_tokens:
        lines.append(f"the provider counted {found.reported_tokens:,} in the last request")
    lines += _piles("by origin", found.origins, found, width)
    lines += _piles("results by tool", found.tools, found, width)
    if found.largest:
        lines += ["", f"largest messages (address: {found.log}#ENTRY)"]
        for one in found.largest:
            text = f"  #{one.entry:<6} {found.scaled(one.tokens):>9,}  {plain(one.what)}"
            lines.append(_cut(text, width))
    lines += ["", "edits" if found.edits else "edits: none"]
    for name, count in sorted(found.edits.items(), key=lambda one: -one[1]):
        last = found.last[name]
        size = f"{last.before:,} → {last.after:,} tokens, " if last.before else ""
        said = f"last #{last.id}, {_when(last.time)}: {size}{plain(last.reason)}"
        lines.append(_cut(f"  {name:<13} {count:>4} ×  {said}", width))
    if found.undone:
        lines.append(f"  {found.undone:,} taken back")
    lines.append("")
    if found.table_lines:
        lines.append(f"table of contents: {found.table} ({counted(found.table_lines, 'line')})")
    lines.append(f"the log: {found.log}")
    if others:
        names = ", ".join(plain(name) for name in reversed(others[-6:]))
        lines.append(_cut(f"other sessions here: {names}", width))
    return lines


def _piles(title: str, piles: Mapping[str, Pile], found: Contents, width: int | None) -> list[str]:
    if not piles:
        return []
    ordered = sorted(piles.items(), key=lambda one: -one[1].tokens)
    most = max(ordered[0][1].tokens, 1)
    room = min(width - _NUMBERS_COLUMNS, _BAR_COLUMNS) if width else 0
    lines = ["", title]
    for name, pile in ordered:
        share = pile.tokens / max(found.estimated_tokens, 1)
        shown = _cut(plain(_TITLES.get(name, name) if title == "by origin" else name), 20)
        numbers = f"{found.scaled(pile.tokens):>9,}  {share:>4.0%}  {pile.count:>6,} ×"
        bar = "  " + "█" * max(round(pile.tokens / most * room), 1) if room > 0 else ""
        lines.append(f"  {shown:<20} {numbers}{bar}")
    return lines


def _bar(share: float, columns: int) -> str:
    filled = min(round(share * columns), columns)
    return "█" * filled + "░" * (columns - filled)


def _cut(text: str, columns: int | None) -> str:
    return text if columns is None or len(text) <= columns else f"{text[: columns - 1]}…"


def _when(seconds: float) -> str:
    return moment(seconds)
