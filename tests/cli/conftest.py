"""The installed command, and a session for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cli.session_fixtures import command as command
from tests.cli.session_fixtures import process as process
from tests.cli.session_fixtures import script as script
from tests.cli.session_fixtures import terminal as terminal
from tests.cli.session_fixtures import workspace as workspace
from tests.cli.starting import Command, command_line, environment, reading_session, written


@pytest.fixture
def wayfare(tmp_path: Path) -> Command:
    """Run the command in `tmp_path`; returns what it printed and its exit status."""

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*command_line(), *map(str, arguments)],
            cwd=tmp_path,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A session of 31 steps that outgrows a window of 6,000 tokens several times."""
    return written(tmp_path / "reading.json", reading_session())
