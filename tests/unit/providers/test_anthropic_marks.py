"""Where cache breakpoints stand, and what they must never do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.providers.anthropic_marks import (
    common_prefix,
    mark_of,
    marked_messages,
    marked_system,
    marked_tools,
)

MARK = {"type": "ephemeral"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def marks_in(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(marks_in(v) for v in value.values())
    return sum(marks_in(v) for v in value) if isinstance(value, list) else 0


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(v) for v in value] if isinstance(value, list) else value


def as_blocks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages with every string content as the block it stands for."""
    return [
        {**m, "content": [text(m["content"])] if isinstance(m["content"], str) else m["content"]}
        for m in messages
    ]


BLOCKS = st.one_of(
    st.builds(text, st.sampled_from(["hello", "", "  ", "漢字"])),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "tool_use", "id": "c", "name": "read", "input": {"cache_control": "no"}}),
    st.just({"type": "compaction", "content": "so far", "signature": "s"}),
    st.just(
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [{**text("deep"), "cache_control": MARK}],
            "cache_control": MARK,
        }
    ),
    st.just({**text("marked by somebody"), "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant"]),
            "content": st.one_of(st.sampled_from(["plain", "", " "]), st.lists(BLOCKS, max_size=4)),
        }
    ),
    max_size=8,
)


@given(messages=MESSAGES, stable=st.integers(0, 10))
def test_marks_are_few_and_change_nothing_else(messages: list[dict[str, Any]], stable: int) -> None:
    before = copy.deepcopy(messages)
    marked = marked_messages(messages, stable, MARK)
    assert messages == before, "a message of the log was changed"
    assert sum(marks_in(m["content"]) for m in without_input(marked)) <= 2
    assert as_blocks(without_marks(without_input(marked))) == as_blocks(
        without_marks(without_input(before))
    )


def without_input(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Inputs of calls are the model's, whatever their keys are called."""
    return [
        {
            **m,
            "content": m["content"]
            if isinstance(m["content"], str)
            else [{k: v for k, v in b.items() if k != "input"} for b in m["content"]],
        }
        for m in messages
    ]


@given(messages=MESSAGES)
def test_inputs_of_calls_keep_keys_that_are_called_like_marks(
    messages: list[dict[str, Any]],
) -> None:
    for message in marked_messages(messages, 1, MARK):
        for block in message["content"]:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                assert block["input"] == {"cache_control": "no"}


@given(messages=MESSAGES, stable=st.integers(0, 10))
def test_without_a_lifetime_there_are_no_marks(messages: list[dict[str, Any]], stable: int) -> None:
    bare = marked_messages(messages, stable, None)
    assert sum(marks_in(m["content"]) for m in without_input(bare)) == 0


def test_the_marks_stand_at_the_stable_end_and_at_the_end() -> None:
    messages = [{"role": r, "content": f"{n}"} for n, r in enumerate(["user", "assistant"] * 3)]
    marked = marked_messages(messages, 3, MARK)
    assert [marks_in(m) for m in marked] == [0, 0, 1, 0, 0, 1]


def test_a_message_that_takes_no_mark_passes_it_to_the_one_before() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [text("yes"), thinking]},
        {"role": "assistant", "content": [thinking]},
    ]
    marked = marked_messages(messages, 0, MARK)
    assert [marks_in(m) for m in marked] == [0, 1, 0]
    assert marked[1]["content"][0]["cache_control"] == MARK


@pytest.mark.parametrize(
    ("lifetime", "mark"),
    [
        ("5m", {"type": "ephemeral"}),
        ("1h", {"type": "ephemeral", "ttl": "1h"}),
        ("off", None),
    ],
)
def test_a_lifetime_is_a_mark(lifetime: str, mark: dict[str, str] | None) -> None:
    assert mark_of(lifetime) == mark
    assert marks_in(marked_system("be brief", mark)) == (mark is not None)


def test_tools_carry_a_mark_only_without_a_system_prompt_behind_them() -> None:
    tools = [{"name": "a"}, {"name": "b"}]
    assert [marks_in(t) for t in marked_tools(tools, MARK)] == [0, 1]
    assert marked_tools([], MARK) == []
    assert tools == [{"name": "a"}, {"name": "b"}]


def test_a_joined_message_ends_the_common_prefix() -> None:
    whole = [{"a": 1}, {"b": 2, "joined": 3}, {"c": 4}]
    assert common_prefix(whole, [{"a": 1}, {"b": 2}]) == 1
    assert common_prefix(whole, whole[:2]) == 2
    assert common_prefix(whole, []) == 0
    assert common_prefix(whole[:1], whole) == 1
