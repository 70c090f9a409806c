"""Likely need: which step groups stay as text."""

from __future__ import annotations

from wayfare.context.need import Candidate, chosen

LIMIT = 100_000


def _candidate(start: int, *, age: int = 10, tokens: int = 1_000, files: float = 900) -> Candidate:
    return Candidate(start=start, age_steps=age, tokens=tokens, file_tokens=files)


def test_newer_text_of_files_stays_before_older() -> None:
    old, new = _candidate(0, age=40), _candidate(1, age=4)
    assert chosen([old, new], 1_500, LIMIT) == [new]


def test_what_commands_printed_goes_before_text_of_files() -> None:
    printed, read = _candidate(0, age=5, files=0), _candidate(1, age=20)
    assert chosen([printed, read], 1_000, LIMIT) == [read]


def test_what_does_not_fit_is_passed_over() -> None:
    large, small = _candidate(0, age=2, tokens=9_000, files=9_000), _candidate(1, age=30)
    assert chosen([large, small], 2_000, LIMIT) == [small]


def test_what_is_unlikely_does_not_stay_though_there_is_room() -> None:
    read, printed = _candidate(0, age=10), _candidate(1, age=10, files=0)
    assert chosen([read, printed], 9_000, 8_000) == [read]


def test_a_wider_window_keeps_what_is_older() -> None:
    old = _candidate(0, age=100)
    assert chosen([old], 9_000, 8_000) == []
    assert chosen([old], 9_000, 160_000) == [old]
