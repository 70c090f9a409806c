"""Fixtures of the memory tests."""

from __future__ import annotations

import pytest
from tests.unit.memory.places import Workplace


@pytest.fixture
def place() -> Workplace:
    """A memory on a shelf, with a movable clock."""
    return Workplace()
