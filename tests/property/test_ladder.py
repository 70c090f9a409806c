"""The ladder always ends, in a reply or in one clear error, whatever a provider refuses."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from bench.judges.validity import violations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.histories import histories

from wayfare.agent.model_call import ask
from wayfare.context.budget import Budget
from wayfare.errors import CannotFit, ModelRefused, OutputTooLarge, PromptTooLong
from wayfare.formats import codec
from wayfare.messages import user
from wayfare.model import Request
from wayfare.providers.scripted import ScriptedModel
from wayfare.replay.reachable import reachable
from wayfare.testing.kits import memory_kit
from wayfare.tokens import TokenMeter

_OUTPUT_TRIES = 4
"""How often one call may be sent again only to ask for less output; see `model_call`."""

numbers = st.one_of(st.none(), st.integers(0, 300_000))
too_long = st.builds(
    lambda limit, sent: PromptTooLong("too long", limit_tokens=limit, sent_tokens=sent),
    numbers,
    numbers,
)
too_much_output = st.builds(
    lambda most, limit: OutputTooLarge("too much", output_limit_tokens=most, limit_tokens=limit),
    st.one_of(st.none(), st.integers(0, 30_000)),
    numbers,
)
malformed = st.just(ModelRefused("reasoning is not accepted", repairable=True))
refusals = st.lists(st.one_of(too_long, too_long, too_much_output, malformed), max_size=14)
budgets = st.one_of(
    st.integers(3_000, 60_000).map(Budget.window),
    st.integers(3_000, 60_000).map(lambda w: Budget.classic(w, limit_chars=30_000)),
)


@dataclass(kw_only=True)
class Provider:
    """Refuses as planned and then answers; keeps the size of every request and what followed."""

    plan: list[Exception]
    sent: list[tuple[Request, Exception | None]] = field(default_factory=list)

    def __call__(self, request: Request) -> Any:
        answer = self.plan.pop(0) if self.plan else None
        self.sent.append((request, answer))
        return answer if answer is not None else "here you are"


def size(request: Request) -> int:
    meter = TokenMeter()
    return sum(meter.message(message).tokens for message in request.messages)


async def climb(
    history: list[dict[str, Any]], format: str, budget: Budget, plan: list[Exception]
) -> None:
    """Two calls after a history, against a provider that refuses as planned."""
    provider = Provider(plan=plan)
    model = ScriptedModel([], always=provider, window_tokens=budget.window_tokens)
    kit = await memory_kit(model, budget=budget, format=format)
    own = codec(format)
    await kit.governor.add([own.decode(wire) for wire in history])
    for number in range(2):
        await kit.governor.add([user(f"request {number}")])
        before = len(provider.sent)
        reply = None
        try:
            reply = await ask(kit)
        except CannotFit:
            pass
        except ModelRefused:
            return  # a second malformed history is nobody's to mend
        call = provider.sent[before:]
        refused = sum(isinstance(answer, PromptTooLong) for _, answer in call)
        assert refused <= budget.sends_a_call
        assert len(call) <= budget.sends_a_call + _OUTPUT_TRIES + 2
        key = "input" if format == "openai-responses" else "messages"
        for (request, answer), (following, _) in zip(call, call[1:], strict=False):
            if isinstance(answer, PromptTooLong):
                assert size(following) < size(request), "refused and sent again as large"
            else:
                assert size(following) <= size(request)
                changed = following.max_output_tokens != request.max_output_tokens
                assert changed or following.messages != request.messages, "the same bytes again"
        for request, _ in call:
            assert violations({key: own.encode(request.messages)}, format) == []
        if call:
            found = await reachable(kit.governor.transcript, call[-1][0].messages)
            assert not found.lost
        if reply is not None:
            await kit.governor.add([reply.message], usage=reply.usage)


def plain(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without reasoning: what becomes of it is the passes' business, not the ladder's."""
    made = copy.deepcopy(history)
    for message in made:
        if isinstance(message["content"], list):
            message["content"] = [b for b in message["content"] if b["type"] != "thinking"]
    return made


@pytest.mark.parametrize("format", ["anthropic", "openai-chat"])
def test_the_ladder_ends_against_a_hostile_provider(format: str) -> None:
    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(history=histories(format, hostile=False), budget=budgets, plan=refusals)
    def ends(history: list[dict[str, Any]], budget: Budget, plan: list[Exception]) -> None:
        anyio.run(climb, plain(history), format, budget, list(plan))

    ends()
