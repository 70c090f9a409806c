"""Every case of the project's copy, each as a test of its own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cases.run import HANDED, cases, run_case

ALL = list(cases(HANDED))


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_case(case: dict[str, Any]) -> None:
    ended = run_case(case)
    if ended.how == "not yet":
        pytest.skip(f"the runtime has no {ended.why} yet")
    assert ended.how == "passed", ended.why


def test_the_copy_is_whole() -> None:
    assert len(ALL) == 89
