"""G1 to G6 over generated histories, in every format, hostile ones included."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from bench.judges.validity import violations
from bench.wire import Format
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.property.histories import FORMATS, histories

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.errors import CannotFit
from wayfare.formats import codec
from wayfare.messages import Origin
from wayfare.replay.reachable import reachable
from wayfare.session import governed, memory_transcript
from wayfare.tokens import TokenMeter

LEFT_AS_THEY_CAME = ("bad-id", "prefill")
"""Ids go back as the provider gave them, and the last words of an assistant as they were said."""

windows = st.one_of(st.integers(3_000, 3_500), st.integers(3_000, 20_000))
BUDGETS = {
    "window": windows.map(Budget.window),
    "classic": windows.map(lambda w: Budget.classic(w, limit_chars=8_000)),
    "counted": windows.map(
        lambda w: Budget.classic(w, limit_chars=20_000).with_(
            snip_messages=8, snip_head_messages=2, snip_tail_messages=5
        )
    ),
}


@dataclass(kw_only=True)
class Seen:
    """What one request was and what had been promised for it."""

    wires: list[dict[str, Any]]
    had_edits: bool


async def govern_all(history: list[dict[str, Any]], format: Format, budget: Budget) -> None:
    """Feed a history step by step and hold every request against every guarantee."""
    own = codec(format)
    untouched = copy.deepcopy(history)
    transcript = memory_transcript("g", clock=MovableClock(), format=format)
    governor = await governed(transcript, budget, clock=MovableClock())
    before: Seen | None = None
    for at, wire in enumerate([*history, None]):
        message = own.decode(wire) if wire is not None else None
        first_of_step = message is None or (
            message.role == "assistant" and (at == 0 or history[at - 1].get("role") != "assistant")
        )
        if at and first_of_step and _may_send(history[:at], format):
            before = await _request(governor, format, budget, before)
            if before is None:
                return
        if message is not None:
            await governor.add([message])
    assert history == untouched, "G6: the caller's list was changed"


def _may_send(history: list[dict[str, Any]], format: Format) -> bool:
    last = history[-1]
    return last.get("role") != "assistant" and last.get("type") not in (
        "reasoning",
        "function_call",
    )


async def _request(
    governor: Any, format: Format, budget: Budget, before: Seen | None
) -> Seen | None:
    own = codec(format)
    prepared = await _prepared(governor, budget)
    if prepared is None:
        return None
    wires = own.encode(prepared.messages)
    key = "input" if format == "openai-responses" else "messages"
    found = violations({key: wires}, format)
    wrong = [one for one in found if one.partition(":")[0] not in LEFT_AS_THEY_CAME]
    assert wrong == [], f"G1: {wrong}"
    assert prepared.tokens <= budget.limit_tokens, "G4: over the limit"
    if prepared.edits:
        found = await reachable(governor.transcript, prepared.messages)
        assert not found.lost, f"G2: entries {found.lost} are not reachable"
    again = await governor.prepare()
    assert again.edits == (), f"G4: preparing twice committed {again.edits}"
    assert own.encode(again.messages) == wires, "G4"
    if before is not None and not prepared.edits:
        assert wires[: len(before.wires)] == before.wires, "G3: the prefix moved without an edit"
    _active_request(governor, prepared.messages, budget)
    return Seen(wires=wires, had_edits=bool(prepared.edits))


async def _prepared(governor: Any, budget: Budget) -> Any:
    """The prepared request, or None for the one clear error, whose parts must add up."""
    told: CannotFit | None = None
    try:
        return await governor.prepare()
    except CannotFit as error:
        told = error
    assert sum(told.by_part.values()) > budget.window_tokens
    return None


def _active_request(governor: Any, messages: Any, budget: Budget) -> None:
    words = governor.ledger.active_words
    clean = words.encode("utf-8", "replace").decode() == words
    if not words.strip() or not clean:
        return
    if TokenMeter().text(words) + 20 > budget.limit_tokens * budget.request_share:
        return
    assert any(m.origin is Origin.USER and words in m.text for m in messages), "G5"


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("hostile", [False, True], ids=["legal", "hostile"])
@pytest.mark.parametrize("budget_name", sorted(BUDGETS))
def test_every_request_keeps_every_guarantee(
    format: Format, hostile: bool, budget_name: str
) -> None:
    @settings(
        max_examples=12 if budget_name == "window" else 8,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(history=histories(format, hostile=hostile), budget=BUDGETS[budget_name])
    def holds(history: list[dict[str, Any]], budget: Budget) -> None:
        anyio.run(govern_all, history, format, budget)

    holds()
