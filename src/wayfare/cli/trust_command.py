"""`wayfare trust`: what a workspace brings along may do what it says."""

from __future__ import annotations

import sys
from pathlib import Path

from wayfare.cli.printing import plain, put
from wayfare.cli.settings_files import brought_along, distrust, is_trusted, trust
from wayfare.settings import project_file


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
    found = brought_along(workspace)
    if show:
        kinds = ", ".join(found.kinds) if found else "nothing"
        word = "trusted" if found is None or is_trusted(found) else "not trusted"
        put(f"{plain(str(workspace))} brings {kinds}: {word}\n")
        return
    trust(workspace)
    kinds = ", ".join(found.kinds) if found else "nothing so far"
    put(f"trusted: {plain(str(workspace))} ({kinds})\n")
    settings = project_file(workspace)
    if settings is not None:
        put(f"asked again when {settings.name} or the files its hooks run change\n")
    sys.stdout.flush()
