"""Rules of OpenAI's chat completions, each with the wording the API refuses with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bench.judges.rules import Facts, id_problem, name_problem, pair_violations, repeated
from bench.wire import Wire, is_array, is_object

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "assistant": ("text", "refusal"),
    "user": ("text", "image_url", "input_audio", "file"),
}


def facts(message: Wire) -> Facts:
    """What the message is, and what is wrong with it alone."""
    role = message.get("role", "")
    problems: list[str] = []
    if role not in ROLES:
        # "'x' is not one of ['system', 'assistant', 'user', 'function', 'tool', 'developer']"
        problems.append(f"role: {role!r} is not one of {', '.join(ROLES)}")
    entries = message.get("tool_calls")
    called: tuple[str, ...] = ()
    if entries is not None:
        if role != "assistant":
            problems.append(f"block-role: tool_calls in a {role} message")
        if not is_array(entries) or not entries:
            # "[] is too short - 'messages.1.tool_calls'"
            problems.append("tool-calls: must be a list with at least one entry")
            entries = []
        for entry in entries:
            problems += _call(entry)
        called = tuple(str(e.get("id", "")) for e in entries if is_object(e))
        twice = repeated(called)
        if twice:
            problems.append(f"duplicate-call: ids must be unique within a message: {twice}")
    answered: tuple[str, ...] = ()
    if role == "tool":
        # "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'"
        problems += id_problem(message.get("tool_call_id"), "tool_call_id")
        answered = (str(message.get("tool_call_id", "")),)
    problems += _content(str(role), message, bool(called))
    return Facts(role=str(role), calls=called, results=answered, problems=tuple(problems))


def _call(entry: Any) -> list[str]:
    if not is_object(entry):
        return ["tool-calls: an entry is not an object"]
    found = id_problem(entry.get("id"), "tool_calls.id")
    kind = entry.get("type")
    if kind == "custom":
        body = entry.get("custom")
        if not is_object(body) or not isinstance(body.get("input"), str):
            return [*found, "arguments: custom.input must be a string"]
        return found + name_problem(body.get("name"), "custom.name")
    body = entry.get("function")
    if kind != "function" or not is_object(body):
        return [*found, f"tool-calls: type {kind!r} without its body"]
    found += name_problem(body.get("name"), "function.name")
    if not isinstance(body.get("arguments"), str):
        return [*found, "arguments: function.arguments must be a string"]
    try:
        json.loads(body["arguments"])
    except ValueError as problem:
        found.append(f"arguments: not valid JSON: {problem}")
    return found


def _content(role: str, message: Wire, has_calls: bool) -> list[str]:
    content = message.get("content")
    if content is None:
        allowed = role == "assistant" and (
            has_calls
            or message.get("refusal")
            or message.get("audio")
            or message.get("function_call")
        )
        # "Invalid value for 'content': expected a string, got null."
        return [] if allowed else ["empty-content: content is missing"]
    if isinstance(content, str):
        # An empty result and an empty text beside calls are common and taken.
        empty = not content and not (role == "tool" or has_calls)
        return ["empty-content: the text is empty"] if empty else []
    if not is_array(content):
        return [f"content: must be a string or a list, is {type(content).__name__}"]
    if not content:
        # "Invalid 'messages[0].content': empty array."
        return ["empty-content: empty array"]
    found: list[str] = []
    for part in content:
        kind = part.get("type") if is_object(part) else None
        if kind not in PARTS.get(role, (kind,)) or kind is None:
            found.append(f"block-role: part {kind!r} in a {role} message")
        elif kind == "text" and not isinstance(part.get("text"), str):
            found.append("content: a text part has no text")
    return found


def order(facts: Sequence[Facts]) -> list[str]:
    """Rules between messages: tool messages stand directly after the calls they answer."""
    found: list[str] = []
    index = 0
    while index < len(facts):
        fact = facts[index]
        if fact.role == "tool":
            # "messages with role 'tool' must be a response to a preceding message with
            # 'tool_calls'"
            found.append(f"orphan-result: messages.{index}: no call directly before it")
            index += 1
            continue
        after = index + 1
        if fact.calls:
            while after < len(facts) and facts[after].role == "tool":
                after += 1
            answers = tuple(a for f in facts[index + 1 : after] for a in f.results)
            if answers != fact.calls:
                found += pair_violations(index, fact.calls, answers, "directly after")
        index = after
    return found
