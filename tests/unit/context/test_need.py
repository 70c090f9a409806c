"""Likely need: which step groups stay as text."""

from __future__ import annotations

from wayfare.context.need import Candidate, chosen


def _candidate(start: int, *, age: int = 10, tokens: int = 1_000, files: float = 900) -> Candidate:
    return Candidate(start=start, age_steps=age, tokens=tokens, file_tokens=files)


def test_newer_text_of_files_stays_before_older() -> None:
    old, new = _candidate(0, age=40), _candidate(1, age=4)
    assert chosen([old, new], 1_500) == [new]


def test_what_commands_printed_goes_before_text_of_files() -> None:
    printed, read = _candidate(0, age=5, files=0), _candidate(1, age=20)
    assert chosen([printed, read], 1_000) == [read]


def test_what_does_not_fit_is_passed_over() -> None:
    large, small = _candidate(0, age=2, tokens=9_000, files=9_000), _candidate(1, age=30)
    assert chosen([large, small], 2_000) == [small]
