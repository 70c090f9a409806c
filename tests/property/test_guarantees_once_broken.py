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

CASES = [
    pytest.param("openai-chat", WORDS_NEARLY_HALF, Budget.window(3_001), id="words-nearly-half"),
]


@pytest.mark.parametrize(("format", "history", "budget"), CASES)
def test_what_broke_once_holds(format: Format, history: list[Wire], budget: Budget) -> None:
    anyio.run(govern_all, history, format, budget)
