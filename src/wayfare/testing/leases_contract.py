"""What every `Leases` must do, as checks to run on one's own.

Each check takes a function that makes a store from a clock and a function to sleep with; every
call makes one more on the same place, which is fresh for each check. The checks move the clock
themselves: nothing really sleeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from anyio.lowlevel import checkpoint

from wayfare.clock import Clock, MovableClock
from wayfare.errors import LeaseHeld
from wayfare.store import Leases
from wayfare.testing.expect import expect

Sleep = Callable[[float], Awaitable[None]]
MakeLeases = Callable[[Clock, Sleep], Leases]
LeasesCheck = Callable[[MakeLeases], Awaitable[None]]

HOSTILE_NAMES = (
    "dream",
    "Dream",
    "a/b",
    "a_b",
    "../up",
    "",
    "漢字",
    "nul\0",
    "x" * 500,
    "half \ud800",
)


async def a_lease_is_taken_and_given_back(make: MakeLeases) -> None:
    leases = make(*_time())
    assert await leases.holder("dream") is None
    await leases.acquire("dream", holder="a", seconds=60, wait_seconds=0)
    assert await leases.holder("dream") == "a"
    await leases.release("dream", holder="a")
    assert await leases.holder("dream") is None
    await leases.acquire("dream", holder="b", seconds=60, wait_seconds=0)
    assert await leases.holder("dream") == "b"


async def a_second_holder_is_refused_and_told_who_it_is(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    await leases.acquire("dream", holder="a", seconds=60, wait_seconds=0)
    error = await _refused(leases, "dream", "b")
    assert error.holder == "a", error.holder
    assert error.expires_at == clock.now() + 60, error.expires_at
    await _refused(make(clock, sleep), "dream", "b")
    assert await leases.holder("dream") == "a"


async def a_lease_that_is_not_renewed_runs_out(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    await leases.acquire("dream", holder="a", seconds=60, wait_seconds=0)
    clock.advance(59)
    await _refused(leases, "dream", "b")
    clock.advance(1)
    assert await leases.holder("dream") is None
    await leases.acquire("dream", holder="b", seconds=60, wait_seconds=0)
    assert await leases.holder("dream") == "b"


async def a_renewed_lease_goes_on(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    for _ in range(5):
        await leases.acquire("dream", holder="a", seconds=60, wait_seconds=0)
        clock.advance(40)
    assert await leases.holder("dream") == "a"
    await _refused(leases, "dream", "b")


async def waiting_ends_when_the_lease_is_free(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    began = clock.monotonic()
    await leases.acquire("dream", holder="a", seconds=5, wait_seconds=0)
    await leases.acquire("dream", holder="b", seconds=5, wait_seconds=60)
    assert await leases.holder("dream") == "b"
    assert 5 <= clock.monotonic() - began < 10, clock.monotonic() - began


async def waiting_ends_when_it_was_long_enough(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    began = clock.monotonic()
    await leases.acquire("dream", holder="a", seconds=600, wait_seconds=0)
    await _refused(leases, "dream", "b", wait_seconds=7)
    assert 7 <= clock.monotonic() - began < 9, clock.monotonic() - began


async def only_the_holder_gives_back(make: MakeLeases) -> None:
    clock, sleep = _time()
    leases = make(clock, sleep)
    await leases.release("dream", holder="a")
    await leases.acquire("dream", holder="a", seconds=60, wait_seconds=0)
    await leases.release("dream", holder="b")
    assert await leases.holder("dream") == "a"
    clock.advance(60)
    await leases.acquire("dream", holder="b", seconds=60, wait_seconds=0)
    await leases.release("dream", holder="a")
    assert await leases.holder("dream") == "b", "an old holder gave back what is another's now"


async def leases_know_nothing_of_each_other(make: MakeLeases) -> None:
    leases = make(*_time())
    for name in HOSTILE_NAMES:
        await leases.acquire(name, holder=f"holder of {name!r}", seconds=60, wait_seconds=0)
    for name in HOSTILE_NAMES:
        assert await leases.holder(name) == f"holder of {name!r}"
        await leases.release(name, holder=f"holder of {name!r}")
        assert await leases.holder(name) is None


async def of_racing_holders_one_wins(make: MakeLeases) -> None:
    clock, sleep = _time()
    won: list[str] = []

    async def take(holder: str) -> None:
        try:
            await make(clock, sleep).acquire("dream", holder=holder, seconds=60, wait_seconds=0)
            won.append(holder)
        except LeaseHeld:
            pass

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(take, f"holder {number}")
    assert len(won) == 1, won
    assert await make(clock, sleep).holder("dream") == won[0]


def _time() -> tuple[MovableClock, Sleep]:
    clock = MovableClock()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)
        await checkpoint()

    return clock, sleep


async def _refused(leases: Leases, name: str, holder: str, *, wait_seconds: float = 0) -> LeaseHeld:
    call = leases.acquire(name, holder=holder, seconds=60, wait_seconds=wait_seconds)
    return await expect(LeaseHeld, call, f"{holder} took a lease that another holds")


LEASES_CHECKS: tuple[LeasesCheck, ...] = (
    a_lease_is_taken_and_given_back,
    a_second_holder_is_refused_and_told_who_it_is,
    a_lease_that_is_not_renewed_runs_out,
    a_renewed_lease_goes_on,
    waiting_ends_when_the_lease_is_free,
    waiting_ends_when_it_was_long_enough,
    only_the_holder_gives_back,
    leases_know_nothing_of_each_other,
    of_racing_holders_one_wins,
)
