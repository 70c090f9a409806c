"""One wire message a line."""

from __future__ import annotations

import json
from pathlib import Path

from wayfare.replay.reading import read_recordings


def test_messages_in_lines_are_one_session(tmp_path: Path) -> None:
    rows = [
        {"role": "user", "content": "go", "extra": 1},
        {"event": "started"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c"}]},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = read_recordings(path)
    assert list(found.messages) == [rows[0], rows[2]]
    assert found.format == "anthropic"
    assert [problem.line for problem in found.problems] == [2]
