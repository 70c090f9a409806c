"""The replay's judge of requests: takes what providers take, names what they refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from wayfare.replay.validity import WireRules

Messages = list[Any]


def _call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}}


def _result(id: str, content: Any = "text") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


ANTHROPIC: Messages = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "first", "signature": "s"},
            {"type": "text", "text": "reading"},
            _call("t1"),
            _call("t2"),
        ],
    },
    {"role": "user", "content": [_result("t1"), _result("t2"), {"type": "text", "text": "and"}]},
    {"role": "assistant", "content": "done"},
    {"role": "user", "content": "thanks"},
]
CHAT: Messages = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}
            for id in ("c1", "c2")
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "second"},
    {"role": "tool", "tool_call_id": "c1", "content": ""},
    {"role": "assistant", "content": "done"},
    {"role": "user", "content": "thanks"},
]
RESPONSES: Messages = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "x"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
    {"type": "function_call_output", "call_id": "c1", "output": "text"},
    {"role": "assistant", "content": "done"},
]
LEGAL = {"anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES}


def judged(messages: Messages, format: str, system: Any = None) -> list[str]:
    key = "input" if format == "openai-responses" else "messages"
    return list(WireRules()({"system": system, key: messages}, format))


@pytest.mark.parametrize("format", LEGAL)
def test_legal_requests_pass(format: str) -> None:
    assert judged(LEGAL[format], format) == []


def _set(where: Any, key: Any, value: Any) -> None:
    where[key] = value


@pytest.mark.parametrize(
    ("format", "rule", "spoil"),
    [
        ("anthropic", "opening", lambda m: m.pop(0)),
        ("anthropic", "pairs", lambda m: m[2]["content"].pop(1)),
        ("anthropic", "pairs", lambda m: m[1]["content"].pop(3)),
        ("anthropic", "pairs", lambda m: m[2]["content"].append(_result("t1"))),
        ("anthropic", "pairs", lambda m: m.insert(2, {"role": "user", "content": "wait"})),
        ("anthropic", "pairs", lambda m: _set(m[1]["content"][3], "id", "t1")),
        ("anthropic", "pairs", lambda m: m.append({"role": "user", "content": [_result("t9")]})),
        ("anthropic", "order", lambda m: m[2]["content"].reverse()),
        ("anthropic", "empty", lambda m: _set(m[3], "content", [])),
        ("anthropic", "empty", lambda m: _set(m[3], "content", " \n")),
        ("anthropic", "empty", lambda m: _set(m[1]["content"][1], "text", "")),
        ("anthropic", "thinking", lambda m: m[1]["content"][0].pop("signature")),
        ("anthropic", "thinking", lambda m: m[1]["content"].insert(0, _call("t0"))),
        ("anthropic", "arguments", lambda m: _set(m[1]["content"][2], "input", "{}")),
        ("anthropic", "role", lambda m: _set(m[3], "role", "tool")),
        ("anthropic", "encoding", lambda m: _set(m[0], "content", "cut \ud83d")),
        ("openai-chat", "pairs", lambda m: m.pop(4)),
        ("openai-chat", "pairs", lambda m: m.pop(2)),
        ("openai-chat", "pairs", lambda m: m.insert(3, {"role": "user", "content": "wait"})),
        ("openai-chat", "empty", lambda m: _set(m[5], "content", None)),
        ("openai-chat", "empty", lambda m: _set(m[1], "content", [])),
        (
            "openai-chat",
            "arguments",
            lambda m: _set(m[2]["tool_calls"][0]["function"], "arguments", '{"a'),
        ),
        ("openai-responses", "pairs", lambda m: m.pop(5)),
        ("openai-responses", "pairs", lambda m: m.pop(2)),
        ("openai-responses", "pairs", lambda m: _set(m[3], "call_id", "c1")),
        ("openai-responses", "pairs", lambda m: m.append(m[1])),
        ("openai-responses", "reasoning", lambda m: _set(m, slice(2, 6), [m[0]])),
        ("openai-responses", "arguments", lambda m: _set(m[2], "arguments", "{")),
        ("openai-responses", "encoding", lambda m: _set(m[5], "output", "\udc00")),
    ],
)
def test_one_fault_is_named_by_its_rule(
    format: str, rule: str, spoil: Callable[[Messages], Any]
) -> None:
    messages = copy.deepcopy(LEGAL[format])
    spoil(messages)
    assert rule in {line.partition(":")[0] for line in judged(messages, format)}


def test_nothing_to_send_is_no_request() -> None:
    assert judged([], "anthropic") == ["no-messages: messages is empty"]
    assert judged(["text"], "anthropic")[0].startswith("shape: ")


def test_a_system_prompt_must_be_sendable() -> None:
    assert judged(ANTHROPIC, "anthropic", "rules \ud800")[-1].startswith("encoding: ")


def test_a_message_is_looked_at_anew_when_another_object_stands_there() -> None:
    """Sessions are long and objects short-lived: the same address may hold another message."""
    rules = WireRules()
    for text in ("one", " ", "two"):
        found = rules({"messages": [{"role": "user", "content": text}]}, "anthropic")
        assert bool(found) is (text == " ")
