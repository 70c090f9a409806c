"""What somebody else's agent recorded, as wire messages that can be fed through the runtime again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Wire = dict[str, Any]
"""One message (or, for openai-responses, one item) in its provider's wire format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the file that could not be read, or was left out, while the rest was read."""

    line: int
    """Line of the file, from 1; 0 where the whole file is meant."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A place where the recording tool itself shortened its context; not part of `messages`."""

    index: int
    """Index into `Recording.messages` of the first message after it (may equal their number)."""
    summary: str
    """What took the place of the history; empty where the tool did not record it."""
    trigger: str | None = None
    """`auto` or `manual`, where recorded; in wayfare's own transcripts the name of the pass."""
    tokens_before: int | None = None
    """Size of the context before it in tokens, as the tool measured it."""
    replacement: tuple[Wire, ...] = ()
    """The wire messages that replaced the history, where the tool recorded them whole (Codex)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recorded session."""

    path: str
    name: str
    """File name, with `#n` (from 1) where the file holds several sessions."""
    kind: str
    """The reader that read it: `claude-code`, `codex`, `swe-agent`, `openai-chat`, …"""
    format: str
    """Wire format of `messages`: `anthropic`, `openai-chat` or `openai-responses`."""
    messages: tuple[Wire, ...]
    times: tuple[float | None, ...]
    """Unix time at which each message was complete, in seconds; None where not recorded."""
    system: str | list[Any] | None = None
    """System prompt where the format keeps it apart from the messages and it was recorded. In
    openai-chat it stays what it is on the wire: a message."""
    tools: tuple[Wire, ...] = ()
    """Tool definitions in the wire format, where recorded."""
    model: str | None = None
    compactions: tuple[Compaction, ...] = ()
    side_chains: tuple[Recording, ...] = ()
    """Sessions of sub-agents; their calls and results are not in `messages`."""
    problems: tuple[Problem, ...] = ()
