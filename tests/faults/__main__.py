"""`python -m tests.faults [SHARE]`: break everything at every point, or at every SHARE-th.

Prints the points tried, by area and by what went wrong, and fails when something acknowledged was
lost or an invariant did not hold.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import anyio
from tests.faults.areas import AREAS
from tests.faults.breaking import WAYS, broken, chosen, points
from tests.faults.provider_points import provider_points
from tests.faults.settings_points import settings_points, trust_points
from tests.faults.together_points import together_points
from tests.faults.turn_points import turn_points

KILLED: Final = (("turn", "killed_turns.py"), ("memory", "memory_kill.py"))
_SHOWN: Final = 20


class Tally:
    """Points tried by area and trouble, and what was found wrong."""

    def __init__(self) -> None:
        self.tried: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def note(self, area: str, way: str, wrong: str) -> None:
        """One more point; `wrong` is empty when all was well."""
        self.tried[area, way] += 1
        if wrong:
            self.wrong.append(f"{area}, {way}: {wrong}")

    def areas(self) -> Counter[str]:
        """Points by area."""
        found: Counter[str] = Counter()
        for (area, _), count in self.tried.items():
            found[area] += count
        return found

    def __str__(self) -> str:
        lines = [f"{'area':<10}{'trouble':<42}{'points':>8}"]
        lines += [f"{area:<10}{way:<42}{count:>8,}" for (area, way), count in self.tried.items()]
        lines += ["", *(f"{area:<52}{count:>8,}" for area, count in self.areas().items())]
        lines.append(f"{'all':<52}{self.tried.total():>8,}")
        lines += [*self.wrong[:_SHOWN], f"{len(self.wrong)} wrong"]
        return "\n".join(lines)


async def stores(tally: Tally, share: int) -> None:
    """Log, archive, notes and memory, broken at every operation in every way."""
    for area in AREAS:
        for way in WAYS:
            for at in chosen(await points(area, way), share):
                try:
                    await broken(area, way, at)
                except Exception as error:
                    wrong = f"at {at}: {type(error).__name__}: {error}"[:400]
                else:
                    wrong = ""
                tally.note(area.name, way.name, wrong)


async def turns(tally: Tally, share: int) -> None:
    """A whole turn over log, archive and table of contents."""
    async for way, wrong in turn_points(share):
        tally.note("turn", way, wrong)


async def others(tally: Tally, share: int) -> None:
    """Settings and trust, providers, and several writers at once."""
    for way, wrong in settings_points(share):
        tally.note("settings", way, wrong)
    for way, wrong in trust_points(share):
        tally.note("trust", way, wrong)
    async for way, wrong in provider_points(share):
        tally.note("provider", way, wrong)
    async for way, wrong in together_points(share):
        tally.note("together", way, wrong)


def kills(tally: Tally) -> None:
    """Real processes, killed at every operation on real files."""
    for area, program in KILLED:
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                [sys.executable, str(Path(__file__).with_name(program)), folder],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                capture_output=True,
                text=True,
                check=False,
            )
        if ran.returncode:
            tally.note(area, "process killed", ran.stderr[-400:])
        else:
            tally.tried[area, "process killed"] += int(ran.stdout.split()[0])


async def tried(share: int) -> Tally:
    """Everything but real kills."""
    tally = Tally()
    await stores(tally, share)
    await turns(tally, share)
    await others(tally, share)
    return tally


def main() -> int:
    """Command line."""
    share = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    tally = anyio.run(tried, share)
    kills(tally)
    return told(tally)


def told(tally: Tally) -> int:
    """Print the tally; the exit status: 1 when anything was wrong."""
    print(tally)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
