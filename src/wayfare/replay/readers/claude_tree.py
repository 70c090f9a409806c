"""Which lines of a Claude Code session file were still part of the conversation at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayfare.replay.readers.claude_messages import Line
from wayfare.replay.readers.fields import mappings, text
from wayfare.replay.readers.source import ProblemLog


def branches(
    lines: list[Line], parents: Mapping[str, str | None], problems: ProblemLog
) -> list[list[Line]]:
    """The current branch of every session in the file, in file order.

    A file usually holds one. Lines whose ancestors are missing (a bad line, a compaction of an
    older version, a resumed session) continue what stands before them in the file; a root of
    another session starts a new one. Lines of a branch that was given up are noted as a problem.
    """
    lines = _without_repeats(lines)
    if not any(parents.get(line.uuid or "") for line in lines):
        return _by_session(lines)
    return [_current(session, parents, problems) for session in _trees(lines, parents)]


def _without_repeats(lines: list[Line]) -> list[Line]:
    """The lines but for those that a compaction wrote again.

    Later versions keep the last messages as they were when they compact, and log them once more
    behind the summary, under new uuids and with their old times.
    """
    if not any(line.role == "boundary" for line in lines):
        return lines
    seen: set[int] = set()
    kept: list[Line] = []
    compacted = False
    for line in lines:
        compacted = compacted or line.role == "boundary"
        if line.role in ("user", "assistant") and line.at is not None:
            mark = hash((line.at, line.role, line.group, repr(line.content)))
            if compacted and mark in seen:
                continue
            seen.add(mark)
        kept.append(line)
    return kept


def _by_session(lines: list[Line]) -> list[list[Line]]:
    """Lines without a tree (the JSON stream): file order, one list a session."""
    sessions: dict[str, list[Line]] = {}
    for line in lines:
        sessions.setdefault(line.session, []).append(line)
    return list(sessions.values())


def _trees(lines: list[Line], parents: Mapping[str, str | None]) -> list[list[Line]]:
    """The lines, apart by session: a root belongs to what stands before it unless it is a user's
    first message under another session id."""
    roots: dict[str, str] = {}
    trees: list[list[Line]] = []
    tree_of_root: dict[str, list[Line]] = {}
    for line in lines:
        before = trees[-1] if trees else None
        root = _root(line.uuid, parents, roots) if line.uuid else ""
        tree = tree_of_root.get(root, before) if root else before
        if root and root not in tree_of_root:
            starts = line.role == "user" and line.uuid == root and line.is_root
            if before is None or (starts and line.session != before[-1].session):
                tree = None
            if tree is not None:
                tree_of_root[root] = tree
        if tree is None:
            tree = list[Line]()
            trees.append(tree)
            tree_of_root[root] = tree
        tree.append(line)
    return trees


def _root(uuid: str, parents: Mapping[str, str | None], roots: dict[str, str]) -> str:
    """The first known ancestor of a line, remembered for all lines on the way."""
    path: list[str] = []
    current = uuid
    seen: set[str] = set()
    while current not in roots:
        path.append(current)
        seen.add(current)
        parent = parents.get(current)
        if parent is None or parent not in parents or parent in seen:
            roots[current] = current
            break
        current = parent
    root = roots[current]
    for one in path:
        roots[one] = root
    return root


def _current(
    lines: list[Line], parents: Mapping[str, str | None], problems: ProblemLog
) -> list[Line]:
    kept = _ancestors(lines, parents)
    replies = {line.group for line in lines if line.role == "assistant" and line.uuid in kept}
    replies.discard("")
    calls: set[str] = set()
    for line in lines:
        if line.role == "assistant" and (line.uuid in kept or line.group in replies):
            calls.update(_ids(line.content, "id"))
    chosen: list[Line] = []
    left_out: list[Line] = []
    for line in lines:
        outside_tree = line.uuid is None or line.role in ("summary", "boundary")
        in_reply = line.role == "assistant" and bool(line.group) and line.group in replies
        answers = line.role == "user" and not calls.isdisjoint(_ids(line.content, "tool_use_id"))
        kept_line = outside_tree or line.uuid in kept or in_reply or answers
        (chosen if kept_line else left_out).append(line)
    if left_out:
        count = len(left_out)
        problems.add(left_out[0].number, f"{count} lines of a branch that was given up, left out")
    return chosen


def _ancestors(lines: list[Line], parents: Mapping[str, str | None]) -> set[str]:
    """The uuids from the last message up to the first, over gaps in the chain."""
    place = {line.uuid: index for index, line in enumerate(lines) if line.uuid}
    messages = [i for i, line in enumerate(lines) if line.uuid and line.role != "boundary"]
    kept: set[str] = set()
    at = messages[-1] if messages else -1
    current = lines[at].uuid if messages else None
    while current is not None:
        kept.add(current)
        at = min(at, place.get(current, at))
        parent = parents.get(current)
        if parent is None or parent not in parents or parent in kept:
            at = next((i for i in range(at - 1, -1, -1) if lines[i].uuid), -1)
            parent = lines[at].uuid if at >= 0 else None
        if parent in kept:
            break
        current = parent
    return kept


def _ids(content: Any, key: str) -> set[str]:
    return {text(block.get(key)) for block in mappings(content) if block.get(key)}
