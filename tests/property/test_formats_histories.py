"""What every codec promises over whole histories, as agents make them."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wayfare.formats import codec, dumps, format_names
from wayfare.messages import Message, ToolCall, ToolResult

relaxed = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)

words = st.text('abc \n中é{"\\', min_size=1, max_size=12).filter(lambda text: text.strip())
CALL_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
inputs = st.dictionaries(words, words | st.integers(-9, 9) | st.none(), max_size=2)


@st.composite
def turns(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """A history by meaning: what is said, and batches of calls with their results."""
    said: list[tuple[str, Any]] = [("user", draw(words))]
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["batch", "batch", "say"]))
        if kind == "say":
            said += [("assistant", draw(words)), ("user", draw(words))]
            continue
        size = draw(st.integers(1, 3))
        ids = [f"call{draw(st.sampled_from(['_', '.', ':']))}{number}-{i}" for i in range(size)]
        calls = [(call_id, f"tool{i}", draw(inputs)) for i, call_id in enumerate(ids)]
        answers = [(call_id, draw(words), draw(st.booleans())) for call_id in ids]
        text = draw(st.none() | words)
        said.append(("batch", (text, calls, draw(st.permutations(answers)))))
        if draw(st.booleans()):
            said.append(("user", draw(words)))
    return said


def anthropic_wires(said: list[tuple[str, Any]], *, split: bool) -> list[dict[str, Any]]:
    wires: list[dict[str, Any]] = []
    for kind, value in said:
        if kind != "batch":
            wires.append({"role": kind, "content": value})
            continue
        text, calls, answers = value
        used = [{"type": "tool_use", "id": i, "name": n, "input": v} for i, n, v in calls]
        first = [{"type": "text", "text": text}] if text else []
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": t, "is_error": e}
            for i, t, e in answers
        ]
        if split:
            wires += [{"role": "assistant", "content": [block]} for block in first + used]
            wires += [{"role": "user", "content": [block]} for block in results]
        else:
            wires.append({"role": "assistant", "content": first + used})
            wires.append({"role": "user", "content": results})
    return wires


def responses_items(said: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for kind, value in said:
        if kind != "batch":
            items.append({"type": "message", "role": kind, "content": value})
            continue
        text, calls, answers = value
        items.append({"type": "reasoning", "id": "rs_1", "summary": []})
        if text:
            items.append({"role": "assistant", "content": text})
        items += [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(v)}
            for i, n, v in calls
        ]
        items += [
            {
                "type": "function_call_output",
                "call_id": i,
                "output": f"[tool error]\n{t}" if e else t,
            }
            for i, t, e in answers
        ]
    return items


def decoded(name: str, wires: list[dict[str, Any]]) -> list[Message]:
    return [codec(name).decode(wire) for wire in wires]


def meaning(messages: list[Message]) -> dict[str, Any]:
    """What a history says, whatever form it has; the error mark and ids left out."""
    number: dict[str, int] = {}
    calls: list[Any] = []
    results: dict[int, Any] = {}
    texts: list[tuple[bool, str]] = []
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                number[block.id] = len(number)
                calls.append((block.name, dict(block.input)))
            elif isinstance(block, ToolResult):
                text = block.text.removeprefix("[tool error]\n")
                assert number[block.call_id] not in results, "answered twice"
                results[number[block.call_id]] = (text, block.is_error)
            elif text := getattr(block, "text", ""):
                texts.append((message.role == "assistant", text))
    return {"calls": calls, "results": results, "texts": texts}


def assert_valid(name: str, wires: list[dict[str, Any]]) -> None:
    """The providers' own rules for calls and results, written from their documentation."""
    {
        "anthropic": assert_valid_anthropic,
        "openai-chat": assert_valid_chat,
        "openai-responses": assert_valid_responses,
    }[name](wires)


def assert_valid_anthropic(wires: list[dict[str, Any]]) -> None:
    listed = [
        w["content"] if isinstance(w["content"], list) else [{"type": "text", "text": w["content"]}]
        for w in wires
    ]
    for content, after in zip(listed, [*listed[1:], []], strict=True):
        kinds = [block["type"] for block in content]
        used = [block["id"] for block in content if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
        assert answered == used
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result"), "results first"
        assert all(block["text"].strip() for block in content if block["type"] == "text")


def assert_fit_ids(wires: list[dict[str, Any]]) -> None:
    for wire in wires:
        for block in wire["content"] if isinstance(wire["content"], list) else ():
            assert set(block.get("id", "")) <= CALL_ID


def assert_valid_chat(wires: list[dict[str, Any]]) -> None:
    open_ids: Counter[str] = Counter()
    for wire in wires:
        if wire["role"] == "tool":
            open_ids[wire["tool_call_id"]] -= 1
            assert open_ids[wire["tool_call_id"]] >= 0
        else:
            assert not +open_ids, "something is said before all results"
            open_ids = Counter(call["id"] for call in wire.get("tool_calls") or ())
            assert wire["content"] or open_ids


def assert_valid_responses(items: list[dict[str, Any]]) -> None:
    made = Counter(i["call_id"] for i in items if i.get("type") == "function_call")
    answered = Counter(i["call_id"] for i in items if i.get("type") == "function_call_output")
    assert made == answered


@relaxed
@given(turns(), st.booleans(), st.sampled_from([n for n in format_names() if n != "anthropic"]))
def test_calls_results_and_texts_survive_the_way_there_and_back(
    said: list[tuple[str, Any]], split: bool, other: str
) -> None:
    start = decoded("anthropic", anthropic_wires(said, split=split))
    there = codec(other).encode(start)
    assert_valid(other, there)
    back = codec("anthropic").encode(decoded(other, there))
    assert_valid("anthropic", back)
    assert_fit_ids(back)
    assert meaning(decoded("anthropic", back)) == meaning(start)


@relaxed
@given(turns(), st.sampled_from(["anthropic", "openai-chat"]))
def test_items_of_one_step_become_one_turn(said: list[tuple[str, Any]], target: str) -> None:
    start = decoded("openai-responses", responses_items(said))
    written = codec(target).encode(start)
    assert_valid(target, written)
    assert meaning(decoded(target, written)) == meaning(start)


@relaxed
@given(turns())
def test_what_a_recorder_split_is_joined_by_the_very_blocks(
    said: list[tuple[str, Any]],
) -> None:
    wires = anthropic_wires(said, split=True)
    before = deepcopy(wires)
    written = codec("anthropic").encode(decoded("anthropic", wires))
    assert_valid_anthropic(written)
    given_blocks = {id(b) for w in wires if isinstance(w["content"], list) for b in w["content"]}
    for wire in written:
        if not any(wire is old for old in wires):
            assert all(id(block) in given_blocks for block in wire["content"])
    assert wires == before


@relaxed
@given(turns(), st.sampled_from(format_names()), st.sampled_from(format_names()))
def test_a_longer_history_begins_with_the_request_before_it(
    said: list[tuple[str, Any]], source: str, target: str
) -> None:
    wires = (
        responses_items(said)
        if source == "openai-responses"
        else codec(source).encode(decoded("anthropic", anthropic_wires(said, split=False)))
    )
    messages = decoded(source, wires)
    whole = codec(target).encode(messages)
    open_calls: set[str] = set()
    for length, message in enumerate(messages, 1):
        open_calls |= {call.id for call in message.calls}
        open_calls -= {result.call_id for result in message.results}
        if open_calls or message.role == "assistant":
            continue
        request = codec(target).encode(messages[:length])
        assert dumps(request)[:-1] == dumps(whole[: len(request)])[:-1]
