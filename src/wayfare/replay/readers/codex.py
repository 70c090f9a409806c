"""Codex CLI: rollout files (`~/.codex/sessions/…/rollout-*.jsonl`).

Each line is `{timestamp, type, payload}`; `response_item` payloads are the items of the Responses
API and become the messages as they stand. The oldest versions wrote the items themselves, one a
line, after a first line with the session's id. Compactions (`compacted` lines) are left out and
noted with the items that replaced the history; a turn that the user took back
(`thread_rolled_back`) is left out as the tool does it.

Field names after the data of versions 0.140 to 0.142 and the public source of the tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wayfare.replay.readers.fields import (
    content_text,
    mapping,
    mappings,
    most_common,
    text,
    unix_time,
)
from wayfare.replay.readers.source import Source
from wayfare.replay.recording import Compaction, Recording, Wire

KIND = "codex"

_ENVELOPES = frozenset({"session_meta", "response_item", "compacted", "turn_context", "event_msg"})
_OTHER_ENVELOPES = frozenset({"world_state", "token_usage_record"})
_ITEMS = frozenset(
    {"reasoning", "function_call", "function_call_output", "custom_tool_call", "web_search_call"}
    | {"custom_tool_call_output", "local_shell_call", "local_shell_call_output"}
)
_COMPACTED_ITEMS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_NOT_SENT = frozenset({"ghost_snapshot", "other"})
"""Items that the tool keeps for itself."""


def accepts(row: Wire) -> bool:
    """A rollout line, or a line of the oldest form."""
    kind = text(row.get("type"))
    if kind in _ENVELOPES:
        return "payload" in row
    if "type" not in row:
        is_first = "id" in row and "timestamp" in row and ("instructions" in row or "git" in row)
        return is_first or "record_type" in row
    return kind in _ITEMS or (kind == "message" and "role" in row)


def read(source: Source, rows: Iterable[tuple[int, Any]]) -> list[Recording]:
    """The one session of the file."""
    rollout = _Rollout(source)
    for number, value in rows:
        row = mapping(value)
        if not row:
            source.problems.add(number, "not an object")
        elif "payload" in row:
            rollout.add(number, text(row.get("type")), mapping(row["payload"]), row)
        elif "type" in row:
            rollout.add(number, "response_item", row, row)
        elif "record_type" not in row:
            rollout.add(number, "session_meta", row, row)
    return [rollout.recording()]


@dataclass(slots=True)
class _Rollout:
    source: Source
    items: list[Wire] = field(default_factory=list[Wire])
    times: list[float | None] = field(default_factory=list["float | None"])
    compactions: list[Compaction] = field(default_factory=list[Compaction])
    models: list[str | None] = field(default_factory=list["str | None"])
    turn_starts: list[int] = field(default_factory=list[int])
    session: Wire = field(default_factory=dict[str, Any])
    context_tokens: int | None = None
    unknown: set[str] = field(default_factory=set[str])

    def add(self, number: int, kind: str, payload: Wire, row: Wire) -> None:
        at = unix_time(row.get("timestamp"))
        if not payload:
            self.source.problems.add(number, f"a {kind or 'nameless'} line without a payload")
        elif kind == "response_item":
            self._add_item(number, payload, at)
        elif kind == "compacted":
            self._add_compaction(text(payload.get("message")), payload.get("replacement_history"))
        elif kind == "event_msg":
            self._add_event(number, payload)
        elif kind == "turn_context":
            self.models.append(text(payload.get("model")) or None)
        elif kind == "session_meta":
            # A forked session's file repeats the first lines of the one it was forked from.
            self.session = self.session or payload
        elif kind not in _OTHER_ENVELOPES and kind not in self.unknown:
            self.unknown.add(kind)
            self.source.problems.add(number, f"lines of the unknown type {kind!r} left out")

    def recording(self) -> Recording:
        path = self.source.path
        return Recording(
            path=str(path),
            name=path.name,
            kind=KIND,
            format="openai-responses",
            messages=tuple(self.items),
            times=tuple(self.times),
            system=self._instructions(),
            tools=tuple(_tool(one) for one in mappings(self.session.get("dynamic_tools"))),
            model=most_common(self.models),
            compactions=tuple(self.compactions),
            problems=self.source.problems.taken(),
        )

    def _instructions(self) -> str | None:
        given = text(mapping(self.session.get("base_instructions")).get("text"))
        if given:
            return given
        # In older versions `instructions` may be the user's, which stand in a message as well.
        given = text(self.session.get("instructions"))
        opening = [content_text(one.get("content")) for one in self.items[:5]]
        return given if given and not any(given in one for one in opening) else None

    def _add_item(self, number: int, item: Wire, at: float | None) -> None:
        kind = text(item.get("type"))
        if kind in _COMPACTED_ITEMS:
            self._add_compaction("", [item])
        elif not kind:
            self.source.problems.add(number, "an item without a type")
        elif kind not in _NOT_SENT:
            if item.get("role") == "user" and not _is_context(item):
                self.turn_starts.append(len(self.items))
            self.items.append(item)
            self.times.append(at)

    def _add_compaction(self, summary: str, history: Any) -> None:
        replacement = tuple(mappings(history))
        texts = [content_text(one.get("content")) for one in replacement]
        self.compactions.append(
            Compaction(
                index=len(self.items),
                summary=summary or "\n\n".join(one for one in texts if one),
                tokens_before=self.context_tokens,
                replacement=replacement,
            )
        )

    def _add_event(self, number: int, event: Wire) -> None:
        kind = event.get("type")
        if kind == "token_count":
            usage = mapping(mapping(event.get("info")).get("last_token_usage"))
            tokens = usage.get("input_tokens")
            self.context_tokens = tokens if isinstance(tokens, int) else self.context_tokens
        elif kind == "user_message" and self.items:
            # Typed by the user after all, though it looks like context.
            last, place = self.items[-1], len(self.items) - 1
            typed = last.get("role") == "user" and place not in self.turn_starts
            if typed and content_text(last.get("content")) == event.get("message"):
                self.turn_starts.append(place)
        elif kind == "thread_rolled_back":
            turns = event.get("num_turns")
            self._roll_back(number, turns if isinstance(turns, int) else 1)

    def _roll_back(self, number: int, turns: int) -> None:
        if turns < 1 or not self.turn_starts:
            return
        start = self.turn_starts[-turns] if turns <= len(self.turn_starts) else self.turn_starts[0]
        del self.turn_starts[-turns:]
        self.source.problems.add(
            number, f"{len(self.items) - start} items of turns that were taken back, left out"
        )
        del self.items[start:]
        del self.times[start:]
        self.compactions = [one for one in self.compactions if one.index <= start]


def _is_context(item: Wire) -> bool:
    """Whether a user message is of the tool: instructions files, the environment, notices."""
    return content_text(item.get("content")).startswith(("<", "# AGENTS.md"))


def _tool(given: Wire) -> Wire:
    if "type" in given:
        return given
    schema = given.get("inputSchema", given.get("input_schema", {}))
    return {
        "type": "function",
        "name": given.get("name"),
        "description": given.get("description"),
        "parameters": schema,
    }
