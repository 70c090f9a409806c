"""`wayfare sessions`: the sessions of a workspace, the newest first."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from wayfare.cli.printing import columns, counted, put, put_json
from wayfare.cli.session_list import lines, listed
from wayfare.cli.session_setup import places_of
from wayfare.cli.settings_files import read_settings
from wayfare.session import session_names

_FEW: Final = 20


def run(root: Path, *, json: bool, every: bool) -> None:
    """Print the sessions of a workspace."""
    places = places_of(read_settings(root))
    names = [*reversed(session_names(places))]
    shown = names if every or json else names[:_FEW]
    found = [listed(places, name) for name in shown]
    if json:
        put_json([asdict(one) for one in found])
        return
    if not found:
        put(f"no sessions in {places.workspace}; wayfare begins one\n")
        return
    put("\n".join([*lines(found, columns(sys.stdout)), ""]))
    if len(shown) < len(names):
        put(f"and {counted(len(names) - len(shown), 'older one')}: wayfare sessions --all\n")
