"""How the command is started, and sessions small enough to follow by eye."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import wayfare

Command = Callable[..., subprocess.CompletedProcess[bytes]]
Wire = dict[str, Any]


def command_line() -> list[str]:
    """How the command is started: its script where it is installed, else the package."""
    script = shutil.which("wayfare", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-m", "wayfare"]


def environment(**variables: str) -> dict[str, str]:
    """Variables under which the command finds the very package that is tested."""
    found = str(Path(wayfare.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": found, **variables}


def call(id: str, name: str, **arguments: Any) -> Wire:
    """A tool call of the assistant."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id: str, content: Any) -> Wire:
    """What a tool answered."""
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def reading_session(steps: int = 30, result_chars: int = 1_500) -> list[Wire]:
    """A session that reads one file after the other until a small window is full."""
    messages: list[Wire] = [{"role": "user", "content": "Read the modules and list the faults."}]
    for step in range(steps):
        path = f"src/module_{step:02}.py"
        line = f"def load_table_{step}(source): return source.read_rows({step})\n"
        text = (line * (result_chars // len(line) + 1))[:result_chars]
        messages += [
            {"role": "assistant", "content": [call(f"toolu_{step:02}", "read", path=path)]},
            {"role": "user", "content": [result(f"toolu_{step:02}", text)]},
        ]
    return [*messages, {"role": "assistant", "content": "No faults."}]


def written(path: Path, messages: Sequence[Any]) -> Path:
    """A recording of `messages`."""
    path.write_text(json.dumps({"messages": messages}), encoding="ascii")
    return path
