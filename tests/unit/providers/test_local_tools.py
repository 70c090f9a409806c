"""Tools for models whose template knows none: told in words, chosen by a schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from wayfare.messages import (
    Media,
    Message,
    Origin,
    Text,
    Thinking,
    ToolCall,
    assistant,
    call,
    result,
    results,
    user,
)
from wayfare.model import Request, ToolSpec
from wayfare.providers.local_tools import choice_schema, chosen, with_tools_told

READ = ToolSpec(
    name="read_file",
    description="Read a file. It is paged.\nMore about it.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "where", "minLength": 1},
            "limit": {"type": "integer", "default": 3},
        },
        "required": ["path"],
    },
)
NESTED = ToolSpec(
    name="todo_write",
    description="Write the list",
    schema={
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
        "required": ["items"],
        "$defs": {
            "Item": {
                "type": "object",
                "properties": {
                    "text": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "parts": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                },
            }
        },
    },
)


def test_tools_are_told_as_signatures() -> None:
    told = with_tools_told(Request(messages=(user("hi"),), system="Be brief.", tools=(READ,)))
    assert told.tools == ()
    assert told.system.startswith("Be brief.\n\nReply with one JSON object.")
    assert "- read_file(path: string, limit?: integer): Read a file" in told.system
    assert told.schema == choice_schema((READ,))


@pytest.mark.parametrize(
    ("written", "fits"),
    [
        ({"tool": "read_file", "input": {"path": "a"}}, True),
        ({"tool": "read_file", "input": {"path": "a", "limit": 3}}, True),
        ({"tool": "answer", "input": {"text": "hi"}}, True),
        ({"tool": "todo_write", "input": {"items": [{"text": None}, {"parts": []}]}}, True),
        ({"tool": "read_file", "input": {}}, False),
        ({"tool": "delete_file", "input": {"path": "a"}}, False),
        ({"tool": "answer", "input": {}}, False),
        ({"input": {"path": "a"}}, False),
    ],
)
def test_only_a_whole_choice_fits_the_schema(written: dict[str, object], fits: bool) -> None:
    schema = choice_schema((READ, NESTED))
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(written) is fits


def test_a_schema_that_refers_to_itself_ends() -> None:
    text = json.dumps(choice_schema((NESTED,)))
    assert "$ref" not in text
    assert len(text) < 20_000


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (
            '{"tool": "read_file", "input": {"path": "a"}}',
            ToolCall(id="new", name="read_file", input={"path": "a"}),
        ),
        ('{"tool": "answer", "input": {"text": "hi"}}', Text(text="hi")),
        ('{"tool": "unknown", "input": {}}', Text(text='{"tool": "unknown", "input": {}}')),
        ('{"tool": "read_file", "inp', Text(text='{"tool": "read_file", "inp')),
        ("plain words", Text(text="plain words")),
        ("[1]", Text(text="[1]")),
    ],
)
def test_what_was_written_becomes_a_call_or_stays_a_text(text: str, block: ToolCall | Text) -> None:
    assert chosen(text, "new", ["read_file"]) == (block,)


def test_a_history_with_calls_becomes_words_in_the_same_order() -> None:
    messages = (
        user("look"),
        Message(
            role="assistant",
            blocks=(
                Thinking(text="hm"),
                Text(text="Reading."),
                call("read_file", {"path": "a"}, id="c1"),
                call("read_file", {"path": "b"}, id="c2"),
            ),
            origin=Origin.ASSISTANT,
        ),
        results(result("c1", "apples"), result("c2", "no such file", is_error=True)),
        Message(role="user", blocks=(Media(kind="image", content="x"),), origin=Origin.USER),
        assistant("done"),
    )
    told = with_tools_told(Request(messages=messages)).messages
    assert [(m.role, m.text) for m in told] == [
        ("user", "look"),
        (
            "assistant",
            'Reading.\n{"tool":"read_file","input":{"path":"a"}}\n'
            '{"tool":"read_file","input":{"path":"b"}}',
        ),
        ("user", "Result of read_file:\napples\nError of read_file:\nno such file"),
        ("user", "[image]"),
        ("assistant", "done"),
    ]


def test_without_tools_the_schema_of_the_request_stays() -> None:
    schema = {"type": "object"}
    told = with_tools_told(Request(messages=(user("hi"),), system="s", schema=schema))
    assert (told.schema, told.system) == (schema, "s")
