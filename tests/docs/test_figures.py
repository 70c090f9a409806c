"""Figures that pages quote stand in BENCHMARKS.md as they are quoted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [f"{tree}/{page}.md" for tree in ("en", "zh") for page in ("bill-and-wait", "design")]
_THOUSANDS = re.compile(r"\b\d{1,3}(?:,\d{3})+\b")
_SHARE = re.compile(r"\b\d{1,2}\.\d %")
_NO_MEASURE = {"1,000", "1,900", "5,000", "12,500", "50,000", "200,000"}
"""Windows, prices, settings and round sizes."""


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_quotes_was_measured(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    measured = (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")
    quoted = {*_THOUSANDS.findall(text), *_SHARE.findall(text)} - _NO_MEASURE
    assert quoted
    assert {one for one in quoted if one not in measured} == set()
