"""SWE-agent trajectories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording

CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def entry(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **fields}


def step(response: str, observation: str, **fields: Any) -> dict[str, Any]:
    return {"action": "ls\n", "observation": observation, "response": response, **fields}


def read_all(folder: Path, value: Any) -> list[Recording]:
    path = folder / "x.traj"
    path.write_text(json.dumps(value))
    return read_recordings(path)


def test_a_history_without_function_calls(tmp_path: Path) -> None:
    history = [
        entry("system", "be good"),
        entry("user", "a demonstration", is_demo=True),
        entry("assistant", "look\n```\nls\n```", thought="look", action="ls\n"),
        entry("user", "a.py\r\n", message_type="observation"),
    ]
    (found,) = read_all(tmp_path, {"history": history, "trajectory": [step("look", "a.py")]})
    assert (found.kind, found.format) == ("swe-agent", "openai-chat")
    assert list(found.messages) == [{"role": e["role"], "content": e["content"]} for e in history]


def test_a_history_with_function_calls(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "out", "cache_control": {"type": "ephemeral"}}]
    thinking = [{"type": "thinking", "thinking": "hm", "signature": "z"}]
    history = [
        entry("assistant", "look", tool_calls=[CALL], thinking_blocks=thinking, action="ls"),
        entry("tool", blocks, tool_call_ids=["c"], message_type="observation"),
        entry("assistant", None, tool_calls=None),
    ]
    (found,) = read_all(tmp_path, {"history": history})
    assert list(found.messages) == [
        {
            "role": "assistant",
            "content": "look",
            "tool_calls": [CALL],
            "thinking_blocks": thinking,
        },
        {"role": "tool", "content": blocks, "tool_call_id": "c"},
        {"role": "assistant", "content": None},
    ]


def test_steps_alone_with_the_messages_shown_at_each(tmp_path: Path) -> None:
    opening = [entry("system", "be good"), entry("user", "fix it")]
    asked = entry("assistant", "look", tool_calls=[CALL])
    seen = entry("tool", "a.py", tool_call_ids=["c"])
    steps = [
        step("look", "a.py", query=opening),
        step("done", "", query=[*opening, asked, seen]),
    ]
    (found,) = read_all(tmp_path, {"trajectory": steps, "history": [], "info": {}})
    assert [(m["role"], m["content"]) for m in found.messages] == [
        ("system", "be good"),
        ("user", "fix it"),
        ("assistant", "look"),
        ("tool", "a.py"),
        ("assistant", "done"),
        ("user", ""),
    ]
    assert found.messages[3]["tool_call_id"] == "c"


def test_steps_alone_of_the_oldest_form(tmp_path: Path) -> None:
    shown = [entry("system", "s"), entry("user", "u"), entry("assistant", "a"), entry("user", "o")]
    steps = [step("a", "o", messages=shown), step("b", "p")]
    (found,) = read_all(tmp_path, {"trajectory": steps})
    assert [m["content"] for m in found.messages] == ["s", "u", "a", "o", "b", "p"]


def test_attempts_are_sessions_and_other_agents_side_chains(tmp_path: Path) -> None:
    history = [entry("user", "u"), {**entry("user", "side"), "agent": "helper"}]
    attempt = {"history": history, "trajectory": [], "info": {"model_name": "m"}}
    first, second = read_all(tmp_path, {"attempts": [attempt, attempt], "info": {}})
    assert (first.name, second.name, first.model) == ("x.traj#1", "x.traj#2", "m")
    assert [m["content"] for m in first.messages] == ["u"]
    assert [m["content"] for m in first.side_chains[0].messages] == ["side"]


def test_entries_that_are_none_are_told(tmp_path: Path) -> None:
    (found,) = read_all(
        tmp_path, {"history": [entry("user", "u"), 7], "trajectory": [step("", "")]}
    )
    assert len(found.messages) == 1
    assert found.problems[0].reason == "entry 1 of the history is none: a number or a boolean"
