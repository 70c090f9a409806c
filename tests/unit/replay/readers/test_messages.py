"""Containers of wire messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None},
    {"role": "tool", "tool_call_id": "c", "content": "done"},
]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
SUMMARY = {"role": "user", "content": [{"type": "text", "text": "so far: a.py"}]}


def anthropic(*texts: str) -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[place % 2], "content": [{"type": "text", "text": one}]}
        for place, one in enumerate(texts)
    ]


def read_all(folder: Path, value: Any) -> list[Recording]:
    path = folder / "file.json"
    path.write_text(json.dumps(value))
    return read_recordings(path)


def test_messages_are_handed_on_as_they_are(tmp_path: Path) -> None:
    (found,) = read_all(tmp_path, {"model": "gpt", "tools": TOOLS, "messages": CHAT})
    assert list(found.messages) == CHAT
    assert list(found.tools) == TOOLS
    assert found.model == "gpt"
    assert found.system is None  # in this format it is a message


@pytest.mark.parametrize("key", ["trajectories", "sessions", "conversations"])
def test_a_set_of_sessions(tmp_path: Path, key: str) -> None:
    found = read_all(tmp_path, {"format": "openai-chat list", key: [{"messages": CHAT}] * 3})
    assert [one.name for one in found] == ["file.json#1", "file.json#2", "file.json#3"]
    assert all(list(one.messages) == CHAT for one in found)


def test_sessions_under_the_names_other_tools_give_them(tmp_path: Path) -> None:
    first, second = read_all(tmp_path, [{"task_id": 1, "traj": CHAT}, {"traj": CHAT[:2]}])
    assert (len(first.messages), len(second.messages)) == (4, 2)
    (logged,) = read_all(
        tmp_path,
        {"request": {"model": "m", "messages": CHAT}, "response": {"choices": [{"message": CALL}]}},
    )
    assert (len(logged.messages), logged.model) == (5, "m")


def test_what_is_no_message_is_told(tmp_path: Path) -> None:
    (found,) = read_all(tmp_path, [*CHAT[:2], "oops", 3, *CHAT[2:]])
    assert list(found.messages) == CHAT
    assert [problem.reason for problem in found.problems] == [
        "message 2 is none: a string",
        "message 3 is none: a number or a boolean",
    ]


def test_system_and_models_of_an_anthropic_list(tmp_path: Path) -> None:
    given = {"system": [{"type": "text", "text": "s"}], "models": {"a": 1, "b": 9}}
    (found,) = read_all(tmp_path, {**given, "messages": anthropic("x", "y")})
    assert (found.format, found.system, found.model) == ("anthropic", given["system"], "b")


def test_recorded_compactions_leave_the_messages(tmp_path: Path) -> None:
    messages = [*anthropic("a", "b"), SUMMARY, *anthropic("c", "d"), SUMMARY, *anthropic("e")]
    marks = [
        {"at_message": 5, "summary_message": 5, "trigger": "manual"},
        {"at_message": 2, "summary_message": 2, "trigger": "auto", "preTokens": 167_000},
        {"at_message": 99, "trigger": "auto"},
    ]
    (found,) = read_all(
        tmp_path, {"format": "anthropic-messages", "messages": messages, "compactions": marks}
    )
    assert [m["content"][0]["text"] for m in found.messages] == ["a", "b", "c", "d", "e"]
    assert [(c.index, c.trigger, c.tokens_before) for c in found.compactions] == [
        (2, "auto", 167_000),
        (4, "manual", None),
    ]
    assert {c.summary for c in found.compactions} == {"so far: a.py"}
    assert "99" in found.problems[0].reason


def test_a_compaction_whose_summary_is_not_recorded(tmp_path: Path) -> None:
    marks = [{"at_message": 2, "replacement_chars": 63_117}]
    (found,) = read_all(tmp_path, {"messages": CHAT, "compactions": marks})
    assert [(c.index, c.summary) for c in found.compactions] == [(2, "")]
    assert len(found.messages) == 4


def test_times_of_messages(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "a", "timestamp": "2026-01-01T00:00:00Z"},
        {"role": "user", "content": "b", "timestamp": 1767225601},
        {"role": "user", "content": "c", "timestamp": 1767225602000},
        {"role": "user", "content": "d", "timestamp": "yesterday"},
        {"role": "user", "content": "e", "timestamp": "2026-01-01T00:00:04"},
    ]
    (found,) = read_all(tmp_path, messages)
    assert found.times == (1767225600.0, 1767225601.0, 1767225602.0, None, 1767225604.0)
