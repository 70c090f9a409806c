"""`todo_write`: the task list of the session, kept in the log by its own calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from wayfare.agent.builtin.notes import noted
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ToolContext, ToolOutput, failure

Status = Literal["pending", "in_progress", "completed", "blocked", "cancelled"]
_OPEN = ("pending", "in_progress", "blocked")


class TodoItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One item of the task list."""

    id: str
    content: str
    status: Status = "pending"
    owner: str = ""
    depends_on: tuple[str, ...] = ()


@tool(main_argument="todos")
def todo_write(todos: list[TodoItem], *, context: ToolContext) -> ToolOutput:
    """Write the task list, whole: it replaces the one before and survives compaction and restarts.

    Keep one item in progress; complete it as soon as it is done; cancel what is not to be done.

    Args:
        todos: All items in order: a short id, what to do, its status, who does it (owner, empty
            for you), and the ids of items it depends on (depends_on).
    """
    wrong = list(_wrong(todos))
    if wrong:
        return failure("the task list was not taken:\n" + "\n".join(f"- {w}" for w in wrong))
    counts = Counter(item.status for item in todos)
    said = ", ".join(f"{count} {_words(status)}" for status, count in counts.items())
    text = f"{len(todos)} items: {said}." if todos else "The task list is empty."
    following = _next(todos)
    if following is not None:
        text += f" Next: {following.id}, {following.content}"
    return ToolOutput(text=noted(text, _hints(todos, context.sight.todos())), brief=text)


def _words(status: str) -> str:
    return status.replace("_", " ")


def _wrong(todos: Sequence[TodoItem]) -> Iterator[str]:
    """What makes the list none."""
    known = {item.id for item in todos}
    for id, count in Counter(item.id for item in todos).items():
        if count > 1:
            yield f"{count} items have the id {id!r}"
    for item in todos:
        if not item.id.strip():
            yield f"an item has no id: {item.content[:60]!r}"
        if not item.content.strip():
            yield f"item {item.id!r} says nothing in content"
        for other in item.depends_on:
            if other not in known:
                yield f"item {item.id!r} depends on {other!r}, which is not in the list"
    circle = _circle({item.id: item.depends_on for item in todos})
    if circle:
        yield f"items depend on each other in a circle: {' → '.join(circle)}"


def _circle(depends: Mapping[str, Sequence[str]]) -> list[str]:
    """Ids that depend on each other in a circle, the first one again at the end."""
    done: set[str] = set()
    for start in depends:
        path: list[str] = []
        waiting: list[tuple[str, bool]] = [(start, True)]
        while waiting:
            id, entering = waiting.pop()
            if not entering:
                path.pop()
                done.add(id)
                continue
            if id in path:
                return [*path[path.index(id) :], id]
            if id in done or id not in depends:
                continue
            path.append(id)
            waiting.append((id, False))
            waiting += [(other, True) for other in depends[id]]
    return []


def _next(todos: Sequence[TodoItem]) -> TodoItem | None:
    """What is in progress or, where nothing is, the first that waits for nothing."""
    closed = {item.id for item in todos if item.status not in _OPEN}
    for status in ("in_progress", "pending"):
        for item in todos:
            if item.status == status and closed.issuperset(item.depends_on):
                return item
    return None


def _hints(todos: Sequence[TodoItem], before: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is allowed and may be an oversight."""
    status = {item.id: item.status for item in todos}
    busy = [item.id for item in todos if item.status == "in_progress" and not item.owner]
    if len(busy) > 1:
        yield f"{len(busy)} items are in progress ({', '.join(busy)}): better one at a time"
    for item in todos:
        waits = [other for other in item.depends_on if status[other] in _OPEN]
        if waits and item.status in ("in_progress", "completed"):
            yield f"{item.id} is {_words(item.status)}, but depends on {', '.join(waits)}, not done"
    gone = [
        str(old.get("id"))
        for old in before
        if old.get("status") in _OPEN and str(old.get("id")) not in status
    ]
    if gone:
        yield f"items that were open are not in the list any more: {', '.join(gone)}"
