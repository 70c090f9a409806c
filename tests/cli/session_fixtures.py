"""Fixtures of commands that run sessions: a workspace, scripts that play the model, terminals."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.starting import command_line, environment
from tests.cli.terminal import Terminal

from wayfare.cli.app import run as run_command

GIVE_UP_SECONDS = 60


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        """Its output as one JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and the current one."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    # A script answers what it is asked: memory would take answers meant for the conversation.
    monkeypatch.setenv("WAYFARE_MEMORY_ENABLED", "false")
    monkeypatch.setenv("WAYFARE_CONTEXT_SUMMARIES", "false")
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Writes a script; returns the model that follows it."""

    def write(*replies: object) -> str:
        (tmp_path / "script.json").write_text(json.dumps(list(replies)), "utf-8")
        return "scripted:../script.json"

    return write


@pytest.fixture
def command(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Runs a command in this process, in the workspace."""

    def run(*arguments: str, stdin: str = "") -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        status = run_command(arguments)
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return run


@pytest.fixture
def process(workspace: Path) -> Callable[..., Ran]:
    """Runs a command as a process of its own, in the workspace."""

    def run(*arguments: str, stdin: str = "", **environ: str) -> Ran:
        done = subprocess.run(
            [*command_line(), *arguments],
            cwd=workspace,
            env=environment(**environ),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_SECONDS,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def terminal(workspace: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts a command on a terminal of its own; all are ended with the test."""
    started: list[Terminal] = []

    def start(*arguments: str, columns: int = 80, rows: int = 24, **environ: str) -> Terminal:
        made = Terminal(
            [*command_line(), *arguments],
            cwd=workspace,
            environ=environment(**{"TERM": "xterm-256color", **environ}),
            columns=columns,
            rows=rows,
        )
        started.append(made)
        return made

    yield start
    for one in started:
        one.end()
