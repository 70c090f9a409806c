"""`wayfare trust`: what a workspace brings along may do what it says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wayfare.cli.printing import plain, put
from wayfare.cli.settings_files import brought_along, distrust, is_trusted, trust
from wayfare.settings import FILE_NAME, project_file

if TYPE_CHECKING:
    from wayfare.agent.trust import Shipped

_LISTED: Final = 12
"""Files named of one folder; the rest are counted."""
_COUNTED: Final = 1_000
"""Of a folder with more files than this it is only said that there are more."""


def run(root: Path, *, forget: bool, show: bool) -> None:
    """Trust the workspace, or take trust back, or say how it stands.

    Raises:
        WriteFailed: it could not be noted.
    """
    workspace = root.resolve()
    if forget:
        distrust(workspace)
        put(f"{plain(str(workspace))} is not trusted any more\n")
        return
    if show:
        found = brought_along(workspace)
        kinds = ", ".join(found.kinds) if found else "nothing"
        word = "trusted" if found is None or is_trusted(found) else "not trusted"
        put(f"{plain(str(workspace))} brings {kinds}: {word}\n")
        put("".join(f"  {plain(line)}\n" for line in _named(found) if found))
        return
    found = trust(workspace)
    kinds = ", ".join(found.kinds) or "nothing so far"
    put(f"trusted: {plain(str(workspace))} ({kinds})\n")
    put("".join(f"  {plain(line)}\n" for line in _named(found)))
    if "settings" in found.kinds:
        settings = project_file(workspace)
        name = FILE_NAME if settings is None else settings.name
        put(f"asked again when {name} or the files that its hooks and MCP servers run change\n")
    sys.stdout.flush()


def _named(found: Shipped | None) -> Iterator[str]:
    """What was found where: whoever decides about trust can look at it before."""
    if found is None:
        return
    for line in found.runs:
        yield f"runs {line}"
    for kind, folders in (("records", found.records), ("transcripts", found.transcripts)):
        for folder in folders:
            yield f"{kind} in {folder}: {_files(Path(found.workspace), folder)}"


def _files(workspace: Path, folder: str) -> str:
    from wayfare.agent.trust import held_in

    names = [*islice(held_in(workspace, folder), _COUNTED + 1)]
    shown = ", ".join(names[:_LISTED])
    more = len(names) - _LISTED
    if more <= 0:
        return shown
    return f"{shown} and {more:,} more" if len(names) <= _COUNTED else f"{shown} and many more"
