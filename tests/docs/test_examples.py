"""Every example of the documentation runs, offline, as it stands on its page."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import pytest
import typer
from tests.docs.pages import DOCS, ROOT, Fenced, blocks, pages

from wayfare.cli.app import app, run

KINDS: Final = frozenset({"python", "console", "sh", "setup", "text", "json", "toml", "mermaid"})
_IN_PROCESS: Final = frozenset({"config", "context", "memory", "notes", "sessions", "trust"})
_SHELL: Final = re.compile(r"[$|>&;<*\n]")
NOT_RUN: Final = frozenset({"cd", "export", "git", "make", "pip", "pipx", "wayfare"})
"""Programs a block of `sh` may name: it needs the network, a key or a person's terminal, so that its
lines are checked and not run. Everything else stands in blocks that run."""


@pytest.mark.parametrize("page", pages("en"), ids=str)
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(DOCS / "en" / page, tmp_path, monkeypatch)


@pytest.mark.parametrize("page", pages("zh"), ids=str)
def test_the_examples_of_a_chinese_page_are_the_same_or_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only comments differ, running them once is enough."""
    own = [_plain(block) for block in blocks(DOCS / "zh" / page)]
    if own != [_plain(block) for block in blocks(DOCS / "en" / page)]:
        _run(DOCS / "zh" / page, tmp_path, monkeypatch)


def _plain(block: Fenced) -> tuple[str, str, str]:
    code = block.kind in ("python", "sh", "console", "setup", "toml")
    text = re.sub(r" *#.*", "", block.text) if code else ""
    return block.kind, block.file, text


def _run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = folder / "project"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    monkeypatch.syspath_prepend(workspace)
    environment = _environment(folder)
    for name in ("COLUMNS", "NO_COLOR"):
        monkeypatch.setenv(name, environment[name])
    names: dict[str, Any] = {"__name__": "example", "RECORDINGS": ROOT / "recordings"}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        assert block.kind in KINDS, f"{where}: nobody knows how to run {block.kind!r}"
        if block.file:
            target = workspace / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.kind in ("python", "setup"):
            # Blank lines in front, so that an error names the line of the page.
            text = "\n" * (block.line - 1) + block.text
            exec(compile(text, str(page), "exec", dont_inherit=True), names)
        elif block.kind == "console":
            for command, said in _commands(block.text):
                _command(command, said, where, environment)
        elif block.kind == "sh":
            for line in block.text.splitlines():
                _checked(line, where)


def _environment(folder: Path) -> dict[str, str]:
    """That of this test, with a `wayfare` on the path that is the one under test."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "wayfare").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wayfare "$@"\n')
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}


def _commands(text: str) -> list[tuple[str, str]]:
    """Each command behind a `$`, with what it is said to print."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> "):
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", "")
        else:
            command, said = found[-1]
            found[-1] = (command, f"{said}{line}\n")
    return found


def _command(command: str, said: str, where: str, environment: dict[str, str]) -> None:
    status, printed = _done(command, environment)
    assert status == 0, f"{where}: {command}\n{printed}"
    shown = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in said.splitlines():
        words = " ".join(line.split())
        pattern = re.compile(_expected(words))
        found = words in ("", "…") or any(pattern.fullmatch(one) for one in shown)
        assert found, f"{where}: {command} does not print {words!r} in its place:\n{printed}"


def _done(command: str, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command; those that only look at files run here, which is ten times as fast."""
    words = shlex.split(command) if not _SHELL.search(command) else []
    if words[:1] == ["wayfare"] and words[1] in _IN_PROCESS:
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(printed):
            return run(words[1:]), printed.getvalue()
    done = subprocess.run(
        command,
        shell=True,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=120,
        text=True,
    )
    return done.returncode, done.stdout


def _expected(words: str) -> str:
    """What a line of a page stands for: `…` for anything, and beside it figures for any figures."""
    escaped = re.escape(words)
    if "…" in words:
        escaped = re.sub(r"\d[\d,]*(?:\\\.\d+)?", r"[\\d,.]+", escaped)
    return escaped.replace("…", ".*")


def _checked(line: str, where: str) -> None:
    """A line that cannot run here names a program it may, and options its command has."""
    words = shlex.split(line, comments=True)
    if not words:
        return
    assert words[0] in NOT_RUN, f"{where}: {words[0]} could run; put it into a block that does"
    if words[0] != "wayfare":
        return
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    known = {name for parameter in command.params for name in parameter.opts}
    for word in rest:
        name = word.partition("=")[0]
        assert not name.startswith("-") or name in known, f"{where}: {name} is no option"
