"""Claude Code lines of one branch, put together to the messages they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayfare.replay.readers.fields import mapping, mappings, most_common, sequence, text
from wayfare.replay.recording import Compaction, Recording, Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What matters of one line: a piece of a message, a summary, or a compaction boundary."""

    number: int
    role: str
    """`user`, `assistant`, `summary` (content: its text), `boundary` (content: its metadata)."""
    content: Any
    uuid: str | None = None
    session: str = ""
    is_root: bool = False
    """The line names no parent."""
    at: float | None = None
    group: str = ""
    """Id of the API message; lines with the same one are pieces of one assistant message."""
    model: str | None = None


@dataclass(slots=True)
class Turns:
    """Builds messages from lines in file order. One use, one session."""

    messages: list[Wire] = field(default_factory=list[Wire])
    times: list[float | None] = field(default_factory=list["float | None"])
    compactions: list[Compaction] = field(default_factory=list[Compaction])
    models: list[str | None] = field(default_factory=list["str | None"])
    _group: str = ""
    _reply: list[Any] | None = None
    _reply_at: float | None = None
    _user: list[Line] = field(default_factory=list[Line])
    _boundary: Wire | None = None

    def add(self, line: Line) -> None:
        """The next line of the branch."""
        if line.role == "assistant":
            self._add_reply(line)
        elif line.role == "user":
            self._user.append(line)
        elif line.role == "boundary":
            self._settle()
            self._note_boundary()
            self._boundary = mapping(line.content)
        else:
            self._settle()
            self._note(text(line.content), self._boundary or {})
            self._boundary = None

    def recording(self, *, path: Path, name: str, kind: str) -> Recording:
        """The session as far as it was added."""
        self._settle()
        self._note_boundary()
        return Recording(
            path=str(path),
            name=name,
            kind=kind,
            format="anthropic",
            messages=tuple(self.messages),
            times=tuple(self.times),
            model=most_common(self.models),
            compactions=tuple(self.compactions),
        )

    def _add_reply(self, line: Line) -> None:
        blocks = _blocks(line.content)
        if self._reply is None or not line.group or line.group != self._group:
            self._settle()
            self._note_boundary()
            self._reply, self._group = [], line.group
            self.models.append(line.model)
        known = {text(block.get("id")) for block in mappings(self._reply)} - {""}
        self._reply += [b for b in blocks if text(mapping(b).get("id")) not in known]
        self._reply_at = line.at

    def _settle(self) -> None:
        """Put down the reply and the user lines after it; a further reply starts anew."""
        calls: list[str] = []
        if self._reply is not None:
            self._append("assistant", self._reply, self._reply_at)
            calls = [text(block.get("id")) for block in mappings(self._reply) if "input" in block]
        self._reply, self._group = None, ""
        if self._user:
            self._append("user", _merged(self._user, calls), self._user[-1].at)
        self._user = []

    def _append(self, role: str, content: Any, at: float | None) -> None:
        self.messages.append({"role": role, "content": content})
        self.times.append(at)

    def _note_boundary(self) -> None:
        """A boundary that no summary followed."""
        if self._boundary is None:
            return
        last = self.compactions[-1] if self.compactions else None
        if last is not None and last.index == len(self.messages) and last.trigger is None:
            self.compactions.pop()
            self._note(last.summary, self._boundary)
        else:
            self._note("", self._boundary)
        self._boundary = None

    def _note(self, summary: str, metadata: Wire) -> None:
        before = metadata.get("preTokens", metadata.get("pre_tokens"))
        self.compactions.append(
            Compaction(
                index=len(self.messages),
                summary=summary,
                trigger=text(metadata.get("trigger")) or None,
                tokens_before=before if isinstance(before, int) else None,
            )
        )


def _merged(lines: list[Line], calls: list[str]) -> Any:
    """The content of a user message: results first, in call order, then the rest as it came."""
    if len(lines) == 1:
        return lines[0].content
    blocks: list[Any] = []
    for line in lines:
        blocks += _blocks(line.content)
    order = {call: place for place, call in enumerate(calls)}

    def place(block: Any) -> int:
        if mapping(block).get("type") != "tool_result":
            return len(order) + 1
        return order.get(text(mapping(block).get("tool_use_id")), len(order))

    return sorted(blocks, key=place)


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else sequence(content)
