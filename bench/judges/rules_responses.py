"""Rules of OpenAI's Responses API, each with the wording the API refuses with.

The API pairs calls and outputs by `call_id` wherever they stand, as long as the output comes
after its call; servers that copy it want them adjacent. The judge asks for what OpenAI asks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bench.judges.rules import Facts, id_problem, name_problem, repeated
from bench.wire import RESPONSES_CALLS, RESPONSES_RESULTS, Wire, is_array, is_object

ROLES = ("user", "assistant", "system", "developer")
USER_PARTS = ("input_text", "input_image", "input_file", "input_audio")
ASSISTANT_PARTS = ("output_text", "refusal")


def facts(message: Wire) -> Facts:
    """What the item is, and what is wrong with it alone."""
    kind = message.get("type", "message")
    problems: list[str] = []
    if not isinstance(kind, str):
        return Facts(problems=("block-type: an item's type is not a string",))
    called: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    if kind == "message":
        problems += _message(message)
    elif kind in RESPONSES_CALLS:
        problems += id_problem(message.get("call_id"), f"{kind}.call_id")
        called = (str(message.get("call_id", "")),)
        problems += _call(kind, message)
    elif kind in RESPONSES_RESULTS:
        problems += id_problem(message.get("call_id"), f"{kind}.call_id")
        answered = (str(message.get("call_id", "")),)
        if not isinstance(message.get("output"), str | list | dict):
            problems.append(f"content: {kind}.output is missing")
    elif kind == "reasoning" and not is_array(message.get("summary")):
        # "Missing required parameter: 'input[1].summary'"
        problems.append("reasoning: summary must be a list")
    item_id = message.get("id")
    return Facts(
        role=str(message.get("role", "")),
        kind=kind,
        calls=called,
        results=answered,
        item_id=item_id if isinstance(item_id, str) else None,
        problems=tuple(problems),
    )


def _message(message: Wire) -> list[str]:
    role = message.get("role")
    if role not in ROLES:
        return [f"role: {role!r} is not one of {', '.join(ROLES)}"]
    content = message.get("content")
    if isinstance(content, str):
        return [] if content else ["empty-content: the text is empty"]
    if not is_array(content) or not content:
        return ["empty-content: content is missing or an empty array"]
    allowed = ASSISTANT_PARTS if role == "assistant" else USER_PARTS
    # "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
    return [
        f"block-role: part {part.get('type') if is_object(part) else part!r} in {role}"
        for part in content
        if not is_object(part) or part.get("type") not in allowed
    ]


def _call(kind: str, message: Wire) -> list[str]:
    if kind == "function_call":
        found = name_problem(message.get("name"), "function_call.name")
        arguments = message.get("arguments")
        if not isinstance(arguments, str):
            return [*found, "arguments: function_call.arguments must be a string"]
        try:
            json.loads(arguments)
        except ValueError as problem:
            found.append(f"arguments: not valid JSON: {problem}")
        return found
    if kind == "custom_tool_call" and not isinstance(message.get("input"), str):
        return ["arguments: custom_tool_call.input must be a string"]
    return []


def order(facts: Sequence[Facts]) -> list[str]:
    """Rules between items: pairs by `call_id`, reasoning in front of what it led to."""
    found = _pairs(facts)
    for index, fact in enumerate(facts):
        if fact.kind != "reasoning":
            continue
        following = next((f for f in facts[index + 1 :] if f.kind != "reasoning"), None)
        if following is None or not _by_model(following):
            # "Item of type 'reasoning' was provided without its required following item."
            found.append(f"reasoning-alone: input.{index}: no item of the model follows")
    twice = repeated(f.item_id for f in facts if f.item_id)
    if twice:
        # "Duplicate item found with id"
        found.append(f"duplicate-id: items share an id: {twice}")
    return found


def _by_model(fact: Facts) -> bool:
    if fact.kind == "message":
        return fact.role == "assistant"
    return fact.kind not in RESPONSES_RESULTS


def _pairs(facts: Sequence[Facts]) -> list[str]:
    found: list[str] = []
    # call id -> (index of the call, kind of the output it wants) while it has no output
    waiting: dict[str, tuple[int, str]] = {}
    answered: set[str] = set()
    for index, fact in enumerate(facts):
        for call in fact.calls:
            if call in waiting:
                found.append(f"duplicate-call: input.{index}: call_id {call!r} is still open")
            waiting[call] = (index, RESPONSES_CALLS[fact.kind])
            answered.discard(call)
        for answer in fact.results:
            held: Any = waiting.pop(answer, None)
            if held is None and answer in answered:
                found.append(f"duplicate-result: input.{index}: second output for {answer!r}")
            elif held is None:
                # "No tool call found for function call output with call_id"
                found.append(f"orphan-result: input.{index}: no call {answer!r} before it")
            elif held[1] != fact.kind:
                found.append(f"result-kind: input.{index}: {fact.kind} answers another kind")
            answered.add(answer)
    for call, (index, _) in waiting.items():
        # "No tool output found for function call"
        found.append(f"missing-result: input.{index}: no output for {call!r}")
    return found
