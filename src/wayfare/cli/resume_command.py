"""`wayfare resume`: go on with a session."""

from __future__ import annotations

from pathlib import Path

from wayfare.cli import interactive_command
from wayfare.cli.session_list import named_session
from wayfare.cli.session_setup import places_of
from wayfare.cli.settings_files import read_settings
from wayfare.settings import Flag


def run(session: str, root: Path, flags: list[Flag]) -> int:
    """Serve that session, or the one written last.

    Raises:
        NotFound: there is no such session; names those there are.
        WayfareError: as `wayfare` itself does.
    """
    chosen = named_session(places_of(read_settings(root, flags)), session)
    return interactive_command.run(root, flags, chosen)
