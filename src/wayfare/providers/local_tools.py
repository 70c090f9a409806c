"""Tools for models whose chat template knows none: told in words, chosen by a JSON schema.

The server turns the schema into a grammar, so even a small model can only write a call that is
whole and names a tool there is. The last choice, `answer`, is how it speaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.messages import (
    Block,
    Media,
    Message,
    Opaque,
    Origin,
    Text,
    ToolCall,
    ToolResult,
)
from wayfare.model import Request, ToolSpec
from wayfare.providers.fields import fields_in

ANSWER: Final = "answer"
"""What the model writes as the tool's name when it answers in words."""

_KEPT: Final = frozenset({"type", "enum", "const", "required", "additionalProperties"})
"""Keywords of a schema that shape what is written; the rest only describes or checks it."""

_MAX_DEPTH: Final = 12
"""A schema nested deeper, or that refers to itself, becomes "any JSON" there."""


def with_tools_told(request: Request) -> Request:
    """The request as a model without tools can take it: texts only, a schema instead of tools.

    Without tools only the calls and results in the messages are turned into texts.
    """
    messages = tuple(_in_words(request.messages))
    if not request.tools:
        return Request(
            messages=messages,
            system=request.system,
            max_output_tokens=request.max_output_tokens,
            stable_messages=request.stable_messages,
            schema=request.schema,
        )
    told = "\n".join(
        [
            "Reply with one JSON object.",
            'To use a tool: {"tool": NAME, "input": {...}}',
            f'To answer in words: {{"tool": "{ANSWER}", "input": {{"text": "..."}}}}',
            "Tools:",
            *(f"- {_signature(tool)}" for tool in request.tools),
        ]
    )
    return Request(
        messages=messages,
        system=f"{request.system}\n\n{told}" if request.system else told,
        max_output_tokens=request.max_output_tokens,
        stable_messages=request.stable_messages,
        schema=choice_schema(request.tools),
    )


def choice_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """One object: a call of one of `tools`, or an answer in words."""
    text: dict[str, Any] = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }
    return {
        "anyOf": [
            *(_choice(tool.name, _shape(tool.schema, tool.schema)) for tool in tools),
            _choice(ANSWER, text),
        ]
    }


def _choice(name: str, shape: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": {"const": name}, "input": shape},
        "required": ["tool", "input"],
    }


def chosen(text: str, fresh_id: str, names: Iterable[str]) -> tuple[Block, ...]:
    """What the model wrote, as a text or a call; a text that is no such object stays a text."""
    try:
        value: object = json_text.loads(text)
    except (ValueError, RecursionError):
        value = None
    fields = fields_in(value)
    name, given = fields.get("tool"), fields.get("input")
    if name == ANSWER and "text" in fields_in(given):
        return (Text(text=str(fields_in(given)["text"])),)
    if isinstance(name, str) and name in set(names):
        return (ToolCall(id=fresh_id, name=name, input=dict(fields_in(given))),)
    return (Text(text=text),)


def _in_words(messages: Sequence[Message]) -> Iterable[Message]:
    names: dict[str, str] = {}
    for message in messages:
        said: list[str] = []
        for block in message.blocks:
            match block:
                case Text() | Opaque():
                    said.append(block.text)
                case ToolCall():
                    names[block.id] = block.name
                    call = {"tool": block.name, "input": dict(block.input)}
                    said.append(json_text.dumps(call).decode("utf-8", "replace"))
                case ToolResult():
                    what = "Error" if block.is_error else "Result"
                    name = names.get(block.call_id, "the tool")
                    said.append(f"{what} of {name}:\n{block.text}")
                case Media():
                    said.append(f"[{block.kind}]")
                case _:
                    pass  # thinking is for the model that thought it
        text = "\n".join(part for part in said if part.strip())
        if text:
            role = "assistant" if message.role == "assistant" else "user"
            origin = Origin.ASSISTANT if role == "assistant" else message.origin
            yield Message(role=role, blocks=(Text(text=text),), origin=origin)


def _signature(tool: ToolSpec) -> str:
    """`name(path: string, limit?: integer): what for`, the first sentence of what for."""
    properties: Mapping[str, Any] = tool.schema.get("properties") or {}
    required = set(cast("list[str]", tool.schema.get("required") or []))
    arguments = ", ".join(
        f"{name}{'' if name in required else '?'}: {_type_name(shape)}"
        for name, shape in properties.items()
    )
    first = tool.description.strip().split("\n")[0].split(". ")[0].rstrip(".")
    return f"{tool.name}({arguments}): {first}"


def _type_name(shape: object) -> str:
    kind = fields_in(shape).get("type")
    return str(kind) if isinstance(kind, str) else "any"


def _shape(schema: object, root: Mapping[str, Any], depth: int = 0) -> Any:
    """A schema with what the grammar maker understands, references resolved."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return {} if not isinstance(schema, bool) else schema
    fields = cast("Mapping[str, Any]", schema)
    if isinstance(ref := fields.get("$ref"), str):
        return _shape(_referred(ref, root), root, depth + 1)
    shape: dict[str, Any] = {key: fields[key] for key in _KEPT if key in fields}
    properties: object = fields.get("properties")
    if isinstance(properties, Mapping):
        given = cast("Mapping[str, Any]", properties)
        shape["properties"] = {
            name: _shape(inner, root, depth + 1) for name, inner in given.items()
        }
    if "items" in fields:
        shape["items"] = _shape(fields["items"], root, depth + 1)
    for key in ("anyOf", "oneOf"):
        if isinstance(fields.get(key), list):
            choices = cast("list[Any]", fields[key])
            shape["anyOf"] = [_shape(inner, root, depth + 1) for inner in choices]
    if isinstance(shape.get("additionalProperties"), Mapping):
        shape["additionalProperties"] = _shape(shape["additionalProperties"], root, depth + 1)
    return shape


def _referred(ref: str, root: Mapping[str, Any]) -> object:
    found: object = root
    for part in ref.removeprefix("#/").split("/"):
        found = fields_in(found).get(part)
    return found
