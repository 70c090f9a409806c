"""Cases of operation `run`: turns through the real loop, against a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cases.outcome import Outcome
from tests.cases.sessions import budget_of, format_of, see

from wayfare import Session, Tool, ToolOutput
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.errors import ModelError, WayfareError
from wayfare.formats import codec
from wayfare.messages import ToolCall
from wayfare.providers.classify import Answer
from wayfare.providers.errors_from import Asked, error_from
from wayfare.providers.retry import Retrying
from wayfare.providers.script import Line, Scripted, Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on

_STOPS = {"end_turn": "end", "tool_use": "tools", "max_tokens": "length", "refusal": "refused"}


async def run(case: dict[str, Any], root: Path) -> Outcome:
    """Take in the messages, run each turn, look at what the model would see next."""
    setup, given = case["setup"], case["input"]
    outcome = Outcome(root=root, input_messages=given.get("messages", []))
    budget = budget_of(setup)
    clock = MovableClock()
    model = _model(setup, budget)
    summaries = _model(setup, budget, "summary")
    waits = Retrying(model, clock=clock, sleep=sleep_on(clock))
    opening = Session.open(
        root,
        model=waits,
        side_model=summaries,
        tools=_tools(setup),
        budget=budget,
        role=setup.get("system") or "You are an agent.",
        mode="full",
        clock=clock,
        watch=lambda event: outcome.events.append(f"{event.name}: {event.text}"),
    )
    async with opening as session:
        own = codec(format_of(setup))
        await session.governor.add([own.decode(message) for message in outcome.input_messages])
        turns = given.get("turns") or [None]
        for text in turns:
            try:
                await (session.go_on() if text is None else session.run(text))
            except WayfareError as error:
                outcome.outcome = "clear_failure"
                outcome.events.append(f"error: {error}")
        outcome.calls.update(main=len(model.requests), summary=len(summaries.requests))
        outcome.extra["last_entry"] = session.governor.transcript.last_id
        await see(session.governor, list(session.messages), outcome, setup)
    return outcome


def _tools(setup: dict[str, Any]) -> list[Tool]:
    chars = setup.get("tools_chars", 0)

    async def nothing(given: Any, context: Any) -> ToolOutput:
        return ToolOutput(text="nothing")

    if not chars:
        return []
    return [Tool(name="noop", description="word " * (chars // 5), schema={}, run=nothing)]


def _model(setup: dict[str, Any], budget: Budget, asked_for: str = "main") -> ScriptedModel:
    """The scripted model of a case for the turns, or for summaries."""
    lines: list[Turn] = []
    always: Turn | None = None
    for number, given in enumerate(setup.get("model", [])):
        if given.get("when", "main") != asked_for:
            continue
        said = line(given, number, budget)
        if given.get("repeat"):
            always = said
            break
        lines += [said] * given.get("times", 1)
    return ScriptedModel(lines, always=always, window_tokens=budget.window_tokens)


def line(given: dict[str, Any], number: int, budget: Budget) -> Line:
    """What a scripted model says, as a case writes it."""
    if "error" in given:
        return _error(given["error"], budget)
    stop = given.get("stop_reason", "")
    return Scripted(
        text=given.get("text", ""),
        calls=tuple(_calls(given, number)),
        stop=_STOPS.get(stop, stop),
    )


def _calls(given: dict[str, Any], number: int) -> Iterator[ToolCall]:
    asked = given.get("tool_use") or []
    for at, call in enumerate([asked] if isinstance(asked, dict) else asked):
        id = call.get("id", f"c{number}_{at}")
        yield ToolCall(id=id, name=call["name"], input=call.get("input", {}))


def _error(told: dict[str, Any], budget: Budget) -> ModelError:
    answer = Answer(
        status=told.get("status"),
        body=told.get("body"),
        headers=told.get("headers") or {},
        stop_reason=told.get("stop_reason"),
        window_tokens=budget.window_tokens,
        reserve_tokens=budget.reserve_tokens,
    )
    return error_from(answer, Asked(provider="scripted"))
