"""The figures about memory, measured small: they must come out, and must be able to be bad."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from bench.memory_crash import crashes
from bench.memory_scale import scale
from bench.memory_section import crash_text, scale_text, side_text, together_text
from bench.memory_together import Together, together
from bench.recall.__main__ import SHIPPED
from bench.recall.sets import load
from bench.side_queries import Row

pytestmark = pytest.mark.anyio

WHOLE = Together(
    processes=2,
    rounds=3,
    seconds=1.0,
    failed=0,
    records=6,
    puts=6,
    indexed=6,
    read_meanwhile=9,
    half_read=0,
)


async def test_scale_has_a_row_a_size_and_says_how_it_grows() -> None:
    rows = await scale(load(SHIPPED), (5, 30))
    assert [row.records for row in rows] == [5, 30]
    assert all(row.write_ms > 0 and row.query_ms > 0 and row.plan_ms > 0 for row in rows)
    assert all(row.peak_mib > 1 for row in rows) or sys.platform != "linux"
    assert "growth, 6 times the records" in scale_text(rows)
    assert "peak resident, MiB" in scale_text(rows)


async def test_writers_together_lose_nothing() -> None:
    done = await together(2, 3)
    assert done.whole
    assert "nothing lost" in together_text(done)


@pytest.mark.parametrize("field", ["records", "puts", "indexed"])
def test_a_lost_record_is_told(field: str) -> None:
    lost = replace(WHOLE, **{field: 5})
    assert "NOT WHOLE" in together_text(lost)
    assert "NOT WHOLE" in together_text(replace(WHOLE, half_read=1))


async def test_crash_points_leave_the_old_set_or_the_new() -> None:
    found = await crashes(80)
    assert found.old + found.new == found.points
    assert (found.mixed, found.disagreeing) == (0, 0)
    assert found.old
    assert found.new
    assert "mixture **0** times" in crash_text(found)


def test_shares_of_usable_replies_are_told() -> None:
    row = Row(query="selection", schema=True, asked=20, parsed=19, valid=18, failed=1, seconds=2.5)
    text = side_text([row], "small.gguf")
    assert "| selection, by schema | 20 | 95 % | 90 % | 1 | 2.5 |" in text
