"""The fault suite in bounded form: every area, every trouble, every so-manieth point."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.faults.__main__ import Tally, others, stores, told
from tests.faults.areas import AREAS
from tests.faults.breaking import WAYS, World, broken, points
from tests.faults.provider_points import provider_points
from tests.faults.settings_points import trust_points

from wayfare.agent.trust import Shipped, TrustStore
from wayfare.errors import ModelAuthError
from wayfare.providers.script import Scripted, Turn

pytestmark = pytest.mark.anyio


async def test_stores_survive_every_trouble() -> None:
    tally = Tally()
    await stores(tally, 5)
    assert not tally.wrong, str(tally)
    assert {area for area, _ in tally.tried} == {area.name for area in AREAS}
    assert len(tally.tried) == len(AREAS) * len(WAYS)


async def test_settings_providers_and_other_writers_are_survived() -> None:
    tally = Tally()
    await others(tally, 10)
    assert not tally.wrong, str(tally)
    assert set(tally.areas()) == {"settings", "trust", "provider", "together"}
    assert min(tally.areas().values()) >= 8


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("429, once", [ModelAuthError("401")]),
        ("a wrong key", ["an answer"]),
        ("500", [Scripted(text="late", delay_seconds=86_400.0)]),
    ],
)
async def test_a_provider_that_is_taken_wrongly_is_found(name: str, trouble: list[Turn]) -> None:
    """Another trouble than the one that is named: it surfaces otherwise, or takes too long."""
    wrong = [wrong async for _, wrong in provider_points(1, {name: trouble})]
    assert wrong
    assert all(wrong)


class Gullible(TrustStore):
    """Trusts whatever it is asked about."""

    def trusts(self, found: Shipped) -> bool:
        return True


def test_a_file_that_trusts_too_much_is_found(tmp_path: Path) -> None:
    tried = [wrong for _, wrong in trust_points(40, Gullible(folder=tmp_path / "state"))]
    assert any(tried)


@pytest.mark.parametrize(("wrong", "status"), [("", 0), ("a line is lost", 1)])
def test_one_wrong_point_is_an_exit_status(
    capsys: pytest.CaptureFixture[str], wrong: str, status: int
) -> None:
    tally = Tally()
    tally.note("log", "cut", wrong)
    assert told(tally) == status
    assert f"{status} wrong" in capsys.readouterr().out


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
