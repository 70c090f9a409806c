"""Whether a request is legal, judged from the wire alone.

The rules are the providers', told again from what is sent: the runtime's own invariants look at
the view before it is encoded, so a fault of a codec would pass them. Each line found begins with
the name of its rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

import msgspec

from wayfare import json_text

_ANSWERS: Final[Mapping[str, str]] = {
    f"{kind}_call": f"{kind}_call_output"
    for kind in ("function", "custom_tool", "local_shell", "shell", "apply_patch", "computer")
}
"""Calls of the Responses format, and the items that answer them."""
_ANSWERING: Final = frozenset(_ANSWERS.values())
_THINKING: Final = ("thinking", "redacted_thinking")
_encoder: Final = msgspec.json.Encoder()

_Wire: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One message as the rules between messages see it; `faults` are its own."""

    role: str
    kind: str = "message"
    item: str = ""
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    answers_first: bool = True
    faults: tuple[str, ...] = ()


class WireRules:
    """Judges the requests of one session, looking at every message once."""

    def __init__(self) -> None:
        self._looks: dict[int, tuple[object, _Look]] = {}

    def __call__(self, request: Mapping[str, Any], format: str, /) -> Sequence[str]:
        """Rules that `request` breaks, one line each; empty when a provider would take it.

        `request` holds `messages` (`input` in openai-responses) and, in anthropic, `system`.
        """
        key = "input" if format == "openai-responses" else "messages"
        messages: Any = request.get(key)
        if not isinstance(messages, list) or not messages:
            return [f"no-messages: {key} is empty"]
        listed = cast("list[Any]", messages)
        looks = [self._look(message, format) for message in listed]
        # Only what is sent again will be seen again: a long session makes many messages anew.
        self._looks = {
            id(message): (message, look) for message, look in zip(listed, looks, strict=True)
        }
        found = [f"{text} (message {at})" for at, look in enumerate(looks) for text in look.faults]
        if not _sendable(request.get("system")):
            found.append("encoding: the system prompt is no valid Unicode")
        return [*found, *_RULES[format][1](looks)]

    def _look(self, message: Any, format: str) -> _Look:
        known = self._looks.get(id(message))
        return known[1] if known and known[0] is message else _look(message, format)


def _look(message: Any, format: str) -> _Look:
    if not isinstance(message, Mapping):
        return _Look(role="", faults=("shape: a message is no object",))
    look = _RULES[format][0](cast("_Wire", message))
    if not _sendable(message):
        look = replace(look, faults=(*look.faults, "encoding: it is no JSON in valid Unicode"))
    return look


def _sendable(value: Any) -> bool:
    try:
        _encoder.encode(value)
    except (UnicodeEncodeError, TypeError, OverflowError):
        return False
    return True


def _anthropic(wire: _Wire) -> _Look:
    role, content = wire.get("role"), wire.get("content")
    parts = _objects(content)
    faults = list(_wrong_role(role, "user", "assistant", "system"))
    if not content or not isinstance(content, str | list):
        faults.append("empty: a message without content")
    elif isinstance(content, str) and not content.strip():
        faults.append("empty: nothing but blanks")
    for part in parts:
        faults += _anthropic_block(role, part)
    thinking = [at for at, part in enumerate(parts) if part.get("type") in _THINKING]
    if thinking and any(p.get("type") != "text" or _said(p) for p in parts[: thinking[0]]):
        faults.append("thinking: it must come first")
    if thinking and thinking[-1] == len(parts) - 1:
        faults.append("thinking: it cannot come last")
    answers = [part.get("type") == "tool_result" for part in parts]
    calls = tuple(str(p.get("id")) for p in parts if p.get("type") == "tool_use")
    return _Look(
        role=str(role),
        calls=calls,
        answers=tuple(str(p.get("tool_use_id")) for p in parts if p.get("type") == "tool_result"),
        answers_first=all(answers[: sum(answers)]),
        faults=(*faults, *_repeated(calls)),
    )


def _anthropic_block(role: object, part: _Wire) -> Iterator[str]:
    match part.get("type"):
        case "text":
            if not _said(part):
                yield "empty: a blank text block"
        case "tool_use":
            if role != "assistant":
                yield "role: a call in a message that is not the assistant's"
            if not isinstance(part.get("input"), Mapping):
                yield "arguments: the input of a call is no object"
            yield from _nameless(part.get("id"), part.get("name"))
        case "tool_result":
            if role != "user":
                yield "role: a result in a message that is not the user's"
            if not isinstance(part.get("content"), str | list | None):
                yield "shape: a result is neither a string nor a list"
        case "thinking":
            if not part.get("signature"):
                yield "thinking: it is not signed"
        case str():
            return
        case _:
            yield "shape: a block without a type"


def _anthropic_pairs(looks: Sequence[_Look]) -> Iterator[str]:
    if looks[0].role != "user":
        yield f"opening: the first message is the {looks[0].role}'s"
    for at, look in enumerate(looks):
        after = looks[at + 1] if at + 1 < len(looks) else None
        answers = after.answers if after is not None and after.role == "user" else ()
        yield from _unpaired(look.calls, answers if look.calls else (), at)
        if after is not None and answers and not after.answers_first:
            yield f"order: something stands before the results (message {at + 1})"
        if look.answers and (at == 0 or not looks[at - 1].calls):
            yield f"pairs: results {list(look.answers)} answer no call (message {at})"


def _chat(wire: _Wire) -> _Look:
    role, content = wire.get("role"), wire.get("content")
    known = ("system", "developer", "user", "assistant", "tool", "function")
    faults = list(_wrong_role(role, *known))
    entries: Any = wire.get("tool_calls")
    calls = _objects(entries)
    if entries is not None and not calls:
        faults.append("shape: an empty list of calls")
    for call in calls:
        bodies = _objects([call.get("function"), call.get("custom")])
        named: _Wire = bodies[0] if bodies else {}
        faults += _nameless(call.get("id"), named.get("name"))
        if call.get("type") == "function":
            faults += _bad_arguments(named.get("arguments"))
    quiet = role == "tool" or bool(calls)
    if content is None:
        if not (calls or wire.get("refusal") or wire.get("audio") or wire.get("function_call")):
            faults.append("empty: a message without content")
    elif not content and not (quiet and content == ""):
        faults.append("empty: a message without content")
    ids = tuple(str(call.get("id")) for call in calls)
    return _Look(
        role=str(role),
        calls=ids,
        answers=(str(wire.get("tool_call_id")),) if role == "tool" else (),
        faults=(*faults, *_repeated(ids)),
    )


def _chat_pairs(looks: Sequence[_Look]) -> Iterator[str]:
    at = 0
    while at < len(looks):
        after = at + 1
        while after < len(looks) and looks[after].role == "tool":
            after += 1
        answers = [id for look in looks[at + 1 : after] for id in look.answers]
        if looks[at].role == "tool":
            answers = [*looks[at].answers, *answers]
        yield from _unpaired(looks[at].calls, answers, at)
        at = after


def _responses(wire: _Wire) -> _Look:
    kind = wire.get("type", "message")
    faults: list[str] = []
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    if kind == "message":
        faults += _wrong_role(wire.get("role"), "user", "assistant", "system", "developer")
        if not wire.get("content"):
            faults.append("empty: a message without content")
    elif kind in _ANSWERS:
        calls = (str(wire.get("call_id")),)
        if kind == "function_call":
            faults += _nameless(wire.get("call_id"), wire.get("name"))
            faults += _bad_arguments(wire.get("arguments"))
    elif kind in _ANSWERING:
        answers = (str(wire.get("call_id")),)
        if wire.get("output") is None:
            faults.append("empty: an output without content")
    return _Look(
        role=str(wire.get("role", "")),
        kind=str(kind),
        item=str(wire.get("id") or ""),
        calls=calls,
        answers=answers,
        faults=tuple(faults),
    )


def _responses_pairs(looks: Sequence[_Look]) -> Iterator[str]:
    """Pairs by id wherever they stand, the output behind its call; reasoning never alone."""
    yield from _repeated([look.item for look in looks if look.item], "items")
    open_calls: dict[str, str] = {}
    reasoning = False
    for at, look in enumerate(looks):
        if look.kind == "reasoning":
            reasoning = True
        elif reasoning:
            if look.kind in _ANSWERING or (look.kind == "message" and look.role != "assistant"):
                yield f"reasoning: nothing of the model follows it (message {at})"
            reasoning = False
        for id in look.calls:
            if id in open_calls:
                yield f"pairs: the call {id!r} is made twice (message {at})"
            open_calls[id] = _ANSWERS[look.kind]
        for id in look.answers:
            wanted = open_calls.pop(id, None)
            if wanted != look.kind:
                yield f"pairs: {look.kind} {id!r} answers no call of its kind (message {at})"
    if reasoning:
        yield "reasoning: nothing of the model follows it"
    for id in open_calls:
        yield f"pairs: no result for the call {id!r}"


_RULES: Final[
    Mapping[str, tuple[Callable[[_Wire], _Look], Callable[[Sequence[_Look]], Iterator[str]]]]
] = {
    "anthropic": (_anthropic, _anthropic_pairs),
    "openai-chat": (_chat, _chat_pairs),
    "openai-responses": (_responses, _responses_pairs),
}


def _objects(value: object) -> list[_Wire]:
    if not isinstance(value, list):
        return []
    return [cast("_Wire", one) for one in cast("list[Any]", value) if isinstance(one, Mapping)]


def _said(part: _Wire) -> bool:
    text = part.get("text")
    return isinstance(text, str) and bool(text.strip())


def _wrong_role(role: object, *known: str) -> Iterator[str]:
    if role not in known:
        yield f"role: {role!r} is not one of {', '.join(known)}"


def _nameless(id: object, name: object) -> Iterator[str]:
    if not isinstance(id, str) or not id:
        yield "shape: a call without an id"
    if not isinstance(name, str) or not name:
        yield "shape: a call without a name"


def _bad_arguments(arguments: object) -> Iterator[str]:
    try:
        if isinstance(arguments, str):
            json_text.loads(arguments)
            return
    except ValueError:
        pass
    yield "arguments: they are no JSON text"


def _repeated(ids: Sequence[str], what: str = "calls") -> Iterator[str]:
    if len(set(ids)) == len(ids):
        return
    for id, count in Counter(ids).items():
        if count > 1:
            yield f"pairs: {count} {what} share the id {id!r}"


def _unpaired(calls: Sequence[str], answers: Sequence[str], at: int) -> Iterator[str]:
    if tuple(calls) == tuple(answers) or Counter(calls) == Counter(answers):
        return
    for id in (Counter(calls) - Counter(answers)).elements():
        yield f"pairs: no result for the call {id!r} (message {at})"
    for id in (Counter(answers) - Counter(calls)).elements():
        yield f"pairs: a result for {id!r}, which no open call asks for (message {at})"
