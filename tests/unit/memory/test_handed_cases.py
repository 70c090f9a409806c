"""Every handed case about memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import tests.cases.memory_observe  # noqa: F401  (registers what is looked at by hand)
from tests.cases.checks import judge
from tests.cases.expand import expand
from tests.cases.memory_ops import OPERATIONS, run_memory_case
from tests.cases.outcome import Outcome
from tests.cases.run import HANDED, cases

CASES = [case for case in cases(HANDED) if case["setup"].get("op") in OPERATIONS]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    whole = {**case, "setup": expand(case["setup"]), "input": expand(case["input"])}
    root = tmp_path / "case"
    root.mkdir()
    outcome = Outcome(root=root, **anyio.run(run_memory_case, whole, root))
    wrong = [said for check in case["expected"]["checks"] if (said := judge(check, outcome, whole))]
    assert wrong == [], outcome.events


def test_all_of_them_are_there() -> None:
    assert len(CASES) == 37
