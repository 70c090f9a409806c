"""What is sent with every call is larger than the window: refused before any call, with sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flow.opened import Watching

from wayfare import Governed, govern, tool
from wayfare.errors import CannotFit
from wayfare.providers.scripted import ScriptedModel

pytestmark = pytest.mark.anyio

WINDOW_TOKENS = 8_000
LONG = "Always answer in full sentences. " * 2_000


def watched(tmp_path: Path) -> Watching:
    model = {"window_tokens": WINDOW_TOKENS, "max_output_tokens": 1_000, "refuses": True}
    return Watching(tmp_path, ["here"], model=model)


def wide_tool() -> Any:
    @tool(description=LONG)
    async def look(path: str) -> str:
        return path

    return look


@pytest.mark.parametrize("part", ["system prompt", "tools"])
async def test_a_session_says_so_when_it_opens_and_its_turn_ends_before_any_call(
    part: str, tmp_path: Path
) -> None:
    watching = watched(tmp_path)
    options = {"role": LONG} if part == "system prompt" else {"tools": [wide_tool()]}
    async with watching.open(**options, side_model=watching.model) as session:
        (told,) = watching.told("context.fixed")
        taken = told.fields[part]
        assert taken > WINDOW_TOKENS
        assert f"{part} {taken:,}" in told.text
        assert "too little room for messages" in told.text
        with pytest.raises(CannotFit):
            await session.run("begin")
        with pytest.raises(CannotFit) as caught:
            await session.run("begin")
        assert watching.model.requests == []
        assert caught.value.window_tokens == WINDOW_TOKENS
        assert caught.value.by_part[part] == taken
        assert f"{part} {taken:,}" in str(caught.value)
        # The session is whole: with a window that is large enough it goes on.
        await session.change_model(ScriptedModel(["at last"], window_tokens=200_000))
        assert (await session.run("again")).text == "at last"


async def test_instructions_of_a_workspace_are_cut_to_their_share_and_never_shut_it_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "AGENTS.md").write_text(LONG)
    watching = watched(tmp_path)
    async with watching.open() as session:
        assert (await session.run("begin")).text == "here"
    (request,) = watching.model.requests
    assert "Always answer in full sentences." in request.system
    assert len(request.system) < len(LONG) / 4


MESSAGES = {
    "anthropic": [{"role": "user", "content": "begin"}],
    "openai-chat": [{"role": "user", "content": "begin"}],
    "openai-responses": [{"role": "user", "content": "begin"}],
}


@pytest.mark.parametrize("format", MESSAGES)
@pytest.mark.parametrize("given", ["system", "tools"])
def test_a_host_is_told_the_sizes_in_place_of_a_list(
    format: str, given: str, tmp_path: Path
) -> None:
    wide: dict[str, Any] = {
        "system": LONG,
        "tools": [{"name": "look", "description": LONG, "input_schema": {"type": "object"}}],
    }
    with pytest.raises(CannotFit, match=r"system and tools 2\d,\d{3}") as caught:
        govern(
            MESSAGES[format],
            format=format,
            window_tokens=WINDOW_TOKENS,
            root=tmp_path,
            **{given: wide[given]},
        )
    assert caught.value.window_tokens == WINDOW_TOKENS
    assert caught.value.by_part["system and tools"] > WINDOW_TOKENS


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
def test_a_system_prompt_among_the_messages_is_refused_and_never_cut(
    format: str, role: str, tmp_path: Path
) -> None:
    messages = [{"role": role, "content": LONG}, {"role": "user", "content": "begin"}]
    context = Governed(format=format, window_tokens=WINDOW_TOKENS, root=tmp_path)
    with pytest.raises(CannotFit) as caught:
        context.govern(messages)
    assert caught.value.by_part["system and tools"] > WINDOW_TOKENS
    assert caught.value.by_part["other messages"] == 0


def test_a_long_system_prompt_among_the_messages_stays_whole_under_pressure(
    tmp_path: Path,
) -> None:
    rules = "Rule: answer in full sentences. " * 100
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": rules},
        {"role": "user", "content": "Read the files."},
    ]
    for n in range(12):
        call = {"name": "read", "arguments": json.dumps({"path": f"f{n}.txt"})}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        messages += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{n}: " + "a line of it\n" * 900},
        ]
    context = Governed(format="openai-chat", window_tokens=WINDOW_TOKENS, root=tmp_path)
    governed = context.govern(messages)
    assert governed[0] == messages[0]
    smaller = context.refused(limit_tokens=6_000, sent_tokens=8_100)
    assert smaller[0] == messages[0]
    assert len(json.dumps(smaller)) < len(json.dumps(governed))
