"""Where memories stand: one for a project, shared by its worktrees, and one for the user.

Only files are read, no git is run, and a repository's word alone never leads into another project:
a worktree counts as one only where the main repository says so too.
"""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path

MEMORY_FOLDER = ".memory"
_POINTER_BYTES = 4_096


def project_memory(start: Path, *, memory_root: Path | None = None) -> Path:
    """The folder of a project's memory.

    Args:
        start: Where the session works.
        memory_root: The setting by which clones share one memory; None: the project's root.
    """
    root = project_root(start) if memory_root is None else memory_root.expanduser()
    return root / MEMORY_FOLDER


def user_memory() -> Path:
    """The folder of the user's memory, for all workspaces, in the platform's data folder."""
    return user_data_path("wayfare", appauthor=False) / "memory"


def project_root(start: Path) -> Path:
    """The root of the repository's main worktree, or `start` outside of git.

    A submodule is a project of its own; so is a worktree of a bare repository.
    """
    here = start.absolute()
    for folder in (here, *here.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder
        if marker.is_file():
            return _main_worktree(folder, marker) or folder
    return here


def _main_worktree(folder: Path, marker: Path) -> Path | None:
    """The main worktree of a linked one; None when it is no linked one, or not both say so."""
    gitdir = _pointer(marker, "gitdir:")
    if gitdir is None:
        return None
    own = (folder / gitdir).resolve()
    shared = _pointer(own / "commondir")
    back = _pointer(own / "gitdir")
    if shared is None or back is None or (own / back).resolve() != marker.resolve():
        return None
    repository = (own / shared).resolve()
    if own.parent != repository / "worktrees" or repository.name != ".git":
        return None
    main = repository.parent
    return main if (main / ".git").is_dir() else None


def _pointer(path: Path, prefix: str = "") -> str | None:
    """The one line a git pointer file holds."""
    try:
        with path.open("rb") as file:
            line = file.read(_POINTER_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return None
    if not line or "\n" in line or "\0" in line or not line.startswith(prefix):
        return None
    return line.removeprefix(prefix).strip() or None
