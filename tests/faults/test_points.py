"""The fault suite in bounded form: every area, every trouble, every so-manieth point."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.faults.__main__ import Tally, stores
from tests.faults.areas import AREAS
from tests.faults.breaking import WAYS, World, broken, points

pytestmark = pytest.mark.anyio


async def test_stores_survive_every_trouble() -> None:
    tally = Tally()
    await stores(tally, 5)
    assert not tally.wrong, str(tally)
    assert {area for area, _ in tally.tried} == {area.name for area in AREAS}
    assert len(tally.tried) == len(AREAS) * len(WAYS)


@pytest.mark.parametrize("name", ["log", "notes"])
async def test_the_suite_finds_a_loss(name: str) -> None:
    """What was only begun counts as acknowledged here, as it would in a store that lies."""
    area = next(area for area in AREAS if area.name == name)

    async def hasty(world: World) -> None:
        try:
            await area.work(world)
        finally:
            world.acknowledged[:] = world.begun

    lying = replace(area, work=hasty)
    found = 0
    for at in range(1, await points(area, WAYS[0]) + 1):
        try:
            await broken(lying, WAYS[0], at)
        except AssertionError:
            found += 1
    assert found > 5
