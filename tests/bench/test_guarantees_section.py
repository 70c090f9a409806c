"""What is not reached is named, with where it comes from; what is reached is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.guarantees_section import section
from bench.written import bytes_by_kind


def row(**changed: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "file": "one", "budget": "wayfare window", "window": 12_500, "steps": 4, "requests": 4,
        "invalid": 0, "invalid_rules": {}, "refused": 0, "unanswered": 0, "recoverable": 1.0,
        "hidden_texts": 3, "read_chars_median": 10, "unread_lost": 0, "peak_tokens": 900,
        "active_request_exceptions": 0, "active_request_cut": 0, "bytes_written_ratio": 1.1,
        "bytes_entered": 1_000, "bytes_by_kind": {"messages": 900, "edit snip": 200},
        "edits": {"snip": 2},
    }  # fmt: skip
    return {**kept, **changed}


def test_nothing_missed_is_said() -> None:
    assert "Nothing asked for is missed" in section([row()], [], "make bench", [12_500]).text


def test_every_session_that_misses_something_is_named_with_the_numbers() -> None:
    rows = [row(), row(file="two", refused=1), row(file="three", bytes_written_ratio=1.31)]
    text = section(rows, [], "make bench", [12_500]).text
    assert "two (wayfare window, 12,500): 1 refused" in text
    assert "three (wayfare window, 12,500): written 1.31 ×" in text
    assert "edit snip 0.200 × (2 edits)" in text
    assert "one (wayfare" not in text


def test_bytes_are_told_apart_by_what_they_are(tmp_path: Path) -> None:
    log = tmp_path / ".transcripts" / "s"
    log.mkdir(parents=True)
    message = b'{"v":1,"id":2,"wire":{}}\n'
    edit = b'{"kind":"edit","v":1,"id":3,"by":"snip"}\n'
    (log / "transcript.jsonl").write_bytes(message + edit)
    (log / "contents.tsv").write_text("2\tuser\n")
    assert bytes_by_kind(tmp_path) == {
        "messages": len(message),
        "edit snip": len(edit),
        "contents": 7,
    }
