"""Copilot CLI events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings


def event(kind: str, **payload: Any) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    return {"type": kind, "data": payload, "id": "e", "timestamp": at, "parentId": None}


def asked(*ids: str, **fields: Any) -> dict[str, Any]:
    requests = [{"toolCallId": id, "name": "bash", "arguments": {"c": id}} for id in ids]
    return event("assistant.message", model="m", content="", toolRequests=requests, **fields)


def done(id: str, **fields: Any) -> dict[str, Any]:
    return event("tool.execution_complete", toolCallId=id, **fields)


def test_events_become_a_chat_in_wire_order(tmp_path: Path) -> None:
    rows = [
        event("session.start", sessionId="s"),
        event("system.message", content="be good"),
        event("user.message", content="go", transformedContent="<now/>go"),
        asked("a", "b", reasoningText="hm"),
        done("b", success=True, result={"content": "second", "detailedContent": "x"}),
        event("system.notification", content="a shell ended"),
        asked("n", parentToolCallId="a"),
        done("n", parentToolCallId="a", success=True, result={"content": "inner"}),
        done("a", success=False, error={"message": "denied", "code": "x"}),
        event("session.compaction_start", preCompactionTokens=900),
        event("session.compaction_complete", success=True, summaryContent="so far"),
        event("assistant.message", model="m", content="fine"),
        {"type": "user.message", "data": None},
    ]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = read_recordings(path)
    assert [(m["role"], m["content"]) for m in found.messages] == [
        ("system", "be good"),
        ("user", "<now/>go"),
        ("assistant", None),
        ("tool", "denied"),
        ("tool", "second"),
        ("user", "a shell ended"),
        ("assistant", "fine"),
    ]
    assert found.messages[2]["reasoning_content"] == "hm"
    assert found.messages[2]["tool_calls"][1]["function"] == {
        "name": "bash",
        "arguments": '{"c": "b"}',
    }
    (compaction,) = found.compactions
    assert (compaction.index, compaction.summary, compaction.tokens_before) == (6, "so far", 900)
    assert (found.model, len(found.times)) == ("m", 7)
    assert [m["content"] for m in found.side_chains[0].messages] == [None, "inner"]
    assert [problem.line for problem in found.problems] == [13]
