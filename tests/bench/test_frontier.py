"""Who is beaten by whom, and a picture that holds every row."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

from bench.frontier import beaten_by, picture


def row(cost: float, share: float, refused: int = 0) -> dict[str, Any]:
    return {
        "cost": cost,
        "needed_files": share,
        "needed_identifiers": share,
        "needed_content": share,
        "requests": 100,
        "refused": refused,
    }


def test_only_cheaper_and_better_in_everything_beats() -> None:
    totals = {"a": row(10, 0.5), "b": row(5, 0.6), "c": row(4, 0.4), "d": row(1, 0.9, refused=3)}
    assert beaten_by(totals) == {"a": ["b"], "b": [], "c": [], "d": []}
    heard = {**totals, "d": row(1, 0.9, refused=1)}
    assert beaten_by(heard) == {"a": ["b", "d"], "b": ["d"], "c": ["d"], "d": []}


def test_picture_is_well_formed_and_marks_every_row_in_every_panel() -> None:
    svg = picture({"a <x>": row(1_000, 0.5), "b": row(90_000, 0.7, refused=1)}, "window 12,500")
    root = ElementTree.fromstring(svg)
    circles = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 * 3 + 2
    assert "a &lt;x&gt;" in svg
