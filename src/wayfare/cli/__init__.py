"""The command line: commands and the terminal session. They draw events and hold no truth."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `wayfare` command; ends the process with its exit status."""
    from wayfare.cli.app import run

    sys.exit(run(sys.argv[1:]))
