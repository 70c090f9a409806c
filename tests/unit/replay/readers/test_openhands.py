"""OpenHands histories, both generations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording

AT = "2026-01-01T00:00:00"


def call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}}


def read_all(folder: Path, value: Any) -> list[Recording]:
    path = folder / "output.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read_recordings(path)


def action(kind: str, reply: str = "", *ids: str, source: str = "agent", **args: Any) -> Any:
    event: dict[str, Any] = {"timestamp": AT, "source": source, "action": kind, "args": args}
    if reply:
        message = {"role": "assistant", "content": reply, "tool_calls": [*map(call, ids)]}
        response = {"id": reply, "model": "m", "choices": [{"message": message}]}
        event["tool_call_metadata"] = {"tool_call_id": ids[0], "model_response": response}
    return event


def observed(kind: str, content: str, id: str = "") -> Any:
    event = {"timestamp": AT, "source": "agent", "observation": kind, "content": content}
    return {**event, "tool_call_metadata": {"tool_call_id": id}} if id else event


HISTORY = [
    action("system", content="be good", tools=[{"type": "function"}]),
    action("message", source="user", content="fix it"),
    observed("recall", "added"),
    action("run", "r1", "a", "b"),
    action("run", "r1", "b"),
    observed("run", "second", "b"),
    observed("error", "careful"),
    observed("run", "first", "a"),
    action("condensation", summary="so far"),
    action("finish", "r2", "c"),
]


def test_events_become_a_chat_in_wire_order(tmp_path: Path) -> None:
    (found,) = read_all(tmp_path, {"history": HISTORY, "metadata": {}})
    assert [(m["role"], m["content"]) for m in found.messages] == [
        ("system", "be good"),
        ("user", "fix it"),
        ("assistant", "r1"),
        ("tool", "first"),
        ("tool", "second"),
        ("user", "careful"),
        ("assistant", "r2"),
    ]
    assert [c["id"] for c in found.messages[2]["tool_calls"]] == ["a", "b"]
    assert (found.tools, found.model) == (({"type": "function"},), "m")
    assert found.times == (1767225600.0,) * 7
    assert [(c.index, c.summary) for c in found.compactions] == [(6, "so far")]


def test_one_history_a_line_and_bare_lists(tmp_path: Path) -> None:
    line = json.dumps({"history": HISTORY})
    assert [one.name for one in read_all(tmp_path, f"{line}\n{line}\n")] == [
        "output.json#1",
        "output.json#2",
    ]
    (found,) = read_all(tmp_path, [*HISTORY, 3])
    assert found.problems[0].reason == "event 10 is none: a number or a boolean"


def test_the_second_generation(tmp_path: Path) -> None:
    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, "timestamp": AT, "source": "agent", **fields}

    def made(id: str, reply: str) -> dict[str, Any]:
        asked = {"id": id, "name": "run", "arguments": '{"x": 1}'}
        thought = [{"type": "text", "text": "hm"}]
        return event(
            "ActionEvent", tool_call_id=id, tool_call=asked, llm_response_id=reply, thought=thought
        )

    def seen(id: str, said: str) -> dict[str, Any]:
        content = [{"type": "text", "text": said}]
        return event("ObservationEvent", tool_call_id=id, observation={"content": content})

    (found,) = read_all(
        tmp_path,
        [
            event("SystemPromptEvent", system_prompt={"text": "be good"}, tools=[]),
            event("MessageEvent", llm_message={"role": "user", "content": "go"}, source="user"),
            made("a", "r1"),
            made("b", "r1"),
            seen("b", "second"),
            seen("a", "first"),
            made("c", "r2"),
            event("AgentErrorEvent", tool_call_id="c", error="no such tool"),
            event("Condensation", summary="so far", forgotten_event_ids=[]),
            event("MessageEvent", llm_message={"content": "done"}),
        ],
    )
    assert [m["role"] for m in found.messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant")
    ]
    assert [c["id"] for c in found.messages[2]["tool_calls"]] == ["a", "b"]
    assert found.messages[2]["tool_calls"][0]["function"] == {
        "name": "run",
        "arguments": '{"x": 1}',
    }
    assert [m["content"] for m in found.messages if m["role"] == "tool"] == [
        [{"type": "text", "text": "first"}],
        [{"type": "text", "text": "second"}],
        "no such tool",
    ]
    assert [(c.index, c.summary) for c in found.compactions] == [(7, "so far")]
