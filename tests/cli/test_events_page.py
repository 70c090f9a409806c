"""docs/events.md names every event the code tells."""

from __future__ import annotations

import re
from pathlib import Path

import wayfare

SOURCE = Path(wayfare.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "events.md"
_TOLD = re.compile(r'(?:Event\(\s*name=|\btell\(\s*|\b_say\(\s*)"([a-z]+\.[a-z_]+)"')


def test_every_event_is_on_the_page() -> None:
    page = set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE.read_text("utf-8")))
    told = {
        name for file in SOURCE.rglob("*.py") for name in _TOLD.findall(file.read_text("utf-8"))
    }
    assert len(told) > 40
    assert sorted(told - page) == []
