"""Rules of the Anthropic Messages API, each with the wording the API refuses with.

Read from the API reference, the types of the official SDK (2.14) and error bodies in public issue
threads. Where today's models are more tolerant than others behind the same API (empty assistant
content, text in front of thinking), the stricter reading is used, with one exception that real
sessions need: whitespace-only text in front of thinking, which the newer models emit themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bench.judges.rules import Facts, id_problem, name_problem, pair_violations, repeated
from bench.wire import Wire, blocks, is_array, is_object

ROLES = ("user", "assistant", "system")
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
THINKING = ("thinking", "redacted_thinking")
ASSISTANT_ONLY = (*THINKING, "tool_use", "server_tool_use")
USER_ONLY = ("tool_result", "image", "document")


def facts(message: Wire) -> Facts:
    """What the message is, and what is wrong with it alone."""
    role = message.get("role", "")
    problems: list[str] = []
    if role not in ROLES:
        # "messages: Unexpected role"
        problems.append(f"role: {role!r} is not one of {', '.join(ROLES)}")
    content = message.get("content")
    if not isinstance(content, str | list):
        problems.append(f"content: must be a string or a list, is {type(content).__name__}")
    parts = [b for b in blocks(message) if is_object(b)]
    if len(parts) != len(blocks(message)):
        problems.append("content: a block is not an object")
    problems += _empty(content, parts)
    problems += _thinking(role, parts)
    for part in parts:
        problems += _block(role, part)
    called = tuple(str(p.get("id", "")) for p in parts if p.get("type") == "tool_use")
    answered = tuple(str(p.get("tool_use_id", "")) for p in parts if p.get("type") == "tool_result")
    twice = repeated(called)
    if twice:
        problems.append(f"duplicate-call: `tool_use` ids must be unique: {twice}")
    kinds = [p.get("type") == "tool_result" for p in parts]
    last = parts[-1] if parts else {}
    return Facts(
        role=str(role),
        calls=called,
        results=answered,
        results_first=all(kinds[: len(answered)]),
        trailing_whitespace=_ends_blank(last),
        server_call_last=last.get("type") in ("server_tool_use",)
        or str(last.get("type", "")).endswith("_tool_result"),
        problems=tuple(problems),
    )


def _empty(content: Any, parts: list[Wire]) -> list[str]:
    if not content:
        # "all messages must have non-empty content"
        return ["empty-content: a message must have content"]
    text = [p.get("text") for p in parts if p.get("type") == "text"]
    if any(not isinstance(t, str) or not t for t in text):
        # "text content blocks must be non-empty"
        return ["empty-text: text content blocks must be non-empty"]
    if len(text) == len(parts) and not "".join(map(str, text)).strip():
        # "text content blocks must contain non-whitespace text"
        return ["empty-content: nothing but whitespace"]
    return []


def _thinking(role: Any, parts: list[Wire]) -> list[str]:
    places = [i for i, p in enumerate(parts) if p.get("type") in THINKING]
    if not places or role != "assistant":
        return []
    found: list[str] = []
    before = parts[: places[0]]
    if any(p.get("type") != "text" or str(p.get("text", "")).strip() for p in before):
        # "If an assistant message contains any thinking blocks, the first block must be thinking"
        found.append("thinking-order: the first block must be thinking or redacted_thinking")
    if places[-1] == len(parts) - 1:
        # "The final block in an assistant message cannot be `thinking`"
        found.append("thinking-last: the final block cannot be thinking")
    for place in places:
        part = parts[place]
        if part["type"] == "thinking" and not (
            isinstance(part.get("signature"), str) and part["signature"]
        ):
            # "thinking.signature: Field required"
            found.append(f"thinking-signature: content.{place} has no signature")
        if part["type"] == "redacted_thinking" and not part.get("data"):
            found.append(f"thinking-signature: content.{place} has no data")
    return found


def _block(role: Any, part: Wire) -> list[str]:
    kind = part.get("type")
    if not isinstance(kind, str):
        return ["block-type: a block has no type"]
    found: list[str] = []
    if kind in ASSISTANT_ONLY and role != "assistant":
        found.append(f"block-role: `{kind}` blocks can only be in assistant messages")
    if kind in USER_ONLY and role != "user":
        found.append(f"block-role: `{kind}` blocks can only be in user messages")
    if role == "system" and kind != "text":
        found.append(f"block-role: `{kind}` in a system message")
    if kind == "tool_use":
        if not isinstance(part.get("id"), str) or not TOOL_ID.match(part["id"]):
            # "String should match pattern '^[a-zA-Z0-9_-]+$'"
            found.append(f"bad-id: tool_use.id {part.get('id')!r}")
        found += name_problem(part.get("name"), "tool_use.name")
        if not is_object(part.get("input")):
            # "tool_use.input: Input should be a valid dictionary"
            found.append("arguments: tool_use.input must be an object")
    if kind == "tool_result":
        found += id_problem(part.get("tool_use_id"), "tool_result.tool_use_id")
        inner = part.get("content")
        if not isinstance(inner, str | list | None):
            found.append("content: tool_result.content must be a string or a list")
        elif is_array(inner) and any(
            not is_object(b) or not isinstance(b.get("type"), str) for b in inner
        ):
            found.append("content: tool_result.content has a block that is no block")
    return found


def _ends_blank(last: Wire) -> bool:
    text = last.get("text") if last.get("type") == "text" else None
    return isinstance(text, str) and text != text.rstrip()


def order(facts: Sequence[Facts]) -> list[str]:
    """Rules between messages: who speaks first, and every call answered right after it."""
    found: list[str] = []
    if facts[0].role != "user":
        # "messages: first message must use the \"user\" role"
        found.append(f"first-role: the first message is {facts[0].role!r}, not 'user'")
    last_index = len(facts) - 1
    for index, fact in enumerate(facts):
        if fact.calls:
            following = facts[index + 1] if index < last_index else None
            answers = following.results if following and following.role == "user" else ()
            if fact.calls != answers:
                found += pair_violations(index, fact.calls, answers, "in the next user message")
            if following and answers and not following.results_first:
                # A block in front of the results breaks the pair for the API as well.
                found.append(f"result-order: messages.{index + 1}: results must come first")
        elif fact.role == "assistant" and index < last_index and facts[index + 1].results:
            found += pair_violations(index, (), facts[index + 1].results, "in the next message")
        if fact.results and (index == 0 or facts[index - 1].role != "assistant"):
            # "unexpected `tool_use_id` found in `tool_result` blocks"
            found += pair_violations(index, (), fact.results, "in place")
        if fact.role == "system":
            found += _system_place(facts, index)
    if facts[-1].role == "assistant" and facts[-1].trailing_whitespace:
        # "final assistant content cannot end with trailing whitespace"
        found.append("prefill: final assistant content cannot end with trailing whitespace")
    return found


def _system_place(facts: Sequence[Facts], index: int) -> list[str]:
    """Where the API takes a system message inside the conversation."""
    before = facts[index - 1] if index else None
    after = facts[index + 1] if index + 1 < len(facts) else None
    found: list[str] = []
    if before is None or not (
        before.role == "user" or (before.role == "assistant" and before.server_call_last)
    ):
        found.append(f"system-place: messages.{index}: must follow a user message")
    if after is not None and after.role != "assistant":
        found.append(f"system-place: messages.{index}: must be last or before an assistant turn")
    return found


def system_violations(system: Any) -> list[str]:
    """Rules of the top-level system prompt."""
    if isinstance(system, str):
        return ["system: only whitespace"] if system and not system.strip() else []
    if not is_array(system):
        return [f"system: must be a string or a list, is {type(system).__name__}"]
    bad = [b for b in system if not (is_object(b) and b.get("type") == "text")]
    if bad:
        return ["system: only text blocks are allowed"]
    if any(not b.get("text") for b in system):
        return ["empty-text: system: text content blocks must be non-empty"]
    return []
