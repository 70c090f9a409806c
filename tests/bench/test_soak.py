"""A session that goes on holds no more than it did: what 20,000 steps prove, in a few hundred."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.soak import soak

pytestmark = pytest.mark.anyio
STEPS = 320
FULL = 180
"""By this step the window was compacted several times and the process is as large as it gets."""
OBJECTS_A_STEP = 3
"""A step's messages, held by anybody, are a dozen objects and more; a turn that stays in the list
of what the user asked for is some objects in twenty steps."""
HANDLES_BESIDE = 3
"""A command that runs just now holds its pipes."""


async def test_a_session_that_goes_on_holds_no_more(tmp_path: Path) -> None:
    soaked = await soak(tmp_path, STEPS)

    late = [reading for reading in soaked.readings if reading.step >= FULL]
    first, last = late[0], late[-1]
    assert last.step == STEPS
    grown = (last.objects - first.objects) / (last.step - first.step)
    assert grown < OBJECTS_A_STEP, f"{grown:.1f} objects a step stay for good"
    assert max(r.handles for r in late) - min(r.handles for r in late) <= HANDLES_BESIDE
    assert soaked.closed_handles <= soaked.began_handles + HANDLES_BESIDE
    assert soaked.same_view, "opened again, it shows something else"
    assert soaked.told["compaction.done"] > 3, "the session was never compacted: nothing was tried"
