"""Dream: its gates, its lease, what it does, what it tells."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.unit.memory.places import Says, Workplace, record, reply

from wayfare.memory.dream import (
    DreamState,
    Dreamt,
    dream,
    read_dream,
    take_report,
    time_gates,
)
from wayfare.memory.extract import Extracted
from wayfare.memory.limits import DEFAULT_LIMITS

pytestmark = pytest.mark.anyio

HOUR = 3_600.0


def sessions(count: int, asked: list[float] | None = None):
    async def since(moment: float) -> int:
        if asked is not None:
            asked.append(moment)
        return count

    return since


def ten(place: Workplace) -> None:
    place.put(*(record(f"r{n}", f"Lasting fact number {n} stands alone.") for n in range(10)))


async def dreamt(place: Workplace, *said: str, count: int = 9) -> Dreamt:
    return await dream(place.store(), Says(*said), sessions(count), watch=place.events.append)


@pytest.mark.parametrize(
    ("last", "looked", "open"),
    [
        (-24 * HOUR, -11 * 60.0, True),
        (-23.9 * HOUR, -11 * 60.0, False),
        (-48 * HOUR, -9 * 60.0, False),
        (+200 * HOUR, -11 * 60.0, True),
        (-48 * HOUR, +5 * HOUR, True),
    ],
)
def test_the_gates_of_time(last: float, looked: float, open: bool) -> None:
    now = 1_800_000_000.0
    gate = time_gates(DreamState(last=now + last, looked=now + looked), now, DEFAULT_LIMITS)
    assert gate.open is open
    assert bool(gate.reason) is not open


@pytest.mark.parametrize(
    ("last", "now", "open"),
    [
        ("2026-10-24T23:30:00+02:00", "2026-10-25T22:45:00+01:00", True),
        ("2026-03-28T23:30:00+01:00", "2026-03-29T23:45:00+02:00", False),
    ],
)
def test_a_day_is_elapsed_time_and_not_what_the_wall_shows(last: str, now: str, open: bool) -> None:
    begun, ended = (datetime.fromisoformat(t).astimezone(UTC).timestamp() for t in (last, now))
    assert time_gates(DreamState(last=begun), ended, DEFAULT_LIMITS).open is open


async def test_too_few_sessions_shut_the_gate_until_the_next_look(place: Workplace) -> None:
    asked: list[float] = []
    store = place.store()
    first = await dream(store, Says(), sessions(4, asked))
    assert not first.gate.open
    assert "4 sessions" in first.gate.reason
    assert not (await dream(store, Says(), sessions(9, asked))).gate.open
    place.clock.advance(601)
    assert (await dream(store, Says(), sessions(9, asked))).gate.open
    assert len(asked) == 2


async def test_sessions_are_counted_since_the_last_dream(place: Workplace) -> None:
    asked: list[float] = []
    await dream(place.store(), Says(), sessions(9, asked))
    ended = place.clock.now()
    place.clock.advance(25 * HOUR)
    await dream(place.store(), Says(), sessions(9, asked))
    assert asked == [0.0, ended]


async def test_only_one_dreams_at_a_time(place: Workplace) -> None:
    place.shelf.leases["memory-dream"] = ("the other", place.clock.now() + HOUR)
    gate = (await dreamt(place)).gate
    assert not gate.open
    assert "the other" in gate.reason


async def test_a_dream_that_did_not_end_is_named_and_taken_over(place: Workplace) -> None:
    import msgspec

    began = place.clock.now() - 72 * HOUR
    place.shelf.state["dream"] = msgspec.json.encode(DreamState(running="dead one", began=began))
    place.shelf.leases["memory-dream"] = ("dead one", began + HOUR)
    assert (await dreamt(place)).gate.open
    assert "stale lock was taken over: dead one" in place.told("memory.dream_stale")[0]
    state = await read_dream(place.shelf.storage().state)
    assert (state.running, state.last) == ("", place.clock.now())
    assert place.shelf.leases == {}


async def test_it_consolidates_and_tells_once_what_it_did(place: Workplace) -> None:
    ten(place)
    better = {"op": "update", "files": ["r1.md"],
              "record": {"body": "Lasting fact number 1 stands alone, always."}}  # fmt: skip
    done = await dreamt(place, reply([better], "operations"))
    assert done.consolidated is not None
    assert done.consolidated.outcome == "applied"
    assert "always" in place.bodies()["r1"]
    assert "r1.md" in place.shelf.index["MEMORY"].decode()
    state = place.shelf.storage().state
    assert "1 updated" in await take_report(state)
    assert await take_report(state) == ""


async def test_a_bad_plan_changes_nothing_and_the_dream_still_ends(place: Workplace) -> None:
    ten(place)
    done = await dreamt(place, "[]")
    assert done.consolidated is not None
    assert done.consolidated.outcome == "refused"
    assert (await read_dream(place.shelf.storage().state)).last == place.clock.now()


async def test_what_expired_long_ago_is_pruned_but_never_the_users_word(place: Workplace) -> None:
    old = "2020-01-01"
    today = datetime.fromtimestamp(place.clock.now(), UTC).date()
    place.put(
        record("gone", expires=old),
        record("mine", type="user", expires=old),
        record("fresh", expires=str(today)),
    )
    done = await dreamt(place)
    assert done.pruned == ("gone.md",)
    assert sorted(place.shelf.records) == ["fresh", "mine"]


async def test_what_sessions_left_is_read_first(place: Workplace) -> None:
    order: list[str] = []

    async def leftovers() -> list[Extracted]:
        order.append("leftovers")
        return [Extracted(batches=1)]

    class Asked(Says):
        async def __call__(self, *arguments: object) -> str:
            order.append("consolidation")
            return await super().__call__(*arguments)  # type: ignore[arg-type]

    ten(place)
    await dream(place.store(), Asked("[]"), sessions(9), leftovers=leftovers)
    assert order == ["leftovers", "consolidation"]


async def test_a_broken_state_is_a_fresh_one(place: Workplace) -> None:
    place.shelf.state["dream"] = b"{nonsense"
    assert (await dreamt(place)).gate.open
