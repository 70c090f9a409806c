"""A workspace made by somebody hostile, and the commands that look at it."""

from __future__ import annotations

from tests.cli.session_fixtures import command as command
from tests.cli.session_fixtures import script as script
from tests.cli.session_fixtures import workspace as workspace
