"""Thirty steps on the packaged local model: its real window, real refusals, its own summaries."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.local_session import ran

import wayfare

pytestmark = [pytest.mark.local_model, pytest.mark.anyio, pytest.mark.timeout(1_800)]


async def test_thirty_steps_go_through_a_real_small_window(
    packaged_model: Path, tmp_path: Path
) -> None:
    found = await ran(
        packaged_model,
        Path(wayfare.__file__).parent / "notes",
        tmp_path,
        steps=30,
        window_tokens=3_072,
        lines=24,
        summary_tokens=48,
    )
    assert found.steps >= 30
    assert found.invalid == []
    assert set(found.ended) == {"done"}
    assert found.refused >= 1, "the window is learned from a refusal"
    assert found.window_tokens == 3_072
    assert found.summaries, "the model was asked for a summary"
    assert found.largest_tokens < 3_072
    assert found.rule_shown
