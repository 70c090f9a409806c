"""`wayfare config` and `wayfare trust`: every value with where it came from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.session_fixtures import Ran

from wayfare.settings import all_keys, user_file

Command = Callable[..., Ran]


def write_user_file(text: str) -> Path:
    """The settings file of this test's own home."""
    file = user_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_every_setting_is_shown_with_its_value_and_source(command: Command) -> None:
    ran = command("config")
    assert ran.status == 0
    for key in all_keys():
        if not key.name.startswith("mcp."):
            assert f"\n{key.name} " in f"\n{ran.out}", key.name
    rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line}
    assert rows["limits.steps_per_turn"] == ["200", "default"]
    assert rows["context.reserve_tokens"] == ["20_000", "preset", "window,", "200,000", "tokens"]


def test_a_value_names_the_file_the_variable_or_the_flag_that_set_it(
    command: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = write_user_file('model = "a:from-the-user"\n[permissions]\ndeny = ["bash(sudo*)"]\n')
    (workspace / "wayfare.toml").write_text('[permissions]\ndeny = ["bash(rm*)"]\n')
    monkeypatch.setenv("WAYFARE_RETRY_ATTEMPTS", "2")
    ran = command("config", "--changed", "--mode", "read-only", "--set", "limits.repeats_told=2")
    lines = dict(line.split(maxsplit=1) for line in ran.out.splitlines() if line)
    assert lines["model.name"].split() == ['"a:from-the-user"', "user", str(user)]
    assert lines["retry.attempts"].split() == ["2", "environment", "WAYFARE_RETRY_ATTEMPTS"]
    assert lines["permissions.mode"].split() == ['"read-only"', "flag", "--mode"]
    assert lines["limits.repeats_told"].split() == ["2", "flag", "--set"]
    assert '["bash(sudo*)", "bash(rm*)"]' in lines["permissions.deny"]
    assert lines["permissions.deny"].endswith(f"{user}, wayfare.toml")
    assert "limits.retries" not in ran.out


def test_the_numbers_of_the_preset_follow_the_window(command: Command) -> None:
    found = command("config", "--json", "--set", "model.window_tokens=20000", "context").out
    settings = json.loads(found)["settings"]
    assert settings["context.reserve_tokens"]["value"] == 5_000
    found = command("config", "--json", "--set", "context.budget=classic", "context").out
    settings = json.loads(found)["settings"]
    assert settings["context.snip_messages"] == {
        "value": 50, "source": "preset", "place": "classic, 200,000 tokens",
    }  # fmt: skip


def test_json_holds_values_sources_and_what_was_left_out(command: Command, workspace: Path) -> None:
    (workspace / "wayfare.toml").write_text('[permissions]\nmode = "full"\ndeny = ["bash"]\n')
    value = json.loads(command("config", "--json").out)
    assert value["trusted"] is False
    assert value["settings"]["permissions.mode"] == {
        "value": "ask", "source": "default", "place": "",
    }  # fmt: skip
    assert value["settings"]["permissions.deny"]["value"] == ["bash"]
    assert [left["setting"] for left in value["left_out"]] == ["permissions.mode"]


def test_a_setting_or_a_group_is_explained(command: Command) -> None:
    ran = command("config", "limits.retries")
    assert ran.status == 2
    assert "limits.retries is no setting" in ran.err
    ran = command("config", "limits.steps_per_turn", "retry")
    assert "limits.steps_per_turn = 200  (default)" in ran.out
    assert "Model calls of one turn." in ran.out
    assert "retry.most_seconds = 30" in ran.out
    assert "limits.repeats_told" not in ran.out


def test_servers_that_nobody_set_are_a_group_all_the_same(command: Command) -> None:
    ran = command("config", "mcp")
    assert ran.status == 0
    assert ran.out.strip() == ""
    assert "no MCP server is set; a table [mcp.NAME] in a settings file adds one" in ran.err


def test_what_may_be_secret_is_not_shown(command: Command) -> None:
    write_user_file(
        '[model]\nextra_headers = {x-token = "sk-secret-1"}\n'
        '[mcp.files]\ncommand = "serve"\nenv = {TOKEN = "sk-secret-2"}\n'
    )
    for arguments in (("config",), ("config", "--json"), ("config", "mcp.files", "model")):
        ran = command(*arguments)
        assert ran.status == 0
        assert "sk-secret" not in ran.out + ran.err
        assert "x-token" in ran.out
        assert "mcp.files.command" in ran.out


def test_trust_is_given_once_asked_again_after_a_change_and_taken_back(
    command: Command, workspace: Path
) -> None:
    assert "brings nothing: trusted" in command("trust", "--show").out
    (workspace / "wayfare.toml").write_text('[permissions]\nmode = "full"\n')
    assert "brings settings: not trusted" in command("trust", "--show").out
    ran = command("config", "permissions.mode")
    assert 'permissions.mode = "ask"' in ran.out
    assert "left out: permissions.mode of wayfare.toml" in ran.err
    command("trust")
    assert 'permissions.mode = "full"' in command("config", "permissions.mode").out
    (workspace / "wayfare.toml").write_text('[permissions]\nmode = "accept-edits"\n')
    assert 'permissions.mode = "ask"' in command("config", "permissions.mode").out
    command("trust")
    command("trust", "--forget")
    assert 'permissions.mode = "ask"' in command("config", "permissions.mode").out
