"""The scheduler: when an edit is worth the cache it breaks."""

from __future__ import annotations

import math

import pytest

from wayfare.context.rhythm import Rhythm
from wayfare.context.scheduler import CachePolicy, Pace


def test_removing_pays_once_the_calls_to_come_read_it_often_enough() -> None:
    policy = CachePolicy()
    few, many = Pace(calls=5), Pace(calls=50)
    assert not policy.pays(removed_tokens=1_000, behind_tokens=2_000, pace=few)
    assert policy.pays(removed_tokens=1_000, behind_tokens=2_000, pace=many)


def test_the_room_left_bounds_the_calls_to_come() -> None:
    assert Pace(calls=100, growth_tokens=500, room_tokens=2_000).calls_to_come == 4
    assert Pace().calls_to_come == 1


@pytest.mark.parametrize(("stays", "growth"), [(10_000, 500), (40_000, 1_500)])
def test_cuts_come_in_the_cheapest_rhythm(stays: int, growth: int) -> None:
    rhythm, policy = Rhythm(), CachePolicy()
    calls = 0
    while not rhythm.due(policy, stays, 1.0):
        calls += 1
        rhythm.called(stays + calls * growth, stays, float(calls))
    prices = policy.prices
    cheapest = math.sqrt(
        2 * (prices.cache_write - prices.cache_read) * stays / (prices.cache_read * growth)
    )
    assert calls == pytest.approx(cheapest, abs=1.5)


def test_a_cache_is_cold_after_its_lifetime() -> None:
    policy = CachePolicy(lifetime_seconds=300)
    assert policy.cold(Pace(idle_seconds=301))
    assert not policy.cold(Pace(idle_seconds=299))
    assert not policy.cold(Pace())
