"""Spans of events: a turn with its parts, sizes, reasons, durations and cost; never contents."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.events import Event
from wayfare.integrations.telemetry import Telemetry
from wayfare.model import Usage

sdk = pytest.importorskip("opentelemetry.sdk.trace")


@pytest.fixture
def exported() -> tuple[Telemetry, Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Telemetry(provider.get_tracer("test")), exporter


def told(name: str, **fields: object) -> Event:
    return Event(name=name, text="SECRET TEXT", fields=fields)


def test_a_compaction_is_a_span_within_its_turn(exported: tuple[Telemetry, Any]) -> None:
    telemetry, exporter = exported
    telemetry(told("turn.begun"))
    telemetry(
        told(
            "compaction.done",
            before_tokens=90_000,
            after_tokens=30_000,
            trigger="auto",
            by="summary",
            reason="80 messages, over the limit",
            seconds=2.5,
            cost=0.4,
        )
    )
    telemetry(told("turn.ended", ended="done", steps=3, cost=1.5))
    compaction, turn = exporter.get_finished_spans()
    assert (compaction.name, turn.name) == ("wayfare.compaction.done", "wayfare.turn")
    assert compaction.parent.span_id == turn.context.span_id
    assert compaction.attributes["wayfare.before_tokens"] == 90_000
    assert compaction.attributes["wayfare.reason"] == "80 messages, over the limit"
    assert compaction.attributes["wayfare.cost"] == 0.4
    assert compaction.end_time - compaction.start_time == 2_500_000_000
    assert turn.attributes["wayfare.steps"] == 3


def test_usage_is_taken_apart_and_no_text_is_exported(exported: tuple[Telemetry, Any]) -> None:
    telemetry, exporter = exported
    usage = Usage(input_tokens=10, cache_read_tokens=5, output_tokens=2)
    telemetry(told("step.replied", usage=usage, prompt="SECRET", calls=1))
    telemetry(told("stream.text"))
    (span,) = exporter.get_finished_spans()
    assert span.attributes["gen_ai.usage.input_tokens"] == 15
    assert span.attributes["gen_ai.usage.output_tokens"] == 2
    assert "SECRET" not in str(span.to_json())


def test_failures_are_marked_and_everything_is_passed_on() -> None:
    from opentelemetry.sdk.trace import TracerProvider

    heard: list[Event] = []
    telemetry = Telemetry(TracerProvider().get_tracer("test"), then=heard.append)
    events = [told("compaction.failed", kind="empty"), told("stream.text"), told("turn.ended")]
    for event in events:
        telemetry(event)
    assert heard == events


def test_a_sub_agents_turn_is_its_own(exported: tuple[Telemetry, Any]) -> None:
    telemetry, exporter = exported
    telemetry(told("turn.begun"))
    telemetry(told("turn.begun", agent=1))
    telemetry(told("turn.ended", agent=1, steps=2))
    telemetry(told("turn.ended", steps=1))
    steps = [s.attributes["wayfare.steps"] for s in exporter.get_finished_spans()]
    assert steps == [2, 1]
