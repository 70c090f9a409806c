"""Assistant messages of the OpenAI chat format: several fields beside the content speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from wayfare.formats import roles
from wayfare.formats.found_text import found_text
from wayfare.formats.openai_calls import read_arguments, write_arguments
from wayfare.formats.openai_chat_parts import NAME, read_content, write_content
from wayfare.formats.runs import written_call_id
from wayfare.messages import Block, Media, Message, Opaque, Text, Thinking, ToolCall, WireValue

_THINKING_TEXT: Final = ("reasoning_content", "reasoning")
"""Where compatible servers put the thinking of a model as one string."""

_LEGACY: Final = "function_call:"
"""Heads the id of a call of the old `function_call` kind, which has none of its own."""


def legacy_call_id(name: object) -> str:
    """The id that a `function_call`, and the `function` message that answers it, get."""
    return f"{_LEGACY}{name}" if isinstance(name, str) else ""


def function_name(call_id: str) -> str | None:
    """The function of an id that `legacy_call_id` made, else None."""
    return call_id.removeprefix(_LEGACY) if call_id.startswith(_LEGACY) else None


def read_assistant(wire: WireValue) -> tuple[Block, ...]:
    """Its blocks: thinking, what is said, calls."""
    blocks = list(read_content(wire.get("content")))
    if (thinking := _read_thinking(wire)) is not None:
        blocks[:0] = thinking
    refusal = wire.get("refusal")
    if isinstance(refusal, str) and refusal:
        blocks.append(Opaque(kind="refusal", text=refusal))
    audio = wire.get("audio")
    if isinstance(audio, Mapping):
        spoken = cast(WireValue, audio)
        blocks.append(Opaque(kind="audio", text=found_text(spoken), wire=spoken))
    calls = wire.get("tool_calls")
    if isinstance(calls, list | tuple):
        blocks.extend([_read_call(call) for call in cast(Sequence[object], calls)])
    legacy = wire.get("function_call")
    if isinstance(legacy, Mapping):
        blocks.append(_read_legacy(cast(WireValue, legacy)))
    return tuple(blocks)


def _read_thinking(wire: WireValue) -> list[Block] | None:
    details = wire.get("reasoning_details")
    if isinstance(details, list) and details:
        found: list[Block] = []
        for value in cast(list[object], details):
            if isinstance(value, Mapping):
                detail = cast(WireValue, value)
                signature = detail.get("signature")
                found.append(
                    Thinking(
                        text=found_text(
                            {key: detail.get(key) for key in ("text", "summary", "content")}
                        ),
                        signature=signature if isinstance(signature, str) else "",
                        redacted=detail.get("type") == "reasoning.encrypted",
                        wire=detail,
                    )
                )
        return found
    for key in _THINKING_TEXT:
        text = wire.get(key)
        if isinstance(text, str) and text:
            return [Thinking(text=text)]
    return None


def _read_call(value: object) -> Block:
    if not isinstance(value, Mapping):
        return Opaque(kind="unknown_tool_call")
    wire = cast(WireValue, value)
    call_id, given, custom = wire.get("id"), wire.get("function"), wire.get("custom")
    if isinstance(call_id, str):
        if isinstance(given, Mapping):
            function = cast(WireValue, given)
            name, arguments = function.get("name"), function.get("arguments")
            return _call(call_id, name, arguments, wire)
        if isinstance(custom, Mapping):
            tool = cast(WireValue, custom)
            name, text = tool.get("name"), tool.get("input")
            if isinstance(name, str):
                return ToolCall(id=call_id, name=name, input={"input": text}, wire=wire)
    return Opaque(kind="unknown_tool_call", text=found_text(wire), wire=wire)


def _read_legacy(wire: WireValue) -> Block:
    name = wire.get("name")
    return _call(legacy_call_id(name), name, wire.get("arguments"), wire)


def _call(call_id: str, name: object, arguments: object, wire: WireValue) -> ToolCall:
    text = arguments if isinstance(arguments, str) else None
    if text is not None:
        given = read_arguments(text)
    else:
        given = cast(Mapping[str, Any], arguments if isinstance(arguments, Mapping) else {})
    return ToolCall(
        id=call_id,
        name=name if isinstance(name, str) else "",
        input=given,
        arguments=text,
        wire=wire,
    )


def write_assistant(run: Sequence[Message], *, id_limit_chars: int) -> list[dict[str, Any]]:
    """One message of assistant messages in a row, in the envelope of the first.

    None if nothing in them can be said in this format; one each if several make a call of the
    old kind, of which a message can hold one.
    """
    first = run[0]
    own = first.wire if first.format == NAME else None
    envelope = {} if own is None else roles.envelope(first, own)
    several = [_fields(message, id_limit_chars) for message in run]
    if sum("function_call" in fields for fields in several) > 1:
        return [
            one
            for message in run
            for one in write_assistant((message,), id_limit_chars=id_limit_chars)
        ]
    fields = _joined(several)
    spoken = any(fields.get(key) for key in ("content", "refusal", "audio", *_CALLS))
    if not spoken:
        return []
    if not envelope:
        fields = {"content": fields.get("content"), **fields}
    for key in (*_SPEAKING, *_CALLS):
        if key not in fields:
            envelope.pop(key, None)
    return [{"role": "assistant", **envelope, **fields}]


_CALLS: Final = ("tool_calls", "function_call")
_SPEAKING: Final = ("content", "refusal", "audio", "reasoning_details", *_THINKING_TEXT)


def _joined(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The fields of messages in a row as those of one."""
    joined: dict[str, Any] = {}
    for fields in several:
        for key, value in fields.items():
            before = joined.get(key)
            if not before:
                joined[key] = value
            elif not value:
                continue
            elif isinstance(before, str) and isinstance(value, str):
                joined[key] = f"{before}\n{value}"
            elif key == "content" or isinstance(value, list):
                joined[key] = [*_as_list(before), *_as_list(value)]
    return joined


def _as_list(content: Any) -> list[Any]:
    if isinstance(content, list):
        return cast(list[Any], content)
    return [{"type": "text", "text": content}]


def _fields(message: Message, id_limit_chars: int) -> dict[str, Any]:
    """The fields that speak: those nobody touched as they came, the others built."""
    own = message.wire if message.format == NAME else None
    now = _sorted(message.blocks, own)
    was = _sorted(read_assistant(own), own) if own is not None else {}
    fields: dict[str, Any] = {}
    for group, keys in _GROUPS.items():
        blocks = now.get(group, ())
        if own is not None and blocks == was.get(group, ()):
            fields |= {key: own[key] for key in keys if key in own}
        elif blocks:
            fields |= _built(group, blocks, message, own, id_limit_chars)
    return fields


_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "thinking": ("reasoning_details", *_THINKING_TEXT),
    "content": ("content",),
    "refusal": ("refusal",),
    "audio": ("audio",),
    "calls": _CALLS,
}


def _sorted(blocks: Iterable[Block], own: WireValue | None) -> dict[str, tuple[Block, ...]]:
    """The blocks by the group of fields they belong to."""
    groups: dict[str, tuple[Block, ...]] = {}
    for block in blocks:
        match block:
            case ToolCall() | Opaque(kind="unknown_tool_call"):
                group = "calls"
            case Thinking():
                group = "thinking"
            case Opaque(kind="refusal") if own is None or block.wire is None:
                group = "refusal"
            case Opaque() if own is not None and own.get("audio") is block.wire is not None:
                group = "audio"
            case _:
                group = "content"
        groups[group] = (*groups.get(group, ()), block)
    return groups


def _built(
    group: str, blocks: Sequence[Block], message: Message, own: WireValue | None, limit: int
) -> dict[str, Any]:
    match group:
        case "thinking":
            return _built_thinking(blocks, own)
        case "content":
            return _built_content(blocks, own)
        case "refusal":
            return {"refusal": "\n".join(b.text for b in blocks if isinstance(b, Opaque))}
        case "audio":
            return {"audio": blocks[-1].wire} if own is not None and blocks[-1].wire else {}
        case _:
            return _built_calls(blocks, message, own, limit)


def _built_thinking(blocks: Sequence[Block], own: WireValue | None) -> dict[str, Any]:
    """Thinking goes back to the server it came from, to no other."""
    if own is None:
        return {}
    details = [block.wire for block in blocks if block.wire is not None]
    if details:
        return {"reasoning_details": details}
    key = next((key for key in _THINKING_TEXT if own.get(key)), _THINKING_TEXT[0])
    return {key: "\n".join(b.text for b in blocks if isinstance(b, Thinking))}


def _built_content(blocks: Sequence[Block], own: WireValue | None) -> dict[str, Any]:
    if own is not None and isinstance(own.get("content"), list):
        return {"content": write_content(blocks, of=NAME, as_list=True)}
    # Many servers take a string only; several texts are lines of one here.
    texts = [block.text for block in blocks if isinstance(block, Text) and block.text]
    texts += [f"[{block.kind}]" for block in blocks if isinstance(block, Media)]
    return {"content": "\n".join(texts)} if texts else {}


def _built_calls(
    calls: Sequence[Block], message: Message, own: WireValue | None, limit: int
) -> dict[str, Any]:
    old = {call.id: call.wire for call in (_own_calls(own) if own is not None else ())}
    fields: dict[str, Any] = {}
    several: list[Any] = []
    for call in calls:
        wire = call.wire if own is not None else None
        if not isinstance(call, ToolCall):
            if wire is not None:
                several.append(wire)
            continue
        if wire is None and (was := old.get(call.id)) is not None:
            wire = _rewritten(call, was)
        if own is not None and function_name(call.id) is not None:
            fields["function_call"] = wire or _function(call)
        else:
            several.append(wire or _new_call(call, message, limit))
    return {"tool_calls": several, **fields} if several else fields


def _own_calls(own: WireValue) -> list[ToolCall]:
    return [block for block in read_assistant(own) if isinstance(block, ToolCall)]


def _rewritten(call: ToolCall, was: WireValue) -> dict[str, Any]:
    """The wire call `was` with other arguments: its kind and its other keys stay."""
    if isinstance(given := was.get("function"), Mapping):
        return {**was, "function": {**cast(WireValue, given), **_function(call)}}
    if isinstance(given := was.get("custom"), Mapping):
        text = call.input.get("input")
        text = text if isinstance(text, str) else write_arguments(call)
        return {**was, "custom": {**cast(WireValue, given), "name": call.name, "input": text}}
    return {**was, **_function(call)}


def _function(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": write_arguments(call)}


def _new_call(call: ToolCall, message: Message, limit_chars: int) -> dict[str, Any]:
    call_id = written_call_id(call.id, message, (), name=NAME, limit_chars=limit_chars)
    return {"id": call_id, "type": "function", "function": _function(call)}
