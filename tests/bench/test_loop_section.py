"""The figures of the loop, measured small: they must come out, and must be able to be bad."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.loop_section import Together, loop_text, overheads, together, together_text

pytestmark = pytest.mark.anyio


async def test_every_step_has_its_overhead(tmp_path: Path) -> None:
    spent = await overheads(30, tmp_path)
    assert len(spent) == 30
    assert all(span.wall > 0 for span in spent)


def test_early_and_late_steps_are_put_side_by_side() -> None:
    text = loop_text(40, 1)
    assert "| 10 to 29 |" in text
    assert "| 21 to 40 |" in text


async def test_sessions_at_once_see_nothing_of_each_other(tmp_path: Path) -> None:
    done = await together(3, 4, tmp_path)
    assert done.mixed == ()
    assert done.steps == 3 * 5
    assert "nothing mixed" in together_text(done)


def test_a_mixture_is_said() -> None:
    fine = Together(sessions=2, steps=4, seconds=1.0, mixed=())
    assert "MIXED: session 1 saw" in together_text(
        replace(fine, mixed=("session 1 saw mark00of1",))
    )
