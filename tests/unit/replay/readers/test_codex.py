"""Codex rollouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording

AT = "2026-06-22T00:27:40.000Z"


def row(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def item(**payload: Any) -> dict[str, Any]:
    return row("response_item", **payload)


def read(folder: Path, *rows: Any) -> Recording:
    path = folder / "rollout.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    (found,) = read_recordings(path)
    return found


def test_items_become_the_messages_as_they_stand(tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{ }", "call_id": "c", "x": 1}
    out = {"type": "function_call_output", "call_id": "c", "output": "done"}
    found = read(
        tmp_path,
        row("session_meta", id="1", base_instructions={"text": "be good"}),
        row("turn_context", model="gpt-5.5"),
        item(**said("user", "go")),
        row("event_msg", type="user_message", message="go"),
        item(type="reasoning", summary=[], encrypted_content="zzz"),
        item(**call),
        item(type="ghost_snapshot", ghost_commit={}),
        row("event_msg", type="agent_message", message="doing"),
        item(**out),
        row("world_state", state={}),
    )
    assert list(found.messages) == [
        said("user", "go"),
        {"type": "reasoning", "summary": [], "encrypted_content": "zzz"},
        call,
        out,
    ]
    assert (found.system, found.model) == ("be good", "gpt-5.5")
    assert found.times == (1782088060.0,) * 4
    assert not found.problems


def test_the_oldest_form_has_no_envelopes(tmp_path: Path) -> None:
    meta: Any = {"id": "1", "timestamp": AT, "instructions": "be good", "git": {}}
    state = {"record_type": "state"}
    found = read(tmp_path, meta, state, said("user", "go"), state, said("assistant", "ok"))
    assert list(found.messages) == [said("user", "go"), said("assistant", "ok")]
    assert found.system == "be good"


def test_instructions_that_stand_in_a_message_are_no_system_prompt(tmp_path: Path) -> None:
    meta = {"id": "1", "timestamp": AT, "instructions": "use tabs"}
    found = read(tmp_path, meta, said("user", "<user_instructions>use tabs</user_instructions>"))
    assert found.system is None


def test_a_compaction_is_noted_with_what_replaced_the_history(tmp_path: Path) -> None:
    history = [said("user", "go"), {"type": "compaction", "encrypted_content": "zzz"}]
    usage = {"info": {"last_token_usage": {"input_tokens": 226_546}}}
    found = read(
        tmp_path,
        item(**said("user", "go")),
        row("event_msg", type="token_count", **usage),
        row("compacted", message="", replacement_history=history),
        item(**said("assistant", "on")),
        row("compacted", message="what happened"),
    )
    first, second = found.compactions
    assert (first.index, first.summary, first.tokens_before) == (1, "go", 226_546)
    assert list(first.replacement) == history
    assert (second.index, second.summary) == (2, "what happened")
    assert len(found.messages) == 2


def test_turns_that_were_taken_back_are_left_out(tmp_path: Path) -> None:
    rows: list[Any] = []
    for turn in ("a", "<b>", "c"):
        rows += [item(**said("user", turn)), row("event_msg", type="user_message", message=turn)]
        rows += [item(**said("assistant", turn.upper()))]
        rows += [item(**said("user", "<turn_aborted>"))]
    back = row("event_msg", type="thread_rolled_back", num_turns=2)
    found = read(tmp_path, *rows, back, item(**said("user", "d")))
    assert [m["content"][0]["text"] for m in found.messages] == ["a", "A", "<turn_aborted>", "d"]
    assert "6 items" in found.problems[0].reason


def test_turns_are_taken_back_where_only_items_are_logged(tmp_path: Path) -> None:
    rows: list[Any] = [item(**said("user", "<environment_context>"))]
    for turn in "abc":
        rows += [item(**said("user", turn)), item(**said("assistant", turn.upper()))]
    found = read(tmp_path, *rows, row("event_msg", type="thread_rolled_back", num_turns=2))
    assert [m["content"][0]["text"] for m in found.messages] == ["<environment_context>", "a", "A"]


def test_bad_and_unknown_lines_are_told(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        row("session_meta", id="1"),
        '{"timestamp": "2026',
        {"type": "response_item", "payload": None},
        row("shiny_new", a=1),
        row("shiny_new", a=2),
        item(role="user", content=[]),
        item(**said("user", "go")),
    )
    assert list(found.messages) == [said("user", "go")]
    assert [problem.line for problem in found.problems] == [2, 3, 4, 6]


def test_a_forked_session_keeps_its_own_first_line(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        row("session_meta", id="2", base_instructions={"text": "mine"}),
        row("session_meta", id="1", base_instructions={"text": "theirs"}),
        item(**said("user", "go")),
    )
    assert found.system == "mine"


def test_tools_of_the_host(tmp_path: Path) -> None:
    given = {"name": "look", "description": "d", "inputSchema": {"type": "object"}}
    found = read(tmp_path, row("session_meta", dynamic_tools=[given]), item(**said("user", "go")))
    assert found.tools == (
        {
            "type": "function",
            "name": "look",
            "description": "d",
            "parameters": {"type": "object"},
        },
    )
