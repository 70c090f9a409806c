"""`wayfare verify`: what it prints, exit statuses, and the folder it keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.cli.session_fixtures import Ran
from tests.cli.starting import Command

RunCommand = Callable[..., Ran]
Script = Callable[..., str]


def kept(text: str) -> Path | None:
    found = re.search(r"kept (\S+?):", text)
    return Path(found[1]) if found else None


def test_all_pass_and_nothing_is_left_behind(command: RunCommand) -> None:
    two = ("--only", "large-output", "--only", "5")
    ran = command("verify", "--stand-in", *two, "--set", "memory.enabled=true")
    assert ran.status == 0
    assert "Finding: all 2 experiments passed." in ran.out
    assert "✓ a preview stands in the context" in ran.out
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    assert "1/2 large-output: passed" in ran.err
    assert "2/2 session-only: passed" in ran.err
    assert kept(ran.err) is None
    assert "\x1b" not in ran.out + ran.err


def test_a_failure_is_told_apart_and_its_folder_kept(command: RunCommand, script: Script) -> None:
    ran = command("verify", "-m", script("No.", "No."), "--only", "large-output")
    assert ran.status == 1
    assert "Nothing speaks against wayfare." in ran.out
    assert "✗ the model did its part: it did not call print_log" in ran.out
    assert "✓ the whole result stands in a file (stand-in)" in ran.out
    folder = kept(ran.err)
    assert folder is not None
    assert (folder / "large-output" / "requests.jsonl").is_file()
    assert (folder / "large-output" / "workspace").is_dir()


def test_what_is_switched_off_in_the_settings_is_found(command: RunCommand) -> None:
    ran = command("verify", "--stand-in", "--only", "preference", "--set", "memory.enabled=false")
    assert ran.status == 1
    assert "wayfare failed in preference." in ran.out
    assert "✗ the preference is a record on disk: nobody was asked what to keep" in ran.out


def test_json_is_one_object_with_the_evidence(command: RunCommand, tmp_path: Path) -> None:
    out = tmp_path / "evidence"
    ran = command("verify", "--stand-in", "--only", "2", "--json", "--out", out)
    assert ran.status == 0
    report = json.loads(ran.out)
    (experiment,) = report["experiments"]
    assert (report["passed"], report["model"], report["window_tokens"]) == (True, "stand-in", 16000)
    whole = next(
        c for c in experiment["checks"] if c["name"] == "the whole result stands in a file"
    )
    address = whole["evidence"][0].partition(": ")[0]
    assert (out / "large-output" / "workspace" / address).is_file()
    assert kept(ran.err) == out.resolve()


def test_mutants_are_printed(command: RunCommand) -> None:
    ran = command("verify", "--mutants", "--only", "session-only")
    assert ran.status == 0
    assert "✓ gate off → session-only" in ran.out
    assert "    red: nothing of it is in .memory" in ran.out
    assert "4 of 4 mutants caught; every check has one" in ran.out


def test_usage_errors_are_2(command: RunCommand, tmp_path: Path) -> None:
    assert command("verify", "--stand-in", "--only", "seven").status == 2
    assert command("verify", "--stand-in", "--window", "100").status == 2
    assert command("verify", "-m", "nonsense:model").status == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    ran = command("verify", "--stand-in", "--out", tmp_path / "full")
    assert (ran.status, "is not empty" in ran.err) == (2, True)


def test_without_a_model_it_says_what_to_do(wayfare: Command) -> None:
    ran = wayfare("verify")
    assert ran.returncode == 1
    assert b"no model yet" in ran.stderr
