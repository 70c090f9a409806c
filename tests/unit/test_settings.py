"""Settings: five sources in rising order, errors that name what is valid, trust that only narrows."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.agent.builtin.shell_settings import Shell
from wayfare.agent.limits import Limits
from wayfare.agent.policy import MODES
from wayfare.context.budget import Budget
from wayfare.errors import ConfigError
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.retry import RetrySettings as PatienceOfRetrying
from wayfare.session import Places
from wayfare.settings import (
    ContextSettings,
    Flag,
    LimitSettings,
    Loaded,
    ModelChoice,
    RetrySettings,
    Settings,
    ShellSettings,
    all_keys,
    load,
)


def loaded(folder: Path, text: str, *, name: str = "wayfare.toml", **given: Any) -> Loaded:
    (folder / name).write_text(text, "utf-8")
    return load(workspace=folder, **{"trusted": True, **given})


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text)
    return str(caught.value)


def test_nothing_set_gives_the_defaults() -> None:
    found = load()
    assert found.settings == Settings()
    assert str(found.source("retry.attempts")) == "default"


def test_each_source_beats_the_one_before_it(tmp_path: Path) -> None:
    """Defaults, user file, workspace, environment, flags."""
    user = tmp_path / "user.toml"
    user.write_text(
        "[retry]\nattempts = 1\n[limits]\nparallel_tools = 1\nrepeats_told = 1\nrepeats_ended = 1"
    )
    text = "[limits]\nparallel_tools = 2\nrepeats_told = 2\nrepeats_ended = 2"
    found = loaded(
        tmp_path,
        text,
        user=user,
        environ={"WAYFARE_LIMITS_REPEATS_TOLD": "3", "WAYFARE_LIMITS_REPEATS_ENDED": "3"},
        flags=[Flag(key="limits.repeats_ended", value=4, flag="--set")],
    )
    limits = found.settings.limits
    assert (found.settings.retry.attempts, limits.parallel_tools) == (1, 2)
    assert (limits.repeats_told, limits.repeats_ended) == (3, 4)
    assert str(found.source("retry.attempts")) == f"user {user}"
    assert str(found.source("limits.parallel_tools")) == "project wayfare.toml"
    assert str(found.source("limits.repeats_told")) == "environment WAYFARE_LIMITS_REPEATS_TOLD"
    assert str(found.source("limits.repeats_ended")) == "flag --set"


def test_pyproject_counts_where_there_is_no_file_of_our_own(tmp_path: Path) -> None:
    loaded(tmp_path, '[tool.wayfare]\nmodel = "a:b"', name="pyproject.toml")
    found = load(workspace=tmp_path, trusted=True)
    assert found.settings.model.name == "a:b"
    assert found.source("model.name").place == "pyproject.toml"
    assert loaded(tmp_path, "").settings.model.name == ""


def test_a_pyproject_of_somebody_else_is_not_ours(tmp_path: Path) -> None:
    assert loaded(tmp_path, "this is [no toml", name="pyproject.toml").settings == Settings()


def test_a_model_may_be_one_word(tmp_path: Path) -> None:
    assert loaded(tmp_path, 'model = "local:smollm2"').settings.model.name == "local:smollm2"
    found = load(environ={"WAYFARE_MODEL": "x:y", "WAYFARE_SIDE_MODEL": "s:t"})
    assert (found.settings.model.name, found.settings.side_model.name) == ("x:y", "s:t")


def test_rules_of_all_sources_hold_and_keep_where_they_came_from(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text('[permissions]\ndeny = ["bash(sudo*)", "bash(su)"]')
    found = loaded(
        tmp_path,
        '[permissions]\ndeny = ["edit_file(vendor/**)"]',
        user=user,
        environ={"WAYFARE_PERMISSIONS_DENY": "bash(curl*)"},
        flags=[Flag(key="permissions.deny", value='["a", "b"]', flag="--deny")],
    )
    assert found.settings.permissions.deny == (
        "bash(sudo*)", "bash(su)", "edit_file(vendor/**)", "bash(curl*)", "a", "b",
    )  # fmt: skip
    kinds = [source.kind for source in found.sources["permissions.deny"]]
    assert kinds == ["user", "user", "project", "environment", "flag", "flag"]


def test_servers_are_put_together_by_name(tmp_path: Path) -> None:
    text = '[mcp.files]\ncommand = "serve"\nargs = ["-x"]\n[mcp.web]\nurl = "http://127.0.0.1:1"'
    found = loaded(
        tmp_path, text, flags=[Flag(key="mcp.files.enabled", value="false", flag="--set")]
    )
    files, web = found.settings.mcp["files"], found.settings.mcp["web"]
    assert (files.command, files.args, files.enabled) == ("serve", ("-x",), False)
    assert (web.url, web.enabled) == ("http://127.0.0.1:1", True)
    assert "a command or a url" in refused(tmp_path, '[mcp.x]\nargs = ["y"]')


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[context]\ntargt_share = 1", "context.target_share"),
        ('[contxt]\nbudget = "classic"', "context.budget"),
        ('mdel = "x"', "model"),
        ("[context]\nsteps_per_turn = 3", "limits.steps_per_turn"),
        ("window_tokens = 8000", "model.window_tokens"),
        ('[mcp.files]\ncomand = "x"', "mcp.NAME.command"),
        ("[retry]\nattempts_ = 1", "retry.attempts"),
        ("[terminal]\nbel = true", "terminal.bell"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_one(
    tmp_path: Path, text: str, named: str
) -> None:
    assert refused(tmp_path, text).endswith(f"did you mean {named}?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[retry]\nattempts = "x"', "retry.attempts must be a whole number, not 'x'"),
        ("[retry]\nattempts = true", "retry.attempts must be a whole number, not True"),
        ("[retry]\nattempts = 1.5", "retry.attempts must be a whole number, not 1.5"),
        ("[retry]\nattempts = -1", "must be a number that is not negative, not -1"),
        ("[limits]\ncost_per_session = nan", "must be a number that is not negative"),
        ("[context]\ntarget_share = 1.5", "must be a share between 0 and 1"),
        ('[context]\nlimit_chars = "all"', 'must be "preset" or a whole number or "none"'),
        ('[permissions]\nmode = "acept-edits"', "did you mean accept-edits?"),
        ('[permissions]\nallow = "bash"', "must be a list of texts"),
        ("[permissions]\nallow = [1]", "must be a list of texts"),
        ("[model]\nextra_headers = {a = 1}", "must be a table of texts, not a table"),
        ('[model]\nthinking = "deep"', 'must be a table or "none"'),
        ("model = 3", "model must be a table"),
        ("hooks = 3", "hooks must be a list of tables"),
        ("mcp = 3", "mcp must be a table"),
        ("x =", "is not TOML"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_valid(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


def test_a_key_in_a_settings_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    said = refused(tmp_path, '[model]\napi_key = "sk-very-secret"')
    assert "model.key_variable" in said
    assert "very-secret" not in said


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "wayfare.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load(workspace=tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load(user=tmp_path)


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("WAYFARE_MODLE", "x", "WAYFARE_MODLE is no setting; did you mean WAYFARE_MODEL?"),
        ("WAYFARE_TERMINAL_BELL", "maybe", "must be true or false, not 'maybe'"),
        ("WAYFARE_RETRY_ATTEMPTS", "many", "WAYFARE_RETRY_ATTEMPTS: retry.attempts must be"),
    ],
)
def test_the_environment_is_checked_like_a_file(variable: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environ={variable: text})
    assert said in str(caught.value)


def test_the_environment_reads_every_kind() -> None:
    found = load(
        environ={
            "PATH": "/bin",
            "WAYFARE_PROJECT_DIR": "set by wayfare itself, for hooks",
            "WAYFARE_TERMINAL_BELL": "yes",
            "WAYFARE_LIMITS_STEPS_PER_TURN": "none",
            "WAYFARE_LIMITS_COST_PER_SESSION": "2",
            "WAYFARE_CONTEXT_LIMIT_CHARS": "50_000",
            "WAYFARE_CONTEXT_TAIL_SHARE": "preset",
            "WAYFARE_MODEL_THINKING": '{type = "adaptive"}',
            "WAYFARE_PROMPT_EXTRA": "speak = plainly",
        }
    ).settings
    assert found.terminal.bell
    assert found.limits.steps_per_turn is None
    assert found.limits.cost_per_session == 2.0
    assert found.context.numbers() == {"limit_chars": 50_000}
    assert found.model.thinking == {"type": "adaptive"}
    assert found.prompt.extra == "speak = plainly"


UNTRUSTED = """
model = "elsewhere:x"
hooks = [{event = "Stop", command = "./mine"}]
[mcp.mine]
command = "./mine"
[permissions]
mode = "full"
allow = ["bash(*)"]
ask = ["bash(git push*)"]
deny = ["bash(rm*)"]
sandbox = "off"
[limits]
steps_per_turn = 5
parallel_tools = 100
[prompt]
role = "obey the file README"
[folders]
memory = "elsewhere"
"""


def test_a_workspace_that_is_not_trusted_only_narrows(tmp_path: Path) -> None:
    found = loaded(tmp_path, UNTRUSTED, trusted=False)
    settings = found.settings
    assert settings.permissions.deny == ("bash(rm*)",)
    assert settings.permissions.ask == ("bash(git push*)",)
    assert settings.limits == LimitSettings(steps_per_turn=5)
    assert settings.permissions.mode == "ask"
    assert settings.permissions.allow == ()
    assert settings.permissions.sandbox == "auto"
    assert settings.mcp == {}
    assert settings.hooks == ()
    assert (settings.model, settings.prompt, settings.folders) == (
        ModelChoice(), Settings().prompt, Settings().folders,
    )  # fmt: skip
    assert {left.key for left in found.left_out} == {
        "model.name", "hooks", "mcp.mine.command", "permissions.mode", "permissions.allow",
        "permissions.sandbox", "limits.parallel_tools", "prompt.role", "folders.memory",
    }  # fmt: skip


def test_trust_is_off_unless_somebody_says_so(tmp_path: Path) -> None:
    (tmp_path / "wayfare.toml").write_text(UNTRUSTED)
    assert load(workspace=tmp_path).settings.permissions.mode == "ask"


def test_a_trusted_workspace_decides(tmp_path: Path) -> None:
    found = loaded(tmp_path, UNTRUSTED)
    assert found.settings.permissions.mode == "full"
    assert found.settings.hooks == ([{"event": "Stop", "command": "./mine"}],)
    assert not found.left_out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"WAYFARE_PERMISSIONS_MODE": "read-only"}, "read-only"),
        ({"WAYFARE_PERMISSIONS_MODE": "full"}, "full"),
    ],
)
def test_the_person_has_the_last_word_over_an_untrusted_workspace(
    tmp_path: Path, before: dict[str, str], after: str
) -> None:
    text = '[permissions]\nmode = "ask"'
    assert loaded(tmp_path, text, trusted=False, environ=before).settings.permissions.mode == after


def _numbers(cls: type, *, without: set[str]) -> dict[str, Any]:
    return {f.name: f.default for f in fields(cls) if f.name not in without}


def test_every_number_of_the_budget_is_a_setting() -> None:
    ours = {f.name for f in fields(ContextSettings)} - {"budget", "summaries"}
    assert ours == {f.name for f in fields(Budget)} - {"name", "window_tokens"}


@pytest.mark.parametrize("preset", ["window", "classic"])
def test_every_number_of_a_preset_is_a_valid_setting(preset: str) -> None:
    budget = Budget.named(preset, 200_000)
    for field in fields(ContextSettings):
        if field.name not in ("budget", "summaries"):
            value = getattr(budget, field.name)
            found = load(flags=[Flag(key=f"context.{field.name}", value=value, flag="--set")])
            assert found.settings.context.numbers() == {field.name: value}


def test_the_other_groups_have_the_names_and_defaults_of_their_layers() -> None:
    assert _numbers(LimitSettings, without=set()) == _numbers(Limits, without=set())
    retry = _numbers(RetrySettings, without=set())
    assert retry == _numbers(PatienceOfRetrying, without=set())
    confined = {"sandbox", "confinement", "keep"}
    assert _numbers(ShellSettings, without=confined) == _numbers(Shell, without=confined)
    elsewhere = {"name", "models_folder"}
    assert _numbers(ModelChoice, without=elsewhere) == _numbers(ModelSettings, without=elsewhere)


def test_modes_and_folders_are_those_of_their_layers(tmp_path: Path) -> None:
    for mode in MODES:
        assert load(environ={"WAYFARE_PERMISSIONS_MODE": mode}).settings.permissions.mode == mode
    places, folders = Places(workspace=tmp_path), Settings().folders
    assert (places.transcripts, places.results) == (folders.transcripts, folders.results)


def test_every_setting_is_explained() -> None:
    for key in all_keys():
        assert len(key.text) > 10, key.name


def test_a_number_says_its_unit_or_counts_things() -> None:
    """A name with a unit in it has the unit in its explanation as well."""
    units = ("tokens", "chars", "bytes", "seconds", "share", "hours", "minutes", "lines")
    words = {"chars": "characters"}
    for key in all_keys():
        unit = next((u for u in units if key.name.endswith(u)), "")
        if unit and key.name != "context.shorten_over_tokens":
            assert words.get(unit, unit).rstrip("s") in key.text.lower(), key.name


def _refusal(environ: dict[str, str]) -> str:
    try:
        load(environ=environ)
    except ConfigError as error:
        return str(error)
    return ""


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_in_the_environment_is_taken_or_refused_by_name(name: str, value: str) -> None:
    for variable in (f"WAYFARE_{name}", "WAYFARE_RETRY_ATTEMPTS", "WAYFARE_PERMISSIONS_ALLOW"):
        said = _refusal({variable: value})
        assert not said or variable in said
