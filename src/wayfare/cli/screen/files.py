"""The files of the workspace, for `@` completion: git's list where there is one, quickly."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

_MOST_FILES: Final = 100_000
_FRESH_SECONDS: Final = 5.0
"""A list is used so long before it is read again; reading 10,000 names takes some 20 ms."""
_GIT_SECONDS: Final = 3.0
_OWN_PROGRAMS_OFF: Final = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""A repository's own configuration can name programs that git runs when it lists files."""
_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})


class WorkspaceFiles:
    """Paths of files, relative to the workspace; read when asked for, kept for a few seconds."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._paths: Sequence[str] = ()
        self._read_at = float("-inf")

    def paths(self) -> Sequence[str]:
        """All of them. Runs git, or walks; not for the event loop."""
        if time.monotonic() - self._read_at > _FRESH_SECONDS:
            self._paths = _from_git(self._workspace) or tuple(_walked(self._workspace))
            self._read_at = time.monotonic()
        return self._paths

    def matching(self, words: str, most: int = 50) -> list[str]:
        """The best matches, best first."""
        return best(self.paths(), words, most)


def _from_git(workspace: Path) -> Sequence[str]:
    """Tracked files and new ones that are not ignored; nothing outside a repository."""
    command = ["git", *_OWN_PROGRAMS_OFF, "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(
            command,
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    if done.returncode:
        return ()
    names = done.stdout.decode("utf-8", "replace").split("\0")
    return tuple(dict.fromkeys(name for name in names[:_MOST_FILES] if name))


def _walked(workspace: Path) -> Iterable[str]:
    count = 0
    for folder, folders, names in os.walk(workspace):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _PASSED_OVER)
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                return
            yield os.path.relpath(os.path.join(folder, name), workspace)


def best(paths: Iterable[str], words: str, most: int) -> list[str]:
    """Paths that match what was typed: names that begin with it, then paths that hold it, then
    paths that hold its letters in order; shorter ones first."""
    if not words:
        return sorted(paths, key=lambda path: (path.count("/"), path))[:most]
    wanted = words.casefold()
    found: list[tuple[int, int, str]] = []
    for path in paths:
        low = path.casefold()
        name = low.rpartition("/")[2]
        if low.startswith(wanted) or name.startswith(wanted):
            rank = 0
        elif wanted in name:
            rank = 1
        elif wanted in low:
            rank = 2
        elif _in_order(wanted, low):
            rank = 3
        else:
            continue
        found.append((rank, len(path), path))
    found.sort()
    return [path for _, _, path in found[:most]]


def _in_order(letters: str, text: str) -> bool:
    at = 0
    for letter in letters:
        at = text.find(letter, at) + 1
        if not at:
            return False
    return True
