"""A whole session in a test: real files, the scripted model, a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wayfare import Session
from wayfare.clock import MovableClock
from wayfare.events import Event
from wayfare.messages import Message, ToolCall
from wayfare.providers.retry import Retrying
from wayfare.providers.script import Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on


class Watching:
    """A session about to be opened, and everything it tells."""

    def __init__(
        self,
        workspace: Path,
        script: Iterable[Turn],
        *,
        model: dict[str, Any] | None = None,
        clock: MovableClock | None = None,
    ) -> None:
        self.model = ScriptedModel(script, **(model or {}))
        self.clock = clock or MovableClock()
        self.events: list[Event] = []
        self.workspace = workspace

    def open(self, **options: Any) -> Any:
        """`Session.open` with a short role, no tools unless given, nothing asked."""
        waits = Retrying(self.model, clock=self.clock, sleep=sleep_on(self.clock))
        wanted: dict[str, Any] = {
            "model": waits,
            "tools": (),
            "mode": "full",
            "role": "You are an agent.",
            "clock": self.clock,
            "watch": self.events.append,
            # A script answers the steps of turns; who wants summaries says by whom.
            "summaries": "side_model" in options,
        }
        return Session.open(self.workspace, **(wanted | options))

    def told(self, name: str) -> list[Event]:
        """The events of a name."""
        return [event for event in self.events if event.name == name]

    @property
    def names(self) -> list[str]:
        """The names of what was told, streamed text left out."""
        return [e.name for e in self.events if not e.name.startswith("stream.")]


def asked(name: str, id: str = "c1", **given: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(id=id, name=name, input=given)


def answers(messages: Iterable[Message]) -> list[tuple[str, str, bool]]:
    """Call id, text and error flag of every result, in order."""
    return [(r.call_id, r.text, r.is_error) for m in messages for r in m.results]
