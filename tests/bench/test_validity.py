"""The independent validator: catches what providers refuse, passes what they take."""

from __future__ import annotations

from typing import Any

import pytest
from bench.judges import planted
from bench.judges.validity import Validator, violations
from bench.wire import FORMATS


@pytest.mark.parametrize("format", FORMATS)
def test_original_passes(format: Any) -> None:
    assert violations(planted.original(format), format) == []


@pytest.mark.parametrize("case", planted.CASES, ids=lambda c: f"{c.format}-{c.name}")
def test_planted_request_is_caught_by_its_rule(case: planted.Case) -> None:
    found = violations(planted.spoiled(case), case.format)
    assert case.rule in {line.partition(":")[0] for line in found}


def test_at_least_24_are_planted_in_every_format_together() -> None:
    assert len(planted.CASES) >= 24
    assert {case.format for case in planted.CASES} == set(FORMATS)


def test_every_rule_the_table_expects_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    assert planted.show()
    assert "missed 0" in capsys.readouterr().out


def _call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {}}


def _result(id: str, content: Any = "x") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {"role": "user", "content": [{"type": "text", "text": "b"}]},
                {"role": "assistant", "content": "c"},
                {"role": "assistant", "content": "d"},
                {"role": "user", "content": "e"},
            ],
            id="two of one role in a row are joined by the API",
        ),
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [_call("t1"), _call("t2")]},
                {"role": "user", "content": [_result("t2"), _result("t1", [])]},
            ],
            id="results in another order than the calls, one of them empty",
        ),
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "\n\n"},
                        {"type": "thinking", "thinking": "hm", "signature": "s"},
                        _call("t1"),
                    ],
                },
                {"role": "user", "content": [_result("t1")]},
            ],
            id="blank text in front of thinking, as newer models write it",
        ),
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {"role": "system", "content": "be brief"},
                {"role": "assistant", "content": "b"},
                {"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]},
            ],
            id="a system message after a user message, an image",
        ),
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [_call("t1")]},
                {"role": "user", "content": [_result("t1")]},
                {"role": "assistant", "content": [_call("t1")]},
                {"role": "user", "content": [_result("t1")]},
            ],
            id="an id used again in a later step",
        ),
        pytest.param(
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [{"type": "new_block", "whatever": 1}]},
                {"role": "user", "content": "prefix \U0001f600"},
            ],
            id="an unknown block type and an astral character",
        ),
    ],
)
def test_legal_anthropic_messages_pass(messages: list[dict[str, Any]]) -> None:
    assert violations({"messages": messages}, "anthropic") == []


def test_violation_names_the_message() -> None:
    request = planted.original("anthropic")
    request["messages"][3]["content"][0]["name"] = "two words"
    (line,) = violations(request, "anthropic")
    assert line.startswith("tool-name: messages.3:")


def test_system_prompt_is_judged_too() -> None:
    request = {
        "system": [{"type": "text", "text": ""}],
        "messages": [{"role": "user", "content": "a"}],
    }
    assert violations(request, "anthropic") == [
        "empty-text: system: text content blocks must be non-empty"
    ]


def test_empty_message_list_is_refused() -> None:
    assert violations({"messages": []}, "openai-chat") == ["no-messages: the list is empty"]


def test_a_validator_that_saw_a_message_before_judges_its_new_place() -> None:
    """Facts are kept per message; the order rules have to run on every request."""
    messages = planted.original("anthropic")["messages"]
    validator = Validator("anthropic")
    assert validator.violations({"messages": messages}) == []
    assert validator.violations({"messages": messages[1:]}) != []
    assert validator.violations({"messages": messages[:1] + messages[2:]}) != []


def test_unknown_format_says_which_are_known() -> None:
    with pytest.raises(ValueError, match="anthropic, openai-chat, openai-responses"):
        violations({"messages": []}, "gemini")  # type: ignore[arg-type]
