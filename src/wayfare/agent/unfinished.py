"""The built-in Stop hook: open todo items and errors of this turn are handed back, once a turn.

Against finishing early, self-praise and work done twice. What the model says then counts: an item
that is not to be done, or an error that does not matter, needs one sentence.
"""

from __future__ import annotations

from typing import Final

from wayfare.context.facts import Ledger

_CLOSED: Final = frozenset(
    {"completed", "complete", "done", "cancelled", "canceled", "dropped", "blocked", "deferred"}
)
_NOT_RUN: Final = ("denied:", "there is no tool", "invalid input for", "not run:", "[interrupted]")
"""How results begin that say a call was never run: the model was told, nothing is left behind."""
_LISTED: Final = 20


def open_ends(ledger: Ledger, *, since_entry: int) -> str:
    """What is unfinished, as words for the model; empty when nothing is.

    Args:
        ledger: Facts of the session.
        since_entry: Errors before this entry are old and were handed back before, if at all.
    """
    items = [
        str(todo.get("content", todo.get("text", "")))
        for todo in ledger.todos
        if str(todo.get("status", "")).lower() not in _CLOSED
    ]
    errors = [
        f"{error.use}: {error.text}"
        for error in ledger.errors.values()
        if error.entry > since_entry and not error.text.startswith(_NOT_RUN)
    ]
    if not items and not errors:
        return ""
    lines = ["Before you stop:"]
    if items:
        lines += ["Items of the task list that are still open:", *_list(items)]
    if errors:
        lines += ["Calls of this turn that failed and did not succeed later:", *_list(errors)]
    lines.append(
        "Go on with what is left to do. If an item is not to be done, or an error does not matter, "
        "say so in one sentence, set the task list right, and stop."
    )
    return "\n".join(lines)


def _list(lines: list[str]) -> list[str]:
    shown = [f"- {line}" for line in lines[:_LISTED]]
    if len(lines) > _LISTED:
        shown.append(f"- … and {len(lines) - _LISTED} more")
    return shown
