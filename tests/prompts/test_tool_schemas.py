"""What models are told of wayfare's own tools: a change of wording is a reviewed diff.

`UPDATE_SNAPSHOTS=1` writes the file anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from wayfare.agent.builtin import builtin_tools
from wayfare.tokens import TokenMeter

SNAPSHOT = Path(__file__).with_name("tool_schemas.json")
MOST_TOKENS = 3_000
"""Every request carries them: a window of 8,192 tokens must have room for more than tools."""


def told() -> list[dict[str, object]]:
    return [
        {"name": s.name, "description": s.description, "schema": s.schema}
        for s in builtin_tools().specs()
    ]


def test_tools_are_described_as_reviewed() -> None:
    text = json.dumps(told(), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(text, "utf-8")
    assert text == SNAPSHOT.read_text("utf-8")


def test_every_parameter_is_explained_and_all_fit_a_small_window() -> None:
    for tool in builtin_tools().specs():
        for name, field in tool.schema["properties"].items():
            assert field.get("description"), f"{tool.name}.{name}"
    assert TokenMeter().text(json.dumps(told())) < MOST_TOKENS


def test_tools_declare_what_they_do() -> None:
    tools = builtin_tools()
    reading = {name for name, tool in tools.items() if tool.read_only}
    assert reading == {"bash_output", "read_file", "glob", "grep", "search_history"}
    kinds = {name: tool.kind for name, tool in tools.items() if tool.kind != "other"}
    assert kinds == {
        "bash": "shell",
        "read_file": "read",
        "write_file": "write",
        "edit_file": "edit",
        "glob": "search",
        "grep": "search",
        "search_history": "search",
    }
