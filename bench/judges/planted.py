"""Requests spoiled on purpose, to show that the judges see what is wrong before they judge.

Each case takes a legal request, spoils one thing, and names the rule that has to catch it; the
oversized cases are legal and have to be refused by the simulated provider. `show()` prints the
table and `results()` returns it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.judges.provider import Refusal, SimulatedProvider
from bench.judges.validity import request_messages, violations
from bench.wire import FORMATS, Format

Request = dict[str, Any]
WINDOW_TOKENS = 12_500


def original(format: Format) -> Request:
    """A legal request with parallel calls, thinking or reasoning, and an error result."""
    return copy.deepcopy(
        {"anthropic": _anthropic(), "openai-chat": _chat(), "openai-responses": _responses()}[
            format
        ]
    )


def _anthropic() -> Request:
    def call(id: str, path: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": id, "name": "read", "input": {"path": path}}

    def answer(id: str, content: Any) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": id, "content": content}

    return {
        "system": "You edit code.",
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Fix the parser in parse_date.py"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Read first.", "signature": "c2ln"},
                    {"type": "text", "text": "Reading."},
                    call("toolu_1", "parse_date.py"),
                    call("toolu_2", "test_date.py"),
                ],
            },
            {
                "role": "user",
                "content": [
                    answer("toolu_1", "def parse_date(text): ..."),
                    answer("toolu_2", [{"type": "text", "text": "def test(): ..."}]),
                    {"type": "text", "text": "Be careful."},
                ],
            },
            {"role": "assistant", "content": [call("toolu_3", "missing.py")]},
            {"role": "user", "content": [{**answer("toolu_3", ""), "is_error": True}]},
        ],
    }


def _chat() -> Request:
    def call(id: str, path: str) -> dict[str, Any]:
        arguments = json.dumps({"path": path})
        return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}

    return {
        "messages": [
            {"role": "system", "content": "You edit code."},
            {"role": "user", "content": "Fix the parser in parse_date.py"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("call_1", "parse_date.py"), call("call_2", "test_date.py")],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "def parse_date(text): ..."},
            {"role": "tool", "tool_call_id": "call_2", "content": "def test(): ..."},
            {"role": "assistant", "content": "Found it.", "tool_calls": [call("call_3", "x.py")]},
            {"role": "tool", "tool_call_id": "call_3", "content": ""},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Now the docs."},
        ]
    }


def _responses() -> Request:
    def call(id: str, path: str) -> dict[str, Any]:
        return {
            "type": "function_call",
            "call_id": id,
            "name": "read",
            "arguments": json.dumps({"path": path}),
        }

    return {
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Fix the parser in parse_date.py"}],
            },
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB"},
            call("call_1", "parse_date.py"),
            call("call_2", "test_date.py"),
            {"type": "function_call_output", "call_id": "call_1", "output": "def parse_date ..."},
            {"type": "function_call_output", "call_id": "call_2", "output": "def test ..."},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "Z0FC"},
            {"type": "custom_tool_call", "call_id": "call_3", "name": "apply_patch", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "call_3", "output": "ok"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Done."}],
            },
            {"type": "message", "role": "user", "content": "Now the docs."},
        ]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One spoiled request; `rule` is the part before the colon of the expected violation."""

    name: str
    format: Format
    rule: str
    spoil: Callable[[Any], Any]


def _case(format: Format, name: str, rule: str, spoil: Callable[[Any], Any]) -> Case:
    return Case(name=name, format=format, rule=rule, spoil=spoil)


def _put(where: Any, key: Any, value: Any) -> None:
    where[key] = value


def _swap(messages: list[Any], left: int, right: int) -> None:
    messages[left], messages[right] = messages[right], messages[left]


# fmt: off
ANTHROPIC: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("opens with the assistant", "first-role", lambda m: m.pop(0)),
    ("system message in front", "first-role",
     lambda m: m.insert(0, {"role": "system", "content": "x"})),
    ("system message between call and result", "missing-result",
     lambda m: m.insert(4, {"role": "system", "content": "x"})),
    ("unknown role", "role", lambda m: _put(m[0], "role", "tool")),
    ("result of one parallel call missing", "missing-result", lambda m: m[2]["content"].pop(1)),
    ("all results missing at the end", "missing-result", lambda m: m.pop()),
    ("result without its call", "orphan-result", lambda m: m[1]["content"].pop(3)),
    ("call and result two messages apart", "missing-result",
     lambda m: m.insert(4, {"role": "user", "content": "wait"})),
    ("same result twice", "duplicate-result",
     lambda m: m[4]["content"].append(dict(m[4]["content"][0]))),
    ("same call id twice in a step", "duplicate-call",
     lambda m: _put(m[1]["content"][3], "id", "toolu_1")),
    ("text in front of the results", "result-order",
     lambda m: m[2]["content"].insert(0, {"type": "text", "text": "first"})),
    ("empty content list", "empty-content", lambda m: _put(m[0], "content", [])),
    ("empty text block", "empty-text", lambda m: _put(m[1]["content"][1], "text", "")),
    ("only blanks", "empty-content", lambda m: _put(m[0], "content", " \n")),
    ("thinking without signature", "thinking-signature",
     lambda m: m[1]["content"][0].pop("signature")),
    ("thinking behind text", "thinking-order", lambda m: _swap(m[1]["content"], 0, 1)),
    ("thinking as the final block", "thinking-last",
     lambda m: m.insert(0, {"role": "assistant", "content": [
         {"type": "thinking", "thinking": "x", "signature": "s"}]})),
    ("prefill with trailing blanks", "prefill",
     lambda m: m.append({"role": "assistant", "content": "I will "})),
    ("input is a string", "arguments",
     lambda m: _put(m[3]["content"][0], "input", '{"path": "x"}')),
    ("tool name with a blank", "tool-name",
     lambda m: _put(m[3]["content"][0], "name", "read file")),
    ("call in a user message", "block-role",
     lambda m: m[0].update(content=[{"type": "tool_use", "id": "t", "name": "n", "input": {}}])),
    ("lone surrogate", "lone-surrogate", lambda m: _put(m[0], "content", "cut \ud83d here")),
    ("a set in the input", "not-json", lambda m: _put(m[3]["content"][0], "input", {"p": {1, 2}})),
    ("NaN in the input", "not-json",
     lambda m: _put(m[3]["content"][0], "input", {"p": float("nan")})),
]
CHAT: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("result of one parallel call missing", "missing-result", lambda m: m.pop(4)),
    ("user message between call and result", "missing-result",
     lambda m: m.insert(3, {"role": "user", "content": "wait"})),
    ("result without its call", "orphan-result", lambda m: m.pop(2)),
    ("result of another call", "orphan-result", lambda m: _put(m[6], "tool_call_id", "call_9")),
    ("same result twice", "duplicate-result", lambda m: m.insert(5, dict(m[4]))),
    ("same call id twice in a step", "duplicate-call",
     lambda m: _put(m[2]["tool_calls"][1], "id", "call_1")),
    ("arguments cut off", "arguments",
     lambda m: _put(m[2]["tool_calls"][0]["function"], "arguments", '{"path": "par')),
    ("arguments as an object", "arguments",
     lambda m: _put(m[2]["tool_calls"][0]["function"], "arguments", {"path": "x"})),
    ("empty list of calls", "tool-calls", lambda m: _put(m[7], "tool_calls", [])),
    ("no content and no calls", "empty-content", lambda m: _put(m[7], "content", None)),
    ("empty content array", "empty-content", lambda m: _put(m[1], "content", [])),
    ("unknown role", "role", lambda m: _put(m[1], "role", "human")),
    ("result without tool_call_id", "bad-id", lambda m: m[6].pop("tool_call_id")),
    ("lone surrogate", "lone-surrogate", lambda m: _put(m[6], "content", "\udc00")),
]
RESPONSES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("output of one parallel call missing", "missing-result", lambda m: m.pop(5)),
    ("output without its call", "orphan-result", lambda m: m.pop(3)),
    ("output in front of its call", "orphan-result", lambda m: _swap(m, 2, 4)),
    ("same output twice", "duplicate-result", lambda m: m.insert(6, dict(m[5]))),
    ("two open calls with one id", "duplicate-call", lambda m: _put(m[3], "call_id", "call_1")),
    ("reasoning whose item is gone", "reasoning-alone", lambda m: (m.pop(7), m.pop(7), m.pop(7))),
    ("reasoning at the end", "reasoning-alone",
     lambda m: m.append({"type": "reasoning", "id": "rs_9", "summary": []})),
    ("same item twice", "duplicate-id", lambda m: _put(m[6], "id", "rs_1")),
    ("arguments cut off", "arguments", lambda m: _put(m[2], "arguments", '{"path"')),
    ("input part in an assistant message", "block-role",
     lambda m: _put(m[9]["content"][0], "type", "input_text")),
    ("unknown role", "role", lambda m: _put(m[10], "role", "tool")),
    ("output of another kind", "result-kind", lambda m: _put(m[8], "type", "function_call_output")),
    ("lone surrogate", "lone-surrogate", lambda m: _put(m[4], "output", "\ud800")),
]
# fmt: on
CASES: list[Case] = [
    _case(format, *row)
    for format, rows in zip(FORMATS, (ANTHROPIC, CHAT, RESPONSES), strict=True)
    for row in rows
]


def spoiled(case: Case) -> Request:
    """The legal request of the case's format with the one thing spoiled."""
    request = original(case.format)
    case.spoil(request_messages_in_place(request, case.format))
    return request


def request_messages_in_place(request: Request, format: Format) -> list[Any]:
    """The very list inside the request."""
    return request["input" if format == "openai-responses" else "messages"]


def oversized(format: Format) -> list[tuple[str, Request]]:
    """Legal requests that do not fit into `WINDOW_TOKENS` with the output reserve."""
    reserve = SimulatedProvider(WINDOW_TOKENS, format).reserve_tokens
    found: list[tuple[str, Request]] = []
    for name, words in (
        ("one message larger than the window", "alpha " * (WINDOW_TOKENS + 100)),
        ("fits the window but not the reserve", "alpha " * (WINDOW_TOKENS - reserve + 100)),
        ("Chinese text that characters over four would let pass", "上下文治理" * 4_000),
    ):
        request = original(format)
        messages = request_messages_in_place(request, format)
        role = {"type": "message"} if format == "openai-responses" else {}
        messages.append({**role, "role": "user", "content": words})
        found.append((name, request))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One line of the table."""

    format: Format
    name: str
    judge: str
    expected: str
    said: str
    caught: bool


def results() -> list[Outcome]:
    """Every case judged: the originals have to pass, the spoiled and oversized to be caught."""
    found: list[Outcome] = []
    for format in FORMATS:
        said = "; ".join(violations(original(format), format))
        usage = SimulatedProvider(WINDOW_TOKENS, format).send(original(format))
        found.append(
            Outcome(format=format, name="the original", judge="validity", expected="passes",
                    said=said or f"passes, {usage.sent_tokens} tokens", caught=not said)
        )  # fmt: skip
    for case in CASES:
        lines = violations(spoiled(case), case.format)
        hit = next((line for line in lines if line.startswith(case.rule + ":")), "")
        found.append(
            Outcome(format=case.format, name=case.name, judge="validity", expected=case.rule,
                    said=hit or "; ".join(lines) or "passes", caught=bool(hit))
        )  # fmt: skip
    for format in FORMATS:
        for name, request in oversized(format):
            legal = violations(request, format)
            try:
                SimulatedProvider(WINDOW_TOKENS, format).send(request)
                said, caught = "taken", False
            except Refusal as refusal:
                said, caught = refusal.body["error"]["message"], not legal
            found.append(
                Outcome(format=format, name=name, judge="provider", expected="refused",
                        said=said, caught=caught)
            )  # fmt: skip
    return found


def show() -> bool:
    """Print the table; True when every case is judged as expected."""
    outcomes = results()
    for outcome in outcomes:
        mark = "ok  " if outcome.caught else "MISS"
        print(
            f"{mark} {outcome.format:17} {outcome.judge:9} {outcome.name:54} "
            f"{outcome.expected:19} {outcome.said[:90]!a}"
        )
    missed = sum(not outcome.caught for outcome in outcomes)
    spoiled_count = len(CASES)
    print(
        f"{len(outcomes)} judged: {len(FORMATS)} originals, {spoiled_count} spoiled, "
        f"{len(outcomes) - spoiled_count - len(FORMATS)} oversized; missed {missed}"
    )
    return not missed


__all__ = ["CASES", "Outcome", "original", "oversized", "request_messages", "results", "show"]

if __name__ == "__main__":
    raise SystemExit(0 if show() else 1)
