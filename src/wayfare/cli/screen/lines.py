"""What one event looks like: the event in, the lines that stay on the screen out."""

from __future__ import annotations

from typing import Final

from wayfare.cli.printing import plain, short
from wayfare.cli.screen.spans import (
    Line,
    Span,
    cut,
    cut_middle,
    fitted,
    one_line,
    whole,
    width_of,
    wrapped,
)
from wayfare.events import Event

QUIET: Final = frozenset(
    {
        "compaction.done",  # the passes behind it have told their own lines
        "memory.cut_off",
        "memory.dream_started",
        "memory.index_edited",
        "memory.recall_by_words",
        "memory.reject",  # counted in the line of what was stored, kept in the memory's log
        "model.changed",
        "model.gave_up",  # the error itself follows
        "notes.changed",
        "notes.updated",
        "permissions.mode",
        "step.replied",
        "stream.call",
        "stream.text",
        "stream.thinking",
        "tool.begun",
        "tool.progress",
        "turn.begun",
        "turn.ended",
    }
)
"""Events without a line of their own: they move what is live, or whoever asked says so."""
_ALARMS: Final = ("failed", "refused", "gave_up", "torn", "unreadable", "missing", "damaged")
_SLOW_SECONDS: Final = 0.1
_NARROW: Final = 40
"""Columns below which a tool line says only what, and whether it went well."""


def lines_of(event: Event, columns: int) -> list[Line]:
    """The lines an event leaves behind; none for those that only move what is live."""
    if event.name == "tool.ended":
        return [tool_line(event, columns)]
    if event.name == "turn.ended":
        # An error is shown by whoever ran the turn, in full.
        quiet = event.fields.get("ended", "done") in ("done", "error")
        return [] if quiet else alarm(event.text, columns)
    if event.name in QUIET or not event.text.strip():
        return []
    if event.name == "context.fixed" or event.name.endswith(_ALARMS):
        return alarm(event.text, columns)
    if event.name.startswith(("context.", "compaction.")):
        return [compaction_line(event, columns)]
    return [notice(event.text, columns)]


def notice(text: str, columns: int, *, style: str = "dim", mark: str = "·") -> Line:
    """A remark on one line."""
    return fitted(((style, f"{mark} {one_line(text)}"),), columns)


def alarm(text: str, columns: int) -> list[Line]:
    """Something the person must know: whole, on as many lines as it takes."""
    first, *rest = wrapped(text.strip(), columns - 2, style="warn")
    return [(("warn", "· "), *first), *((("", "  "), *line) for line in rest)]


def tool_line(event: Event, columns: int) -> Line:
    """A call that ended: mark, name, main argument, what came of it, size, time."""
    fields = event.fields
    failed = bool(fields.get("is_error"))
    mark: Span = ("bad", "✗ ") if failed else ("good", "✓ ")
    name = plain(whole(str(fields.get("tool", ""))))
    main = plain(whole(str(fields.get("main", ""))))
    brief = one_line(event.text)
    if columns < _NARROW:
        return fitted((mark, ("bold", name), ("", f" {main or brief}")), columns)
    facts = _facts(event)
    room = columns - 2 - width_of(name) - width_of(facts) - 2
    line: list[Span] = [mark, ("bold", name)]
    if failed:
        shown = cut_middle(main, max(room // 3, 10)) if main else ""
        left = room - width_of(shown) - (1 if shown else 0) - 2
        line += [("", f" {shown}" if shown else ""), ("bad", f"  {cut(brief, max(left, 8))}")]
    else:
        line += [("", f" {cut_middle(main or brief, max(room - 1, 8))}")]
    used = sum(width_of(text) for _, text in line)
    gap = max(columns - used - width_of(facts), 2) if columns <= 100 else 2
    return fitted([*line, ("dim", " " * gap + facts)] if facts else line, columns)


def _facts(event: Event) -> str:
    """Size and time of a call."""
    facts: list[str] = []
    chars = event.fields.get("chars")
    if isinstance(chars, int) and not event.fields.get("is_error"):
        facts.append(f"{short(chars)} chars")
    seconds = event.fields.get("seconds")
    if isinstance(seconds, int | float) and seconds >= _SLOW_SECONDS:
        facts.append(duration(seconds))
    return " · ".join(facts)


def duration(seconds: float) -> str:
    """A time for people: 0.3 s, 12 s, 3 min 05 s, 2 h 10 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def compaction_line(event: Event, columns: int) -> Line:
    """Something left the context: what was done, from how many tokens to how many."""
    before, after = event.fields.get("before_tokens"), event.fields.get("after_tokens")
    name = event.name.partition(".")[2]
    if not isinstance(before, int) or not isinstance(after, int) or name in ("done", "nothing"):
        return notice(event.text, columns, mark="▾")
    if name == "rung":
        name = one_line(str(event.fields.get("rung", name)))
    count = event.fields.get("edits")
    what = f"{name} ×{count}" if isinstance(count, int) and count > 1 else name
    sizes = f"{short(before)} → {short(after)} tokens"
    return fitted((("accent", "▾ "), ("", what), ("dim", f"  {sizes}")), columns)
