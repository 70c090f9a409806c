"""The command line: commands and the terminal session. They draw events and hold no truth."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `wayfare` command; ends the process with its exit status."""
    status = _status(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        from wayfare.cli.printing import unread

        status = unread()
    sys.exit(status)


def _status(arguments: list[str]) -> int:
    import os

    from wayfare.cli.options import plain_options

    options = plain_options(arguments)
    if options is None or "_WAYFARE_COMPLETE" in os.environ:
        from wayfare.cli.app import run

        return run(arguments)
    from wayfare.cli.interactive_command import run_told

    return run_told(options)
