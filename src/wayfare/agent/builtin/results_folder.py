"""Files that tools put among the session's results: private, out of git, with an address."""

from __future__ import annotations

import os
from pathlib import Path

from wayfare.agent.tools import ToolContext


def kept_path(context: ToolContext, prefix: str, ending: str) -> tuple[Path, str]:
    """A fresh file's place among the results, not made yet, and its address.

    Args:
        prefix: Begins the name, which must not look like one that carries a hash.
        ending: Of the name, with its dot.

    Raises:
        OSError: the folder cannot be made, or a link leads it out of the workspace.
    """
    _make(context.results_folder, context.workspace)
    path = context.results_folder / f"{prefix}_{context.clock.token()}{ending}"
    return path, address(context, path)


def keep(context: ToolContext, prefix: str, ending: str, content: bytes) -> str:
    """Put bytes among the results; returns their address.

    Raises:
        OSError: they cannot be written.
    """
    path, where = kept_path(context, prefix, ending)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    return where


def address(context: ToolContext, path: Path) -> str:
    """A file's printed address: its path from the workspace, if it is below."""
    root = context.workspace
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _make(folder: Path, workspace: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_relative_to(workspace):
        return
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(workspace)):
        raise OSError(None, f"{folder} leads out of the workspace")
    if missing and missing[-1] != folder:
        (missing[-1] / ".gitignore").write_text("*\n", encoding="utf-8")
