"""The runner, the baselines and the made-up session together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.baselines import BASELINES
from bench.judges.provider import Refusal, Usage
from bench.judges.validity import violations
from bench.policy import Setting
from bench.recordings import Recording, load_file
from bench.run_policy import Prepared, run_policy
from bench.synthetic import session

WINDOW_TOKENS = 12_500


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return Prepared(session(steps=90, seed=3))


def chat_session() -> Recording:
    """A short chat session with a system message and parallel calls whose results are long."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Obey."}]
    for number in range(30):
        if number % 10 == 0:
            messages.append({"role": "user", "content": f"Do task {number} in file_{number}.py"})
        calls = [
            {
                "id": f"c{number}-{part}",
                "type": "function",
                "function": {"name": "read", "arguments": f'{{"path": "file_{number}.py"}}'},
            }
            for part in range(2)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": f"{number} some_value " * 300}
            for call in calls
        ]
    return Recording(name="chat", format="openai-chat", messages=messages)


def test_made_up_session_is_legal_and_the_same_for_the_same_seed() -> None:
    one, two = session(steps=60, seed=5), session(steps=60, seed=5)
    assert one.messages == two.messages
    assert one.messages != session(steps=60, seed=6).messages
    assert violations({"system": one.system, "messages": one.messages}, "anthropic") == []


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_keeps_requests_legal(name: str, prepared: Prepared, tmp_path: Path) -> None:
    row = run_policy(
        prepared, BASELINES[name], name=name, window_tokens=WINDOW_TOKENS, root=tmp_path
    )
    assert row["invalid"] == 0, row["invalid_rules"]
    assert row["steps"] == len(prepared.recording.steps)


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_keeps_chat_requests_legal(name: str, tmp_path: Path) -> None:
    row = run_policy(
        chat_session(), BASELINES[name], name=name, window_tokens=WINDOW_TOKENS, root=tmp_path
    )
    assert row["invalid"] == 0, row["invalid_rules"]


def test_figures_tell_the_policies_apart(prepared: Prepared, tmp_path: Path) -> None:
    rows: dict[str, dict[str, Any]] = {}
    for number, (name, make) in enumerate(BASELINES.items()):
        rows[name] = run_policy(
            prepared, make, name=name, window_tokens=WINDOW_TOKENS, root=tmp_path / str(number)
        )
    assert rows["no governance"]["refused"] > 0
    assert rows["cut deep"]["recoverable"] == 1.0
    assert rows["cut deep"]["hidden_texts"] > 0
    assert rows["drop oldest"]["recoverable"] < 0.5
    assert rows["cut deep"]["cost"] < rows["drop oldest"]["cost"]
    named, plain = rows["cut deep with names"], rows["cut deep"]
    assert named["needed_identifiers"] > plain["needed_identifiers"]
    assert all(row["tokens_sent"] <= row["requests"] * WINDOW_TOKENS for row in rows.values())


def test_without_a_limit_in_reach_cost_equals_the_ungoverned_cost(tmp_path: Path) -> None:
    row = run_policy(
        Prepared(session(steps=12, seed=3)),
        BASELINES["no governance"],
        name="none",
        window_tokens=10_000_000,
        root=tmp_path,
    )
    assert row["cost"] == pytest.approx(row["cost_ungoverned"])
    assert (row["needed_files"], row["needed_identifiers"], row["needed_content"]) == (1, 1, 1)
    assert row["passes_limit"] is False
    assert row["active_request_visible"] == 1.0


class Meddler:
    """Changes a message it was handed."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def prepare(self, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        history[0]["content"] = "changed"
        return list(history)


def test_policy_that_changes_a_message_in_place_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="changed"):
        run_policy(chat_session(), Meddler, name="m", window_tokens=10**6, root=tmp_path)


class TriesAgain:
    """Sends too much first, then only the newest user message."""

    def __init__(self, setting: Setting) -> None:
        self.refusals: list[Refusal] = []
        self.usages: list[Usage] = []
        self.answer = {"role": "user", "content": "short"}

    def prepare(self, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*history, {"role": "user", "content": "word " * 20_000}]

    def refused(
        self, history: Sequence[dict[str, Any]], refusal: Refusal
    ) -> list[dict[str, Any]] | None:
        self.refusals.append(refusal)
        return [self.answer]

    def observe(self, usage: Usage) -> None:
        self.usages.append(usage)

    def report(self) -> dict[str, Any]:
        return {"summaries": len(self.refusals), "answered": len(self.usages)}


def test_policy_is_asked_again_after_a_refusal_and_told_the_usage(tmp_path: Path) -> None:
    row = run_policy(
        chat_session(), TriesAgain, name="t", window_tokens=WINDOW_TOKENS, root=tmp_path
    )
    assert row["requests"] == 2 * row["steps"]
    assert row["refused"] == row["summaries"] == row["answered"] == row["steps"]
    assert row["unanswered"] == 0


class BlanksUnread:
    """Drops what the model has not read yet."""

    def __init__(self, setting: Setting) -> None:
        del setting

    def prepare(self, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**m, "content": "gone"} if m["role"] == "tool" else m for m in history]


def test_result_gone_before_it_was_read_is_counted(tmp_path: Path) -> None:
    row = run_policy(chat_session(), BlanksUnread, name="b", window_tokens=10**6, root=tmp_path)
    # Two results a step, in every request but the one in front of the first call.
    tasks_without_results = 1
    assert row["unread_lost"] == 2 * (row["steps"] - tasks_without_results)


def test_recordings_of_each_shape_are_read(tmp_path: Path) -> None:
    chat = tmp_path / "dialogues.json"
    chat.write_text(
        '{"format": "openai-chat", "trajectories": [{"messages": [{"role": "user", "content": "a"}]},'
        ' {"messages": []}]}'
    )
    swe = tmp_path / "x.traj"
    swe.write_text(
        '{"history": [{"role": "user", "content": "a", "agent": "main"},'
        '{"role": "tool", "content": "b", "tool_call_ids": ["c1"]}]}'
    )
    rollout = tmp_path / "r.jsonl"
    rollout.write_text(
        '{"type": "session_meta", "payload": {}}\n'
        '{"type": "response_item", "payload": {"type": "reasoning", "summary": []}}\n'
    )
    assert [one.name for one in load_file(chat)] == ["dialogues#0", "dialogues#1"]
    (traj,) = load_file(swe)
    assert traj.messages[1] == {"role": "tool", "content": "b", "tool_call_id": "c1"}
    assert "agent" not in traj.messages[0]
    (items,) = load_file(rollout)
    assert (items.format, len(items.messages)) == ("openai-responses", 1)
    wrong = tmp_path / "w.json"
    wrong.write_text("{}")
    with pytest.raises(ValueError, match=r"w\.json"):
        load_file(wrong)
