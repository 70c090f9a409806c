"""`wayfare resume`: go on with a session."""

from __future__ import annotations

from pathlib import Path

from wayfare.cli import interactive_command
from wayfare.cli.session_list import named_session
from wayfare.cli.session_setup import places_of
from wayfare.cli.settings_files import is_strangers, read_settings, refuse_newest
from wayfare.settings import Flag


def run(session: str, root: Path, flags: list[Flag]) -> int:
    """Serve that session, or the one written last.

    Raises:
        ConfigError: none is named, and those here may be somebody else's.
        NotFound: there is no such session; names those there are.
        WayfareError: as `wayfare` itself does.
    """
    read = read_settings(root, flags)
    if not session and is_strangers(read):
        read = interactive_command.trusted(read, root, flags)
        refuse_newest(read)
    chosen = named_session(places_of(read), session)
    return interactive_command.run(root, flags, chosen)
