"""Programs that a repository's own settings name: git runs them even when it is only asked to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from wayfare.settings.plain_file import read_plain

_MOST_BYTES: Final = 1 << 20
_PROGRAM: Final = re.compile(
    r"(?:^|\])[ \t]*(?P<key>fsmonitor|external|textconv|clean|smudge|process|command|program"
    r"|sshcommand|hookspath)[ \t]*=[ \t]*\"?(?P<value>[^\"\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_INCLUDE: Final = re.compile(r"^[ \t]*\[[ \t]*include", re.IGNORECASE | re.MULTILINE)
_HARMLESS: Final = re.compile(
    r"(?:true|false|yes|no|on|off|1|0|)\s*|git[ -]lfs (?:clean|smudge|filter-process)\b[\w %-]*",
    re.IGNORECASE,
)
"""The monitor that git brings along, switched on or off, and what git-lfs sets up."""
_HOOK: Final = "post-index-change"
"""The one hook that reading runs: git writes its index anew when it has looked at files."""


def own_programs(folder: Path) -> str:
    """Which setting of the repository around a folder names a program that reading may run; empty for
    none, and where there is no repository.

    A clone brings no settings of its own, but a folder out of an archive may.
    """
    for at in (folder, *folder.parents):
        marker = at / ".git"
        if marker.exists():
            return next(filter(None, (_named(place, at) for place in _places(marker))), "")
    return ""


def _places(marker: Path) -> tuple[Path, ...]:
    """Where the settings of a repository are: those of a linked worktree, and those it shares."""
    if marker.is_dir():
        return (marker,)
    own = marker.parent / _text(marker).strip().removeprefix("gitdir:").strip()
    shared = _text(own / "commondir").strip()
    return (own, own / shared) if shared else (own,)


def _named(place: Path, root: Path) -> str:
    hooks = [place / "hooks"]
    for file in ("config", "config.worktree"):
        text = _text(place / file)
        if _INCLUDE.search(text):
            return "include"
        for found in _PROGRAM.finditer(text):
            if found["key"].lower() == "hookspath":
                hooks.append(root / found["value"].strip())
            elif not _HARMLESS.fullmatch(found["value"]):
                return found["key"].lower()
    return f"the hook {_HOOK}" if any((folder / _HOOK).exists() for folder in hooks) else ""


def _text(path: Path) -> str:
    try:
        return read_plain(path, _MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
