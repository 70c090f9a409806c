"""Histories that broke a guarantee once, one of each kind; the generated ones find more."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from bench.wire import Format
from tests.property.test_guarantees import govern_all

from wayfare.context.budget import Budget

Wire = dict[str, Any]


def lines(line: str, count: int) -> str:
    return (line + "\n") * count


def chat_step(number: int, text: str | None, *results: str) -> list[Wire]:
    ids = [f"c{number}_{k}" for k in range(len(results))]
    calls = [
        {"id": id, "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
        for id in ids
    ]
    return [
        {"role": "assistant", "content": text, "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": id, "content": result}
            for id, result in zip(ids, results, strict=True)
        ),
    ]


WORDS_NEARLY_HALF = [
    {"role": "user", "content": lines("say error: E42 🙂", 52)},
    *chat_step(0, None, lines("测试 naïve fix_the_bug", 294), "short", lines("src/app.py", 244)),
    *chat_step(1, lines("read fix_the_bug", 429), lines("say \u2028 🙂", 122), "short"),
    *chat_step(2, lines("say error: E42", 171), "short"),
    *chat_step(3, "say 测试", *[lines("say \u2028 \u2028 🙂", 122)] * 3),
    *chat_step(4, lines("say \u2028 \u2028 🙂", 122), *[lines("say \u2028 🙂", 122)] * 3),
]


def thought(text: str, number: int) -> Wire:
    return {"type": "thinking", "thinking": text, "signature": f"sig{number}" * 8}


def calls(*ids: str, path: str = "a") -> list[Wire]:
    given = {"path": path}
    return [{"type": "tool_use", "id": id, "name": "read_file", "input": given} for id in ids]


def answers(*ids: str, text: str = "short") -> Wire:
    content = [{"type": "tool_result", "tool_use_id": id, "content": text} for id in ids]
    return {"role": "user", "content": content}


def reply(*blocks: Wire) -> Wire:
    return {"role": "assistant", "content": list(blocks)}


ASKED: Wire = {"role": "user", "content": "go"}
DONE: Wire = {"type": "text", "text": "done"}

TEXT_THEN_REASONING = [
    {"role": "user", "content": lines("fix_the_bug naïve \u2028", 400)},
    reply({"type": "text", "text": lines("测试 error: E42 \r\n", 200)}),
    reply(thought(lines("say error: E42", 190), 1), *calls("t1")),
    answers("t1", text=lines("say \r\n error: E42", 400)),
    reply(thought("hm", 2), DONE),
]
CALL_THEN_ANOTHER_REPLY = [
    reply(*calls("t0", path=lines("say error: E42", 400))),
    reply(DONE),
    reply(thought("hm", 2), *calls("same", "t2")),
    answers("same", "t2", "nobody", text=lines("src/app.py", 900)),
    reply(DONE),
    ASKED,
]
ONE_ID_IN_TWO_REPLIES = [
    ASKED,
    reply(*calls("same")),
    reply(*calls("same", "t1", path=lines("say error: E42", 400))),
    answers("t1", text=lines("src/app.py", 900)),
]
REASONING_WHERE_A_RESULT_IS_MISSING = [
    {"role": "user", "content": lines("say \r\n \u2028", 300)},
    reply(thought(lines("say \r\n", 400), 0), *calls("t0")),
    answers("t0"),
    reply(thought(lines("fix", 500), 1), *calls("same")),
    reply(thought("half \ud83d of it", 2), *calls("same", "t2", path="half \ud83d of it")),
    answers("same", "t2"),
    ASKED,
]
CALLS_IN_A_MESSAGE_WITHOUT_ROLE = [
    ASKED,
    {**reply(thought("hm", 0), *calls("t0")), "role": None},
    answers("t0"),
    {"role": "model", "content": "so it is"},
]
ONE_ID_TWICE_IN_A_REPLY = [
    ASKED,
    reply(thought("hm", 0), *calls("same", "same")),
    answers("same", "same"),
    ASKED,
    reply(*calls("same", "same", path=lines("say error: E42", 400))),
    answers("same", text=lines("src/app.py", 900)),
]
RESULTS_OF_ANOTHER = [
    ASKED,
    reply(*calls("t0", "t1")),
    {"role": "user", "content": [*answers("another", "another")["content"], DONE]},
]
RESULT_OF_ANOTHER_FIRST = [
    ASKED,
    reply(*calls("t0")),
    answers("another"),
    answers("t0"),
    ASKED,
]
CHAT_WITHOUT_ROLES = [
    {"role": None, "content": "go"},
    *[{k: v for k, v in m.items() if k != "role"} for m in chat_step(0, "so", "a", "b")],
]
CHAT_ID_TWICE = [
    {"role": "user", "content": "go"},
    *[
        {k: ("c0_0" if k == "tool_call_id" else v) for k, v in m.items()}
        | ({"tool_calls": m["tool_calls"][:1] * 2} if "tool_calls" in m else {})
        for m in chat_step(0, None, "one", "two")
    ],
]
CHAT_RESULT_OF_ANOTHER_FIRST = [
    {"role": "user", "content": "go"},
    chat_step(0, "so", "one", "two")[0],
    {"role": "tool", "tool_call_id": "another", "content": "say read"},
    {"role": "tool", "tool_call_id": "c0_1", "content": lines("half \ud83d of it", 520)},
]
CHARACTERS_CANNOT_BE_MET = [
    {"role": "user", "content": lines("say error: E42     naïve naïve     \r\n", 146)},
    {"role": "assistant", "content": lines("say 🙂 naïve 测试 🙂   error: E42 read 测试", 281)},
    *chat_step(1, "so", "a", "a", lines("say error: E42 naïve \u2028 read   fix_the_bug", 277)),
    *chat_step(2, None, "say src/app.py error: E42"),
    *chat_step(
        3,
        lines("say error: E42 naïve read 测试 \r\n \u2028", 209),
        lines("say error: E42     naïve naïve     \r\n", 146),
        "b",
        lines("say 🙂 🙂 测试  ", 95),
    ),
    *chat_step(4, "say 测试", lines("say   error: E42 \r\n", 230), "b"),
]
SPOKEN_WITHOUT_ROLE: list[Wire] = [
    {"type": "message", "role": "user", "content": "go"},
    {"type": "reasoning", "id": "rs_0", "summary": []},
    {"type": "message", "role": None, "content": [{"type": "output_text", "text": "done"}]},
    {"type": "message", "content": "and then?"},
]
SMALL, CLASSIC = Budget.window(3_001), Budget.classic(8_000, limit_chars=8_000)
WISHED = Budget.classic(9_431, limit_chars=8_000)
CASES = [
    pytest.param("openai-chat", WORDS_NEARLY_HALF, SMALL, id="words-nearly-half"),
    pytest.param("anthropic", TEXT_THEN_REASONING, CLASSIC, id="text-then-reasoning"),
    pytest.param("anthropic", CALL_THEN_ANOTHER_REPLY, CLASSIC, id="call-then-another-reply"),
    pytest.param("anthropic", ONE_ID_IN_TWO_REPLIES, CLASSIC, id="one-id-in-two-replies"),
    pytest.param("anthropic", REASONING_WHERE_A_RESULT_IS_MISSING, SMALL, id="result-missing"),
    pytest.param("anthropic", CALLS_IN_A_MESSAGE_WITHOUT_ROLE, SMALL, id="calls-without-role"),
    pytest.param("anthropic", ONE_ID_TWICE_IN_A_REPLY, SMALL, id="one-id-twice-in-a-reply"),
    pytest.param("anthropic", RESULTS_OF_ANOTHER, SMALL, id="results-of-another"),
    pytest.param("anthropic", RESULT_OF_ANOTHER_FIRST, SMALL, id="another-first"),
    pytest.param("openai-chat", CHAT_ID_TWICE, SMALL, id="chat-id-twice"),
    pytest.param("openai-chat", CHAT_WITHOUT_ROLES, SMALL, id="chat-without-roles"),
    pytest.param("openai-chat", CHAT_RESULT_OF_ANOTHER_FIRST, SMALL, id="chat-another-first"),
    pytest.param("openai-chat", CHARACTERS_CANNOT_BE_MET, WISHED, id="characters-cannot-be-met"),
    pytest.param("openai-responses", SPOKEN_WITHOUT_ROLE, SMALL, id="spoken-without-role"),
]


@pytest.mark.parametrize(("format", "history", "budget"), CASES)
def test_what_broke_once_holds(format: Format, history: list[Wire], budget: Budget) -> None:
    anyio.run(govern_all, history, format, budget)
