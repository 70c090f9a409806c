"""Where memories stand: worktrees share one, nothing else does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from wayfare.memory.scopes import project_memory, project_root, user_memory


def git(*arguments: str, at: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
        cwd=at,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "main"
    (root / "src").mkdir(parents=True)
    git("init", "-q", at=root)
    git("commit", "-q", "--allow-empty", "-m", "first", at=root)
    return root


def test_a_folder_in_a_repository_has_its_memory(repository: Path) -> None:
    assert project_memory(repository / "src") == repository / ".memory"


def test_worktrees_share_the_memory_of_the_main_one(repository: Path) -> None:
    linked = repository.parent / "linked"
    git("worktree", "add", "-q", str(linked), at=repository)
    assert project_root(linked).resolve() == repository.resolve()


def test_a_clone_is_a_project_of_its_own_unless_a_setting_says_otherwise(repository: Path) -> None:
    clone = repository.parent / "clone"
    git("clone", "-q", str(repository), str(clone), at=repository)
    assert project_root(clone) == clone
    assert project_memory(clone, memory_root=repository) == repository / ".memory"


def test_outside_of_git_it_is_the_start_folder(tmp_path: Path) -> None:
    assert project_root(tmp_path) == tmp_path


def test_a_pointer_that_the_other_repository_does_not_return_leads_nowhere(
    repository: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), at=repository)
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").write_text((linked / ".git").read_text())
    assert project_root(evil) == evil
    (evil / ".git").write_text(f"gitdir: {repository}/.git\n")
    assert project_root(evil) == evil


@pytest.mark.parametrize("text", ["", "gitdir:", "nonsense", "gitdir: /nowhere\n", "\0"])
def test_a_broken_pointer_makes_the_folder_its_own_project(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert project_root(tmp_path) == tmp_path


def test_the_users_memory_is_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_memory() == tmp_path / "wayfare" / "memory"
