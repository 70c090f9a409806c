"""Inspect evaluation logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings

SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "attachments": {"aa": "long text"},
    "messages": [
        {"id": "m1", "role": "user", "content": "attachment://aa"},
        {
            "id": "m2",
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "hm"},
                {"type": "text", "text": "look"},
            ],
            "tool_calls": [{"id": "c", "function": "go", "arguments": {"url": "x"}}],
        },
        {"id": "m3", "role": "tool", "content": "attachment://aa", "tool_call_id": "c"},
        {"role": "user", "content": [{"type": "image", "image": "data:x"}]},
        {"role": "tool", "content": "", "tool_call_id": "d", "error": {"message": "timed out"}},
    ],
    "events": [
        {
            "event": "model",
            "timestamp": "2026-01-01T00:00:00+00:00",
            "completed": "2026-01-01T00:00:09+00:00",
            "tools": [{"name": "go", "description": "attachment://aa"}],
            "output": {"choices": [{"message": {"id": "m2"}}]},
        },
        {"event": "tool", "id": "c", "timestamp": "2026-01-01T00:00:10+00:00"},
    ],
}


def test_a_sample_becomes_a_chat(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"model": "openai/m"}, "samples": [SAMPLE]}))
    (found,) = read_recordings(path)
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": '{"url": "x"}'}}
    assert list(found.messages) == [
        {"role": "user", "content": "long text"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "look"}],
            "reasoning_content": "hm",
            "tool_calls": [call],
        },
        {"role": "tool", "content": "long text", "tool_call_id": "c"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
        {"role": "tool", "content": "timed out", "tool_call_id": "d"},
    ]
    assert found.times == (None, 1767225609.0, 1767225610.0, None, None)
    tool = {"type": "function", "function": {"name": "go", "description": "long text"}}
    assert (found.kind, found.model, found.tools) == ("inspect", "openai/m", (tool,))


def test_each_sample_is_a_session_and_a_single_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    empty: Any = {"id": 3, "epoch": 1, "messages": []}
    path.write_text(json.dumps({"eval": {}, "samples": [SAMPLE, empty, SAMPLE]}))
    assert [one.name for one in read_recordings(path)] == ["log.json#1", "log.json#2"]
    path.write_text(json.dumps(SAMPLE))
    assert len(read_recordings(path)[0].messages) == 5
