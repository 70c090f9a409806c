"""OpenTelemetry spans of a session, made of the events it tells; the extra `wayfare[telemetry]`.

    from wayfare.integrations.telemetry import Telemetry

    async with Session.open(…, watch=Telemetry()) as session: …

A turn is a span; its steps, tools, compactions and passes are spans within it. Numbers and names
of an event become attributes `wayfare.…`; texts a person or a model wrote never do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from wayfare.events import Event, Watched, ignore
from wayfare.model import Usage

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_LEFT_OUT: Final = ("stream.", "tool.progress")
_WORDS: Final = frozenset(
    [
        "trigger",
        "by",
        "kind",
        "reason",
        "ended",
        "stop",
        "tool",
        "rung",
        "purpose",
        "pass_name",
        "error",
        "model",
        "agent",
        "session",
    ]
)
"""Fields whose text is one of few words and no one's content."""
_OURS: Final = ("context.", "compaction.")
_FAILED: Final = ("failed", "refused", "torn", "write_failed", "lost", "missing", "gave_up")


class Telemetry:
    """A watcher that turns events into spans.

    Args:
        tracer: Where spans go; None: the tracer `wayfare` of the global provider.
        then: A watcher that is told everything afterwards.

    Raises:
        ImportError: the extra is not installed.
    """

    def __init__(self, tracer: Tracer | None = None, then: Watched = ignore) -> None:
        from opentelemetry import trace

        self._trace = trace
        self._tracer = tracer or trace.get_tracer("wayfare")
        self._then = then
        self._turns: dict[str, Span] = {}

    def __call__(self, event: Event, /) -> None:
        """Take note of one event."""
        if not event.name.startswith(_LEFT_OUT):
            self._note(event)
        self._then(event)

    def _note(self, event: Event) -> None:
        agent = str(event.fields.get("agent", ""))
        if event.name == "turn.begun":
            self._end(agent, {})
            self._turns[agent] = self._tracer.start_span("wayfare.turn")
            return
        if event.name == "turn.ended":
            self._end(agent, _attributes(event.fields))
            return
        parent = self._turns.get(agent)
        context = None if parent is None else self._trace.set_span_in_context(parent)
        now = time.time_ns()
        seconds = event.fields.get("seconds")
        began = now - int(seconds * 1e9) if isinstance(seconds, int | float) else now
        span = self._tracer.start_span(
            f"wayfare.{event.name}",
            context=context,
            start_time=began,
            attributes=_attributes(event.fields, ours=event.name.startswith(_OURS)),
        )
        if event.name.rpartition(".")[2].endswith(_FAILED):
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(now)

    def _end(self, agent: str, attributes: Mapping[str, Any]) -> None:
        span = self._turns.pop(agent, None)
        if span is None:
            return
        span.set_attributes(dict(attributes))
        if attributes.get("wayfare.ended") == "error":
            span.set_status(self._trace.StatusCode.ERROR)
        span.end()


def _attributes(
    fields: Mapping[str, Any], *, ours: bool = False
) -> dict[str, bool | int | float | str]:
    """The fields that are numbers or words of ours, by `wayfare.<name>`; usage taken apart.

    `ours` says that a reason was worded by wayfare and not by a hook or a person.
    """
    found: dict[str, bool | int | float | str] = {}
    for name, value in fields.items():
        if isinstance(value, Usage):
            found["gen_ai.usage.input_tokens"] = value.prompt_tokens
            found["gen_ai.usage.output_tokens"] = value.output_tokens
            found["wayfare.cache_read_tokens"] = value.cache_read_tokens
            found["wayfare.cache_write_tokens"] = value.cache_write_tokens
        elif isinstance(value, bool | int | float) or (
            isinstance(value, str) and (name in _WORDS or (ours and name == "reason"))
        ):
            found[f"wayfare.{name}"] = value
    return found
