"""The layers of the design hold: an import only ever points downward."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_imports_point_downward() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("anthropic", "openai", "mcp", "xllamacpp", "typer", "rich", "prompt_toolkit", "yaml")
    program = f"import sys, wayfare; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
