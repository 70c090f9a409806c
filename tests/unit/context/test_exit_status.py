"""Which lines of shell answer by exit status 1, and which failed."""

from __future__ import annotations

import pytest

from wayfare.context.exit_status import one_is_an_answer

ANSWERS = (
    "grep -rn TODO src",
    "/usr/bin/grep x f",
    "rg 'a|b; c' src",
    "diff a b",
    "cmp a b",
    "test -f x",
    "[ -d src ]",
    "[[ $a == b ]]",
    "cd src && grep -n x f",
    "cd src; grep -n x f 2>/dev/null",
    "cat log | grep -i error",
    "make 2>&1 | grep error",
    "make; grep x log;",
    "git diff --quiet",
    "git grep x",
    "command -v node",
    "which node",
    "LC_ALL=C timeout 5 grep x f",
    "! grep x f",
    "grep -q x f && echo yes",
    'grep "$(cat names | head -1)" f',
    "echo start\ngrep x f",
)
FAILURES = (
    "",
    "make",
    "pytest && grep x log",
    "grep x f && make",
    "grep x f || exit 1",
    "grep x f | python check.py",
    "set -e; make; grep x f",
    "set -o pipefail; make | grep x",
    "cat <<E | grep x\nE",
    "grep 'open",
    "if grep -q x f; then make; fi",
    "git commit -m grep",
    "git status",
    "command grepper",
    "python -c 'grep'",
    "grep x f &&",
)


@pytest.mark.parametrize("line", ANSWERS)
def test_one_is_an_answer(line: str) -> None:
    assert one_is_an_answer(line)


@pytest.mark.parametrize("line", FAILURES[:-1])
def test_one_is_a_failure(line: str) -> None:
    assert not one_is_an_answer(line)


@pytest.mark.parametrize("line", [*FAILURES[-1:], "a & & b", "((", "$(", ";;", "|", "\\"])
def test_what_is_no_line_raises_nothing(line: str) -> None:
    one_is_an_answer(line)
