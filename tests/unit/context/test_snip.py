"""Snips in a row: the newest marker leads to everything the ones before it led to."""

from __future__ import annotations

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.messages import assistant, user
from wayfare.session import governed, memory_transcript


async def test_the_marker_of_a_later_snip_covers_the_earlier_one() -> None:
    clock = MovableClock()
    transcript = memory_transcript("s", clock=clock)
    governor = await governed(transcript, Budget.classic(50_000), clock=clock)
    spans: list[tuple[int, int]] = []
    for number in range(40):
        await governor.add([user(f"question {number}"), assistant(f"answer {number}")])
        await governor.prepare()
        spans += [slot.stands_for for slot in governor.view if slot.stands_for is not None]
    firsts = {first for first, _ in spans}
    lasts = [last for _, last in spans]
    assert len(spans) > 2
    assert len(firsts) == 1
    assert lasts == sorted(set(lasts))
