"""Is a request legal? Written from the providers' rules, without the runtime's invariants.

`violations(request, format)` returns one line per broken rule, `rule: where and what`, empty when
the provider would take the request. Each rule names the provider's own wording beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from bench.judges import rules_anthropic, rules_chat, rules_responses
from bench.judges.rules import Facts
from bench.seen import Interner, Seen
from bench.wire import FORMATS, Format, Wire, is_array, is_object

LocalRules = Callable[[Wire], Facts]
OrderRules = Callable[[Sequence[Facts]], list[str]]
RULES: dict[Format, tuple[LocalRules, OrderRules]] = {
    "anthropic": (rules_anthropic.facts, rules_anthropic.order),
    "openai-chat": (rules_chat.facts, rules_chat.order),
    "openai-responses": (rules_responses.facts, rules_responses.order),
}
MESSAGE_KEYS: dict[Format, str] = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
}


def request_messages(request: dict[str, Any], format: Format) -> list[Wire]:
    """The message list of a request; a Responses `input` string is one user message.

    Responses requests may carry their items under `input` or `messages`.
    """
    items = request.get(MESSAGE_KEYS[format], request.get("messages"))
    if isinstance(items, str):
        return [{"type": "message", "role": "user", "content": items}]
    return list(items or [])


def encoding_violations(value: Any, where: str) -> list[str]:
    """What keeps a value from being sent as JSON in UTF-8."""
    try:
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        return [f"not-json: {where}: {problem}"]
    if not _keys_are_text(value):
        return [f"not-json: {where}: an object key is not a string"]
    try:
        encoded.encode("utf-8")
    except UnicodeEncodeError as problem:
        # "The request body is not valid JSON: no low surrogate in string"
        return [f"lone-surrogate: {where}: {problem.reason} at character {problem.start}"]
    return []


def _keys_are_text(value: Any) -> bool:
    if is_object(value):
        keys: list[Any] = list(value)
        return all(isinstance(key, str) for key in keys) and all(
            map(_keys_are_text, value.values())
        )
    if is_array(value):
        return all(map(_keys_are_text, value))
    return True


class Validator:
    """Validates many requests of one session, looking at each distinct message once."""

    def __init__(self, format: Format, interner: Interner | None = None) -> None:
        if format not in FORMATS:
            raise ValueError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
        self.format: Format = format
        self._interner = interner or Interner(format)
        self._facts, self._order = RULES[format]

    def violations(self, request: dict[str, Any]) -> list[str]:
        """Broken rules of the whole request."""
        found = encoding_violations(request.get("system"), "system")
        found += encoding_violations(request.get("tools"), "tools")
        found += self._system(request.get("system"))
        messages = request_messages(request, self.format)
        if not messages:
            return [*found, "no-messages: the list is empty"]
        return found + self.message_violations(self._interner.intern(messages))

    def message_violations(self, seen: Sequence[Seen]) -> list[str]:
        """Broken rules of the message list alone."""
        facts = [one.facts or self._look(one) for one in seen]
        found = [
            f"{problem.partition(':')[0]}: messages.{index}:{problem.partition(':')[2]}"
            for index, fact in enumerate(facts)
            if fact.problems
            for problem in fact.problems
        ]
        return found + self._order(facts)

    def _look(self, seen: Seen) -> Facts:
        unsendable = encoding_violations(seen.message, "message")
        if not is_object(seen.message):
            facts = Facts(problems=("not-an-object: a message must be an object",))
        else:
            facts = self._facts(seen.message)
        if unsendable:
            facts = facts.with_problems(unsendable)
        seen.facts = facts
        return facts

    def _system(self, system: Any) -> list[str]:
        if self.format != "anthropic" or system is None:
            return []
        return rules_anthropic.system_violations(system)


def violations(request: dict[str, Any], format: Format) -> list[str]:
    """Broken rules of one request `{"system":…, "tools":…, "messages":[…]}` (Responses: `input`).

    Raises:
        ValueError: the format is not one of `anthropic`, `openai-chat`, `openai-responses`.
    """
    return Validator(format).violations(request)
