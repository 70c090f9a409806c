"""Claude Code: session files (`~/.claude/projects/…/*.jsonl`) and `--output-format stream-json`.

A session file is a tree of lines (`uuid`, `parentUuid`), several lines of which make one message.
Read from it is what the model saw on the branch that was current at the end:

* the lines of one API message (same `message.id`, one block each, results between them) become one
  assistant message, and the user lines up to the next one become one user message, results first
  and in call order; this is also how the tool sends them;
* compaction summaries are left out and noted, what was before them stays;
* sub-agents (`isSidechain` lines, `agent_progress` lines, files of their own) are side chains;
* left out: what never went to the model (API errors and other `<synthetic>` messages, lines marked
  as visible in the transcript only, progress, snapshots, titles) and attachments other than queued
  prompts: the text the tool made of those is not recorded.

The field names were read off versions 2.1.29 to 2.1.42 and, for older and newer ones, off public
descriptions of the format; none is official.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from wayfare.replay.readers.claude_messages import Line, Turns
from wayfare.replay.readers.claude_tree import branches
from wayfare.replay.readers.fields import content_text, mapping, text, unix_time
from wayfare.replay.readers.source import Source, Unreadable, open_recording, rows_of
from wayfare.replay.recording import Recording, Wire

KIND = "claude-code"

_ROW_TYPES = frozenset(
    {"user", "assistant", "system", "summary", "progress", "attachment", "queue-operation"}
    | {"file-history-snapshot", "ai-title", "custom-title", "last-prompt", "permission-mode"}
)
_SESSION_KEYS = frozenset({"parentUuid", "sessionId", "session_id", "leafUuid", "isSidechain"})


def accepts(row: Wire) -> bool:
    """A line of a session file or of the JSON stream."""
    kind = text(row.get("type"))
    if kind in ("user", "assistant") and "role" in mapping(row.get("message")):
        return True
    known = kind in _ROW_TYPES and not _SESSION_KEYS.isdisjoint(row)
    return known or kind == "file-history-snapshot"


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The session, or the sessions where unrelated ones were put into one file."""
    found = _collect(source, rows)
    beside = _subagent_files(source, found.agents)
    side_lines = {name: lines for name, lines in found.side.items() if name not in beside}
    if found.main:
        sessions = branches(found.main, found.parents, source.problems)
    else:
        # The file of a sub-agent: every line is a side chain, so that is the session.
        sessions, side_lines = list(side_lines.values()), {}
    sides = [_session(source, lines, f"/{name}") for name, lines in side_lines.items()]
    sides += beside.values()
    recordings = [_session(source, lines) for lines in sessions]
    if not recordings:
        return sides if sides else [replace(_session(source, []), problems=source.problems.taken())]
    recordings[0] = replace(
        recordings[0], side_chains=tuple(sides), problems=source.problems.taken()
    )
    return recordings


@dataclass(slots=True)
class _Found:
    main: list[Line] = field(default_factory=list[Line])
    side: dict[str, list[Line]] = field(default_factory=dict[str, list[Line]])
    parents: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Parent of every line that has a uuid, whether or not it is a message."""
    agents: set[str] = field(default_factory=set[str])
    """Ids of sub-agents whose results the session got."""


def _collect(source: Source, rows: Iterable[tuple[int, Any]]) -> _Found:
    found = _Found()
    queued: list[str] = []
    side_roots: dict[str, str] = {}
    attached = False
    for number, value in rows:
        if not isinstance(value, dict):
            source.problems.add(number, "not an object")
            continue
        row = mapping(value)
        uuid = text(row.get("uuid")) or None
        if uuid is not None:
            if uuid in found.parents:
                continue  # copied into the file again when the session was resumed
            parent = row.get("parentUuid") or row.get("logicalParentUuid")
            found.parents[uuid] = text(parent) or None
        agent = text(mapping(row.get("toolUseResult")).get("agentId"))
        if agent.isalnum():  # becomes part of a file name
            found.agents.add(agent)
        if progress := _progress_message(row):
            line = _line(number, progress, source)
            if line is not None:
                name = text(mapping(row.get("data")).get("agentId"))
                found.side.setdefault(f"agent-{name}", []).append(line)
            continue
        attached = attached or _is_queued_prompt(row)
        for line in _lines_of(number, row, queued, source, attached=attached):
            if row.get("isSidechain") or row.get("parent_tool_use_id"):
                name = _side_name(row, side_roots)
                found.side.setdefault(name, []).append(line)
            else:
                found.main.append(line)
    return found


def _lines_of(
    number: int, row: Wire, queued: list[str], source: Source, *, attached: bool
) -> Iterator[Line]:
    """The lines (none or one) that matter for the history."""
    kind = text(row.get("type"))
    if kind == "queue-operation":
        yield from _steered(number, row, queued, attached=attached)
    elif kind in ("user", "assistant"):
        line = _line(number, row, source)
        if line is not None:
            yield line
    elif kind == "system" and row.get("subtype") == "compact_boundary":
        meta = mapping(row.get("compactMetadata") or row.get("compact_metadata"))
        yield _shared(number, row, role="boundary", content=meta)
    elif kind == "system" and row.get("subtype") == "local_command":
        # Later versions log a command of the user (`!ls`, `/cost`) as a system line, earlier ones
        # as a user line; the model gets it as a user message either way.
        yield _shared(number, row, role="user", content=text(row.get("content")))
    elif _is_queued_prompt(row):
        prompt = mapping(row.get("attachment")).get("prompt")
        yield _shared(number, row, role="user", content=prompt)


def _line(number: int, row: Wire, source: Source) -> Line | None:
    message = mapping(row.get("message"))
    content = message.get("content")
    role = text(message.get("role")) or text(row.get("type"))
    if role not in ("user", "assistant") or not isinstance(content, str | list):
        source.problems.add(number, "a message line without a message")
        return None
    model = text(message.get("model"))
    if row.get("isCompactSummary"):
        return _shared(number, row, role="summary", content=content_text(content))
    if row.get("isApiErrorMessage") or row.get("isVisibleInTranscriptOnly"):
        return None
    if model == "<synthetic>":
        return None  # written by the tool itself to keep the roles alternating
    group = text(message.get("id")) or text(row.get("requestId"))
    return _shared(number, row, role=role, content=content, group=group, model=model or None)


def _shared(
    number: int, row: Wire, *, role: str, content: Any, group: str = "", model: str | None = None
) -> Line:
    return Line(
        number=number,
        role=role,
        content=content,
        uuid=text(row.get("uuid")) or None,
        session=text(row.get("sessionId")),
        at=unix_time(row.get("timestamp")),
        is_root=not row.get("parentUuid") and not row.get("logicalParentUuid"),
        group=group,
        model=model,
    )


def _is_queued_prompt(row: Wire) -> bool:
    if row.get("type") != "attachment":
        return False
    attachment = mapping(row.get("attachment"))
    prompt = attachment.get("prompt")
    return attachment.get("type") == "queued_command" and isinstance(prompt, str | list)


def _steered(number: int, row: Wire, queued: list[str], *, attached: bool) -> Iterator[Line]:
    """A prompt typed while the agent worked and taken up in the middle of its turn.

    `enqueue` carries the text; `dequeue` hands it over at the end of the turn, where it is logged
    as a user line; `remove` hands it over at once. Versions that log the handing over as an
    attachment are read from that, the others only from here.
    """
    operation = row.get("operation")
    if operation == "enqueue":
        queued.append(text(row.get("content")))
    elif operation == "popAll":
        queued.clear()
    elif queued and operation in ("dequeue", "remove"):
        named = text(row.get("content"))
        prompt = queued.pop(queued.index(named) if named in queued else 0)
        if operation == "remove" and prompt and not attached:
            yield _shared(number, row, role="user", content=prompt)


def _progress_message(row: Wire) -> Wire | None:
    """A message of a sub-agent, where the version logs them inside progress lines."""
    if row.get("type") != "progress":
        return None
    progress = mapping(row.get("data"))
    message = mapping(progress.get("message"))
    is_message = progress.get("type") == "agent_progress" and "message" in message
    return message if is_message and message.get("type") in ("user", "assistant") else None


def _side_name(row: Wire, roots: dict[str, str]) -> str:
    """Which sub-agent a side line belongs to: named, or found through the line before it."""
    named = text(row.get("agentId")) or text(row.get("parent_tool_use_id"))
    uuid, parent = text(row.get("uuid")), text(row.get("parentUuid"))
    root = roots.get(parent, uuid)
    if uuid:
        roots[uuid] = root
    return f"agent-{named or root}"


def _subagent_files(source: Source, agents: set[str]) -> dict[str, Recording]:
    """Sub-agents that have files of their own: in the session's folder, earlier beside it."""
    found: dict[str, Recording] = {}
    paths = sorted(source.path.with_suffix("").glob("subagents/agent-*.jsonl"))
    named = [source.path.with_name(f"agent-{agent}.jsonl") for agent in sorted(agents)]
    for path in paths + [path for path in named if path != source.path and path.is_file()]:
        own = Source(path=path)
        try:
            found[path.stem] = _read_subagent(own)
        except Unreadable as error:
            source.problems.add(0, f"sub-agent file {path.name}: {error.reason}")
    return found


def _read_subagent(source: Source) -> Recording:
    lines = _collect(source, rows_of(open_recording(source.path, source.problems)))
    chain = lines.main + [line for side in lines.side.values() for line in side]
    side = _session(source, chain)
    if not side.messages:
        raise Unreadable(1, "it holds no message")
    return replace(side, problems=source.problems.taken())


def _session(source: Source, lines: list[Line], suffix: str = "") -> Recording:
    turns = Turns()
    for line in lines:
        turns.add(line)
    return turns.recording(path=source.path, name=source.path.name + suffix, kind=KIND)
