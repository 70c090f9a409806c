"""Breaking one store at every operation: what is done, what goes wrong with it, what must hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wayfare.clock import MovableClock
from wayfare.errors import StoreError
from wayfare.testing import Fault, FaultyDisk, Keep, is_power_cut
from wayfare.testing.faults import hits

ROOT: Final = Path("/w")
KEEPS: Final[tuple[Keep, ...]] = ("nothing", "some", "all")
YEAR_SECONDS: Final = 365 * 86_400.0


@dataclass(slots=True)
class World:
    """A disk and a clock, and what the store said was done."""

    disk: FaultyDisk
    clock: MovableClock
    acknowledged: list[str] = field(default_factory=list[str])
    begun: list[str] = field(default_factory=list[str])


Job = Callable[[World], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A store under test. `work` notes in the world what it begins and what was acknowledged, and
    goes on after a refusal; `check` opens it again and raises AssertionError."""

    name: str
    prepare: Job
    work: Job
    check: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One kind of trouble: a fault of the disk, or a clock that jumps during an operation."""

    name: str
    fault: Fault
    keep: Keep = "all"
    jump_seconds: float = 0.0


WAYS: Final = (
    *(Way(name=f"power cut, {keep} kept", fault="crash", keep=keep) for keep in KEEPS),
    Way(name="short write", fault="short_write"),
    Way(name="disk full", fault="full"),
    Way(name="input/output error", fault="io_error"),
    Way(name="access denied", fault="denied"),
    Way(name="rename refused", fault="rename_refused"),
    Way(name="slow disk", fault="slow", jump_seconds=90.0),
    Way(name="clock a year ahead", fault="slow", jump_seconds=YEAR_SECONDS),
    Way(name="clock a year back", fault="slow", jump_seconds=-YEAR_SECONDS),
)


def new_world(seed: int, way: Way | None = None) -> World:
    """An empty workspace; slow operations move the clock instead of taking time."""
    clock = MovableClock(1_800_000_000.0)

    def moved(seconds: float) -> None:
        if way is not None and way.name == "slow disk":
            clock.advance(seconds)
        else:
            clock.set(clock.now() + seconds)

    disk = FaultyDisk(seed=seed, sleep=moved, clock=clock)
    disk.make_folder(ROOT)
    disk.sync_folder(ROOT.parent)
    return World(disk=disk, clock=clock)


async def points(area: Area, way: Way) -> int:
    """Operations of the work that the trouble can hit."""
    world = new_world(0)
    await area.prepare(world)
    before = len(world.disk.trace)
    await area.work(world)
    return sum(hits(way.fault, line.partition(" ")[0]) for line in world.disk.trace[before:])


async def broken(area: Area, way: Way, at: int) -> None:
    """Let trouble come at the so-manieth operation it can hit, open again, look.

    Raises:
        AssertionError: something acknowledged is lost, or an invariant does not hold.
    """
    world = new_world(at, way)
    await area.prepare(world)
    world.disk.inject(way.fault, at=at, seconds=way.jump_seconds)
    try:
        await area.work(world)
    except StoreError:
        pass
    except BaseException as error:
        if not is_power_cut(error):
            raise
    world.disk.heal()
    if way.fault == "crash":
        world.disk.crash(way.keep)
    # A machine that starts again, and leases of the dead that have run out.
    world.clock.advance(120)
    await area.check(world)


def chosen(count: int, share: int) -> Iterator[int]:
    """Every `share`-th of so many points, from 1; the last one always."""
    yield from range(1, count, share)
    if count:
        yield count
