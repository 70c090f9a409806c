"""Which lines of a file a read asked for, and what a later read covers."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.context.read_lines import Lines, covers, read_lines


@pytest.mark.parametrize(
    ("call_input", "lines"),
    [
        ({"path": "a.py"}, None),
        ({"offset": 10, "limit": 5}, Lines(10, 14)),
        ({"view_range": [3, 9]}, Lines(3, 9)),
        ({"start_line": 2, "end_line": 4}, Lines(2, 4)),
    ],
)
def test_the_lines_are_read_from_what_tools_are_given(
    call_input: dict[str, Any], lines: Lines | None
) -> None:
    assert read_lines(call_input) == lines


def test_only_a_read_of_as_much_covers() -> None:
    assert covers(None, Lines(1, 9))
    assert covers(Lines(1, 20), Lines(5, 9))
    assert not covers(Lines(5, 9), Lines(1, 20))
    assert not covers(Lines(1, 20), None)
