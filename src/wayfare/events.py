"""What watchers are told: terminal, hooks, telemetry. Events carry no truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened.

    Args:
        name: What, dotted: `context.microcompact`, `transcript.repaired`, `model.refused`, ...
        text: One line for people.
        fields: Sizes before and after, reason, duration, cost: whatever `name` promises.
    """

    name: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


Watch: TypeAlias = Callable[[Event], None]


class Watched(Protocol):
    """Anything that tells events."""

    def __call__(self, event: Event, /) -> None:
        """Take note; must not raise and must not block."""
        ...


def ignore(event: Event) -> None:
    """The watcher of those who do not watch."""


def of_agent(watch: Watched, number: int) -> Watch:
    """A watcher for a sub-agent: its events reach `watch` with its number in the field `agent`.

    Args:
        watch: Who is told.
        number: Of the sub-agent within its session; that of one it started itself stays.
    """

    def tell(event: Event) -> None:
        watch(replace(event, fields={"agent": number, **event.fields}))

    return tell
