"""The README's examples for somebody's own loop run as they stand."""

from __future__ import annotations

import copy
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOG = "2026-01-01 00:00:00 INFO started and running well\n" * 40_000
CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Which line is the first error?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": LOG},
]


def examples(readme: str) -> list[str]:
    """The blocks of Python that govern a list."""
    text = (ROOT / readme).read_text("utf-8")
    return [b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "govern(" in b]


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
@pytest.mark.parametrize("number", [0, 1], ids=["anthropic", "openai"])
def test_an_example_runs_and_sends_a_governed_list(
    readme: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sent: list[dict[str, Any]] = []
    create = SimpleNamespace(create=lambda **request: sent.append(request))
    client = SimpleNamespace(messages=create, chat=SimpleNamespace(completions=create))
    names: dict[str, Any] = {
        "client": client,
        "MODEL": "m",
        "messages": copy.deepcopy(CHAT),
        "open": lambda path: io.StringIO(LOG),
    }
    exec(compile(examples(readme)[number], readme, "exec"), names)
    (request,) = sent
    text = str(request["messages"])
    assert "<persisted-output>" in text
    assert len(text) < 10_000
    address = re.search(r"Full output: (\S+?)\\n", text)
    assert address is not None
    assert (tmp_path / address[1]).read_text() == LOG
    # The host's own list still holds all of it.
    assert LOG in json.dumps(names["messages"][-1]).replace("\\n", "\n")
