"""Whole turns with the packaged model: tool calls, a real overflow survived, an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wayfare import Session, tool
from wayfare.agent.limits import Limits
from wayfare.context.budget import Budget
from wayfare.context.invariants import violations
from wayfare.events import Event
from wayfare.messages import assistant, user
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.keys import NO_KEY
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel

pytestmark = [pytest.mark.local_model, pytest.mark.anyio]

WINDOW_TOKENS = 4_096
SETTINGS = ModelSettings(
    window_tokens=WINDOW_TOKENS, max_output_tokens=32, extra_body={"temperature": 0.0}
)


@pytest.fixture(scope="module")
def local(packaged_model: Path) -> Iterator[LocalModel]:
    """The model, loaded for as long as these tests run."""
    model = LocalModel(packaged_model, settings=SETTINGS)
    model.process.join(model)
    yield model
    model.process.leave(model)


def opened(workspace: Path, model: Any, **options: Any) -> Any:
    wanted: dict[str, Any] = {
        "model": model,
        "summaries": False,
        "tools": (),
        "role": "You are a coding agent.",
        "mode": "full",
        "limits": Limits(steps_per_turn=4, repeats_told=2, repeats_ended=3),
    }
    return Session.open(workspace, **(wanted | options))


def through_the_sdk(
    local: LocalModel,
    *,
    max_output_tokens: int,
    kind: type[AnthropicModel] | type[OpenAIChatModel] = OpenAIChatModel,
) -> AnthropicModel | OpenAIChatModel:
    """The same server as a model whose window nobody knows, through an official SDK."""
    settings = ModelSettings(
        window_tokens=200_000,
        max_output_tokens=max_output_tokens,
        extra_body={"temperature": 0.0},
        extra_headers={"Connection": "close"},
    )
    address = local.process.join(local).base_url
    if kind is AnthropicModel:
        address = address.removesuffix("/v1")
    return kind("local", key=NO_KEY, settings=settings, base_url=address)


@tool(read_only=True)
async def read_file(path: str) -> str:
    """Read a file and return its text."""
    return "The secret word is apple."


async def test_a_turn_with_tool_calls(local: LocalModel, tmp_path: Path) -> None:
    events: list[Event] = []
    async with opened(tmp_path, local, tools=[read_file], watch=events.append) as session:
        ended = await session.run("Read the file notes.txt")
        messages = session.messages
        assert not violations(session.governor.view)
        assert session.totals.usage.prompt_tokens > 100
    called = [call.id for m in messages for call in m.calls]
    assert called, "the model was made to choose a tool"
    assert called == [result.call_id for m in messages for result in m.results]
    # A small model repeats itself; the loop ends all the same, for one of these reasons.
    assert ended.how in ("done", "repeating", "steps_per_turn")
    assert [e for e in events if e.name == "tool.ended"]


@pytest.mark.parametrize(
    "kind", [OpenAIChatModel, AnthropicModel], ids=["openai SDK", "anthropic SDK"]
)
async def test_a_real_overflow_is_survived_through_the_real_sdk(
    local: LocalModel, tmp_path: Path, kind: type[AnthropicModel] | type[OpenAIChatModel]
) -> None:
    model = through_the_sdk(local, max_output_tokens=16, kind=kind)
    events: list[Event] = []
    # We believe in 200,000 tokens; the server refuses what is over 4,096 and says so.
    budget = Budget.window(200_000, max_output_tokens=16)
    once = Limits(length_stops_in_a_row=0)
    async with opened(tmp_path, model, budget=budget, watch=events.append, limits=once) as session:
        for n in range(40):
            await session.governor.add([user(f"note {n}: " + "word " * 200), assistant("noted")])
        ended = await session.run("Say hello.")
        assert ended.how in ("done", "length")
        assert session.governor.budget.window_tokens == WINDOW_TOKENS
        assert not violations(session.governor.view)
        text = "\n".join(m.text for m in session.messages)
        assert "[Reactive compact]" in text or "[Compacted]" in text
        assert "Say hello." in text
    await model.close()
    (rung,) = [e for e in events if e.name == "context.rung"]
    assert rung.fields["limit_tokens"] == WINDOW_TOKENS
    assert rung.fields["after_tokens"] < WINDOW_TOKENS


async def test_an_interrupted_reply_frees_the_server_and_the_session_goes_on(
    local: LocalModel, tmp_path: Path
) -> None:
    def interrupt(event: Event) -> None:
        if event.name == "stream.text" and not heard:
            heard.append(event.text)
            session.interrupt()

    heard: list[str] = []
    # Long enough that it is still being written when the first words have come.
    model = through_the_sdk(local, max_output_tokens=2_000)
    async with opened(tmp_path, model, watch=interrupt) as session:
        ended = await session.run("Tell a very long story of a ship.")
        assert ended.how == "interrupted"
        assert [m.role for m in session.messages] == ["user"]
        await session.change_model(local)
        again = await session.run("Say hello.")
        assert again.steps > 0
        assert len(session.messages) > 2, "the server answers again"
    await model.close()
