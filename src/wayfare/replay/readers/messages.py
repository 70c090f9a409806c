"""Lists of wire messages: OpenAI chat logs, Anthropic message lists, Responses items.

Taken are `{"messages": […], …}`, a bare list, a list of sessions, and objects that hold one of
those under a known key. Messages are handed on as they are. In Anthropic containers `system`,
`tools` and `compactions` (`at_message`, `summary_message`, `trigger`, `preTokens`) are read; the
summaries leave the messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wayfare.replay.readers.fields import content_text, mapping, mappings, sequence, text, unix_time
from wayfare.replay.readers.source import Source, shape_of
from wayfare.replay.recording import Compaction, Recording, Wire

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"}
    | {"server_tool_use", "web_search_tool_result", "search_result", "mcp_tool_use"}
)
_ITEM_TYPES = frozenset(
    {"function_call", "function_call_output", "reasoning", "custom_tool_call", "item_reference"}
    | {"custom_tool_call_output", "web_search_call", "local_shell_call", "computer_call"}
)
_MESSAGE_KEYS = ("messages", "traj", "conversation", "input", "items", "history")
_SESSION_KEYS = ("trajectories", "sessions", "conversations", "dialogues", "episodes", "samples")


def accepts(value: Any) -> bool:
    """A list of messages, an object that holds one, or a list of such objects."""
    if is_history(value):
        return True
    if isinstance(value, list):
        return any(_history_of(one) is not None for one in sequence(value)[:20])
    if isinstance(value, dict):
        return _history_of(value) is not None or _sessions_of(mapping(value)) is not None
    return False


def read(source: Source, value: Any) -> list[Recording]:
    """Every session in it."""
    if is_history(value):
        return [_session(source, {}, sequence(value))]
    given = mapping(value)
    history = _history_of(given)
    if history is not None:
        return [_session(source, given, history)]
    found: list[Recording] = []
    for place, one in enumerate(_sessions_of(given) or sequence(value), start=1):
        history = sequence(one) if is_history(one) else _history_of(one)
        if history is None:
            source.problems.add(0, f"session {place} holds no messages: {shape_of(one)}")
        else:
            hints = {"format": given.get("format"), **mapping(one)}
            found.append(_session(Source(path=source.path), hints, history))
    if found:
        found[0] = replace(found[0], problems=source.problems.taken() + found[0].problems)
    return found


def is_history(value: Any) -> bool:
    """A list in which the first objects are wire messages."""
    items = sequence(value)
    return bool(items) and any(_is_message(one) for one in items[:3])


def _is_message(value: Any) -> bool:
    message = mapping(value)
    if text(message.get("role")) in _ROLES:
        return not {"content", "tool_calls", "function_call"}.isdisjoint(message)
    return text(message.get("type")) in _ITEM_TYPES


def _history_of(value: Any) -> list[Any] | None:
    """The messages of an object: its own, or those of the request it logs and the reply to it."""
    given = mapping(value)
    for key in _MESSAGE_KEYS:
        if is_history(given.get(key)):
            return sequence(given[key])
        if key == "messages" and given.get(key) == []:
            return []
    for key in ("request", "body"):
        if is_history(mapping(given.get(key)).get("messages")):
            reply = _reply(mapping(given.get("response")))
            return [*sequence(mapping(given[key])["messages"]), *([reply] if reply else [])]
    return None


def _reply(response: Wire) -> Wire:
    if isinstance(response.get("content"), list):
        return {"role": "assistant", "content": response["content"]}
    choices = mappings(response.get("choices"))
    return mapping(choices[0].get("message")) if choices else {}


def _sessions_of(given: Wire) -> list[Any] | None:
    for key in _SESSION_KEYS:
        sessions = sequence(given.get(key))
        if any(is_history(one) or _history_of(one) is not None for one in sessions[:20]):
            return sessions
    return None


def _session(source: Source, given: Wire, history: list[Any]) -> Recording:
    messages: list[Wire] = []
    places: dict[int, int] = {}
    for place, one in enumerate(history):
        if isinstance(one, dict) and ("role" in one or "type" in one):
            places[place] = len(messages)
            messages.append(mapping(one))
        else:
            source.problems.add(0, f"message {place} is none: {shape_of(one)}")
    wire = wire_format(messages, given)
    request = {**mapping(given.get("request")), **mapping(given.get("body")), **given}
    system: Any = request.get("system" if wire == "anthropic" else "instructions")
    compactions, summaries = _compactions(source, request, messages, places)
    kept = [place for place in range(len(messages)) if place not in summaries]
    return Recording(
        path=str(source.path),
        name=source.path.name,
        kind=wire,
        format=wire,
        messages=tuple(messages[place] for place in kept),
        times=tuple(_time(messages[place]) for place in kept),
        system=(text(system) or sequence(system)) or None,
        tools=tuple(mappings(request.get("tools")) or mappings(request.get("functions"))),
        model=text(request.get("model")) or _most_used(mapping(request.get("models"))),
        compactions=compactions,
        problems=source.problems.taken(),
    )


def _most_used(models: Wire) -> str | None:
    """Of `{name: number of replies}`."""
    counted = {name: count for name, count in models.items() if isinstance(count, int)}
    return max(counted, key=lambda name: counted[name], default=None)


def wire_format(messages: list[Wire], given: Wire) -> str:
    """Which wire format a list of messages is in; openai-chat where all of them would fit.

    `given` is the object that held them; its `format`, `system` and `compactions` are hints.
    """
    blocks: set[Any] = set()
    for message in messages:
        if text(message.get("type")) in _ITEM_TYPES:
            return "openai-responses"
        if text(message.get("role")) in ("system", "developer", "tool", "function"):
            return "openai-responses" if message.get("type") == "message" else "openai-chat"
        if "tool_calls" in message or "function_call" in message:
            return "openai-chat"
        blocks.update(
            block.get("type")
            for block in mappings(message.get("content"))
            if isinstance(block.get("type"), str)
        )
        if not _ANTHROPIC_BLOCKS.isdisjoint(blocks):
            return "anthropic"
        if not blocks.isdisjoint({"input_text", "output_text"}):
            return "openai-responses"
    named = text(given.get("format"))
    if named.startswith(("anthropic", "openai-responses")):
        return "anthropic" if named.startswith("anthropic") else "openai-responses"
    return "anthropic" if "system" in given and not named else "openai-chat"


def _compactions(
    source: Source, given: Wire, messages: list[Wire], places: dict[int, int]
) -> tuple[tuple[Compaction, ...], set[int]]:
    found: list[tuple[int, Wire, str]] = []
    summaries: set[int] = set()
    for one in mappings(given.get("compactions")):
        at, holder = one.get("at_message"), one.get("summary_message")
        place = places.get(at) if isinstance(at, int) else None
        if place is None and at == len(messages):
            place = len(messages)
        if place is None:
            source.problems.add(0, f"a compaction at message {at}, which is not there")
            continue
        summary = text(one.get("summary"))
        if isinstance(holder, int) and holder in places:
            summaries.add(places[holder])
            summary = summary or content_text(messages[places[holder]].get("content"))
        found.append((place, one, summary))
    compactions = [
        Compaction(
            index=place - sum(summary < place for summary in summaries),
            summary=summary,
            trigger=text(one.get("trigger")) or None,
            tokens_before=before if isinstance(before := one.get("preTokens"), int) else None,
        )
        for place, one, summary in sorted(found, key=lambda each: each[0])
    ]
    return tuple(compactions), summaries


def _time(message: Wire) -> float | None:
    return unix_time(message.get("timestamp") or message.get("created_at"))
