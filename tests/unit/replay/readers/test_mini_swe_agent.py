"""mini-SWE-agent trajectories, both formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording


def read(folder: Path, value: Any) -> Recording:
    path = folder / "x.traj.json"
    path.write_text(json.dumps(value, indent=2))
    (found,) = read_recordings(path)
    return found


def test_the_tools_own_fields_are_taken_off(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "out"}
    found = read(
        tmp_path,
        {
            "info": {"mini_version": "2.0.0", "config": {"model": {"model_name": "m"}}},
            "messages": [
                {"role": "system", "content": "s"},
                {**reply, "extra": {"timestamp": 10.5, "response": {}}},
                {**answer, "extra": {"timestamp": 11.5}},
                {"role": "exit", "content": "bye", "extra": {"submission": ""}},
                "oops",
            ],
            "trajectory_format": "mini-swe-agent-1.1",
        },
    )
    assert list(found.messages) == [{"role": "system", "content": "s"}, reply, answer]
    assert found.times == (None, 10.5, 11.5)
    assert (found.kind, found.model) == ("mini-swe-agent", "m")
    assert found.problems[0].reason == "message 4 is none: a string"


def test_the_first_format_is_known_by_its_report(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "u", "timestamp": 7}]
    found = read(tmp_path, {"info": {"exit_status": "x", "submission": ""}, "messages": messages})
    assert (found.kind, found.times) == ("mini-swe-agent", (7.0,))
    assert found.messages == ({"role": "user", "content": "u"},)


def test_responses_are_taken_apart_into_items(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"}
    out = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    found = read(
        tmp_path,
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "messages": [
                {"role": "user", "content": "u"},
                {"object": "response", "output": [{"type": "reasoning"}, call], "extra": {}},
                {**out, "extra": {"timestamp": 3}},
            ],
        },
    )
    assert found.format == "openai-responses"
    assert list(found.messages)[1:] == [{"type": "reasoning"}, call, out]
    assert found.times == (None, None, None, 3.0)
