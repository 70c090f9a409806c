"""The page of events names every event the code tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import wayfare

SOURCE = Path(wayfare.__file__).parent
PAGES = [
    Path(__file__).parents[2] / "docs" / language / "reference" / "events.md"
    for language in ("en", "zh")
]
_TOLD = re.compile(r'(?:Event\(\s*name=|\btell\(\s*|\b_say\(\s*)"([a-z]+\.[a-z_]+)"')


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_every_event_is_on_the_page(page: Path) -> None:
    named = set(re.findall(r"`([a-z]+\.[a-z_]+)`", page.read_text("utf-8")))
    told = {
        name for file in SOURCE.rglob("*.py") for name in _TOLD.findall(file.read_text("utf-8"))
    }
    assert len(told) > 40
    assert sorted(told - named) == []
