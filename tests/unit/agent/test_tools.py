"""Tools from typed functions: schema, checks, what a call touches, what is handed back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import anyio
import msgspec
import pytest
from inline_snapshot import snapshot

from wayfare.agent.registry import Registry
from wayfare.agent.tool_function import as_output, read_docstring, tool
from wayfare.agent.tools import (
    Command,
    InvalidInput,
    ReadPath,
    Tool,
    ToolContext,
    ToolOutput,
    Touches,
    Url,
    WritePath,
)
from wayfare.errors import ConfigError
from wayfare.messages import Media


class Item(msgspec.Struct):
    """One of a list."""

    title: str
    state: Literal["open", "done"] = "open"


@tool(read_only=True, kind="search", main_argument="pattern", max_result_chars=9)
async def find(
    pattern: str,
    path: ReadPath = ".",
    items: list[Item] = [],  # noqa: B006
    most: Annotated[int, msgspec.Meta(ge=1)] | None = None,
    *,
    context: ToolContext,
) -> str:
    """Find a pattern.

    In every file below a folder.

    Args:
        pattern: What to look for,
            as a regular expression.
        path (str): Where to look.

    Returns:
        Lines.
    """
    return f"{pattern} in {path}"


def test_the_schema_comes_from_signature_and_docstring() -> None:
    assert find.name == "find"
    assert find.description == "Find a pattern.\n\nIn every file below a folder."
    assert find.schema == snapshot(
        {
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string",
                    "description": "What to look for, as a regular expression.",
                },
                "path": {"type": "string", "description": "Where to look.", "default": "."},
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": {"type": "string"},
                            "state": {"enum": ["done", "open"], "default": "open"},
                        },
                        "required": ["title"],
                        "description": "One of a list.",
                    },
                },
                "most": {
                    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                    "default": None,
                },
            },
            "required": ["pattern"],
            "additionalProperties": False,
        }
    )


def test_what_a_tool_declares() -> None:
    assert (find.read_only, find.kind, find.main_argument) == (True, "search", "pattern")
    assert find.max_result_chars == 9
    assert find.traits.kind == "search"
    assert find.spec.schema is find.schema


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Object missing required field `pattern`"),
        ({"pattern": "x", "pth": "."}, "unknown field `pth`"),
        ({"pattern": 3}, "Expected `str`, got `int` - at `$.pattern`"),
        ({"pattern": "x", "items": [{"title": "t", "state": "half"}]}, "Invalid enum value 'half'"),
        ({"pattern": "x", "most": 0}, "Expected `int` >= 1"),
    ],
)
def test_an_input_that_does_not_fit_is_told_what_would(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        find.parse(given)
    assert said in str(caught.value)
    assert "Valid input: pattern (string, required), path (string), items" in str(caught.value)


def test_defaults_are_filled_in_and_numbers_in_texts_are_read() -> None:
    parsed = find.parse({"pattern": "x", "most": "5"})
    assert parsed == {"pattern": "x", "path": ".", "items": [], "most": 5}
    assert find.parse({"pattern": "x"})["items"] is not find.parse({"pattern": "x"})["items"]


def test_what_a_call_touches_is_read_off_the_parameters() -> None:
    @tool
    def move(src: ReadPath, to: list[WritePath], run: Command = "", ask: Url | None = None) -> None:
        """Move."""

    touched = move.touches({"src": "a", "to": ["b", "c"], "run": "make", "ask": None})
    assert touched == Touches(reads=("a",), writes=("b", "c"), commands=("make",), files=True)
    assert tool(lambda_free).touches({"n": 1}) == Touches()
    own = tool(touches=lambda given: Touches(writes=("x",)))(lambda_free)
    assert own.touches({}).writes == ("x",)


def lambda_free(n: int) -> int:
    """Double."""
    return 2 * n


def test_a_sync_function_runs_too_and_any_value_comes_back_as_text() -> None:
    made = tool(lambda_free)
    output = anyio.run(made.run, made.parse({"n": 4}), None)
    assert output == ToolOutput(text="8")
    picture = Media(kind="image", media_type="image/png", content="aGk=")
    assert as_output(picture) == ToolOutput(blocks=(picture,))
    assert as_output(None) == ToolOutput()
    assert as_output({"a": [1]}) == ToolOutput(text='{"a":[1]}')
    assert as_output(b"\xff") == ToolOutput(text="\ufffd")


def test_a_function_that_is_no_tool_is_refused_with_the_reason() -> None:
    def undocumented(n: int) -> int:
        return n

    def untyped(n) -> int:  # type: ignore[no-untyped-def]
        """Take anything."""
        return n

    def starred(*names: str) -> str:
        """Take many."""
        return ""

    for function, reason in (
        (undocumented, "has no docstring"),
        (untyped, "has no type"),
        (starred, "name its parameters"),
    ):
        with pytest.raises(ConfigError, match=reason):
            tool(function)


def test_a_registry_is_frozen_and_knows_each_name_once() -> None:
    registry = Registry([find, lambda_free])
    assert list(registry) == ["find", "lambda_free"]
    assert [s.name for s in registry.specs()] == ["find", "lambda_free"]
    assert registry.declared()["find"].kind == "search"
    with pytest.raises(ConfigError, match="two tools are called 'find'"):
        Registry([find, find])
    other = Tool(name="find", description="another", schema={}, run=find.run)
    replaced = registry.with_tool(other)
    assert replaced["find"] is other
    assert registry["find"] is find
    assert list(registry.without(["find"])) == ["lambda_free"]
    assert list(registry.only(["find", "nothing"])) == ["find"]


def test_docstrings_are_read_by_section() -> None:
    text, arguments = read_docstring(
        "Do it.\n\nArgs:\n    a: First:\n        with more.\n    b: Second.\n\nRaises:\n    c: No."
    )
    assert text == "Do it."
    assert arguments == {"a": "First: with more.", "b": "Second."}
