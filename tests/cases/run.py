"""Run cases and say how each ended."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import tests.cases.memory_observe  # noqa: F401  (registers what is looked at by hand)
from tests.cases.checks import Unjudged, judge
from tests.cases.expand import expand
from tests.cases.operations import run_operation
from tests.cases.outcome import NotYet, Outcome

from wayfare.errors import WayfareError

HANDED = Path(__file__).parent / "handed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a case ended: `passed`, `failed`, `unjudged` or `not yet`, and why."""

    id: str
    how: str
    why: str = ""


def cases(folder: Path) -> Iterator[dict[str, Any]]:
    """The cases of a folder; files of another shape are left out."""
    for path in sorted(folder.glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(value, dict) and "setup" in value and "expected" in value:
            yield value


def run_case(case: dict[str, Any]) -> Ended:
    """Run one case in a fresh folder and judge every check."""
    id = case["id"]
    whole = {**case, "setup": expand(case["setup"]), "input": expand(case.get("input", {}))}
    with tempfile.TemporaryDirectory(prefix="case-") as folder:
        root = Path(folder).resolve()
        try:
            outcome = anyio.run(run_operation, whole, root)
        except NotYet as operation:
            return Ended(id=id, how="not yet", why=str(operation))
        except WayfareError as error:
            outcome = Outcome(root=root, outcome="clear_failure", events=[str(error)])
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            outcome = Outcome(root=root, crash=text, outcome="crash")
        return _judged(id, whole, outcome)


def _judged(id: str, case: dict[str, Any], outcome: Outcome) -> Ended:
    wrong: list[str] = [outcome.crash] if outcome.crash else []
    unjudged: list[str] = []
    for check in case["expected"]["checks"]:
        try:
            said = judge(check, outcome, case)
        except Unjudged as open_check:
            unjudged.append(str(open_check))
        except (AssertionError, KeyError) as error:
            wrong.append(f"{check['check']}: {error!r}")
        else:
            if said:
                wrong.append(f"{check['check']}: {said}")
    if wrong:
        return Ended(id=id, how="failed", why="; ".join(wrong))
    if unjudged:
        return Ended(id=id, how="unjudged", why="; ".join(unjudged))
    return Ended(id=id, how="passed")


def main(folder: Path) -> int:
    """Run a folder of cases, a line each, the counts at the end; 1 if one failed."""
    ended: list[Ended] = []
    for case in cases(folder):
        end = run_case(case)
        ended.append(end)
        print(f"{end.how:8} {end.id}" + (f"  {end.why[:300]}" if end.why else ""), flush=True)
    counts = Counter(end.how for end in ended)
    ways = ("passed", "failed", "unjudged", "not yet")
    print(", ".join(f"{way} {counts[way]}" for way in ways))
    waiting = Counter(end.why for end in ended if end.how == "not yet")
    if waiting:
        print("not yet: " + ", ".join(f"{op} {n}" for op, n in sorted(waiting.items())))
    return 1 if counts["failed"] or not ended else 0
