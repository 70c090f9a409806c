"""A workbench whose commands are ended after the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.agent.builtin.workbench import Workbench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    made = Workbench(workspace.resolve())
    yield made
    await made.context.kept.aclose()
