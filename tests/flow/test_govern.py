"""Somebody else's loop: their list goes in, a governed one comes out, nothing of theirs changes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletionMessage

from wayfare import Governed, govern, govern_async
from wayfare.context.budget import Budget
from wayfare.errors import CannotFit, ConfigError
from wayfare.session import Places, read_address, run_sync, session_names

LOG = "2026-01-01 00:00:00 INFO started and running well\n" * 4_000


def anthropic_list(steps: int, text: str = "line of a file\n" * 150) -> list[dict[str, Any]]:
    """A host's list: a request, and so many calls with their results."""
    made: list[dict[str, Any]] = [{"role": "user", "content": "Read the files and sum up."}]
    for n in range(steps):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"f{n}.txt"}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"{n}: {text}"}
        made += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return made


def openai_list(steps: int, text: str = "line of a file\n" * 150) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [
        {"role": "system", "content": "You sum up."},
        {"role": "user", "content": "Read the files."},
    ]
    for n in range(steps):
        arguments = json.dumps({"path": f"f{n}.txt"})
        call = {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "read", "arguments": arguments},
        }
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{n}: {text}"},
        ]
    return made


def test_the_example_for_an_anthropic_list(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Which line of the log is the first error?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "app.log"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": LOG}]},
    ]  # fmt: skip
    before = copy.deepcopy(messages)
    governed = govern(messages, window_tokens=50_000, root=tmp_path)
    assert messages == before
    assert governed[:2] == messages[:2]
    assert governed[0] is messages[0]
    assert governed[1] is messages[1]
    shown = governed[2]["content"][0]["content"]
    assert shown.startswith("<persisted-output>\nFull output: .task_outputs/tool-results/")
    address = shown.splitlines()[1].removeprefix("Full output: ")
    assert run_sync(read_address, Places(workspace=tmp_path), address).decode() == LOG
    assert (tmp_path / address).read_text() == LOG


def test_the_example_for_an_openai_list(tmp_path: Path) -> None:
    messages = openai_list(3, LOG)
    before = copy.deepcopy(messages)
    governed = govern(messages, format="openai-chat", window_tokens=50_000, root=tmp_path)
    assert messages == before
    assert [m["role"] for m in governed] == [m["role"] for m in messages]
    assert governed[0] is messages[0]
    assert governed[2] is messages[2]
    shown = [m["content"] for m in governed if m["role"] == "tool"]
    assert all("Full output: " in text or "saved at " in text for text in shown)


def test_what_needs_no_governing_is_the_very_list(tmp_path: Path) -> None:
    messages = anthropic_list(3)
    governed = govern(messages, root=tmp_path)
    assert len(governed) == len(messages)
    assert all(one is other for one, other in zip(governed, messages, strict=True))
    assert governed is not messages


def test_step_by_step_the_governed_list_only_grows_until_an_edit(tmp_path: Path) -> None:
    context = Governed(window_tokens=12_000, root=tmp_path)
    whole = anthropic_list(40)
    before: list[Any] = []
    cuts = 0
    for stop in range(1, len(whole) + 1, 2):
        governed = context.govern(whole[:stop])
        if governed[: len(before)] != before:
            cuts += 1
        before = copy.deepcopy(governed)
    assert 1 <= cuts <= 6
    shown = json.dumps(before)
    assert len(shown) < len(json.dumps(whole)) / 2
    assert "Read the files and sum up." in shown
    context.close()


def test_state_is_kept_beside_it_and_found_again_by_the_list(tmp_path: Path) -> None:
    whole = anthropic_list(40)
    first = Governed(window_tokens=12_000, root=tmp_path)
    for stop in range(1, len(whole) + 1, 2):
        there = first.govern(whole[:stop])
    first.close()
    again = Governed(window_tokens=12_000, root=tmp_path)
    assert again.govern(copy.deepcopy(whole)) == there
    again.close()
    assert len(session_names(Places(workspace=tmp_path))) == 1


def test_a_changed_past_begins_a_new_log_and_loses_nothing(tmp_path: Path) -> None:
    whole = anthropic_list(20)
    context = Governed(window_tokens=12_000, root=tmp_path)
    for stop in range(1, len(whole) + 1, 2):
        context.govern(whole[:stop])
    changed = [*whole[:-4], {"role": "user", "content": "Stop reading."}]
    governed = context.govern(changed)
    assert governed[-1] is changed[-1]
    assert "f19.txt" not in json.dumps(governed)
    assert len(session_names(Places(workspace=tmp_path))) == 2
    # The list as it was goes on where it was.
    back = context.govern([*whole, {"role": "user", "content": "And now?"}])
    assert "f19.txt" in json.dumps(back)
    assert len(session_names(Places(workspace=tmp_path))) == 2
    # A fork keeps what was archived before it: every address in it can be read.
    for address in {w for w in json.dumps(governed).split() if w.startswith(".task_outputs")}:
        assert context.read(address.rstrip('"]},.'))
    context.close()


def test_another_first_message_is_another_conversation(tmp_path: Path) -> None:
    govern([{"role": "user", "content": "one"}], root=tmp_path)
    govern([{"role": "user", "content": "two"}], root=tmp_path)
    assert len(session_names(Places(workspace=tmp_path))) == 2


def test_a_host_may_go_on_with_the_governed_list(tmp_path: Path) -> None:
    whole = anthropic_list(40)
    context = Governed(window_tokens=12_000, root=tmp_path)
    messages: list[Any] = []
    for at in range(0, len(whole), 2):
        messages = context.govern([*messages, *whole[at : at + 2]])
    assert len(session_names(Places(workspace=tmp_path))) == 1
    other = Governed(window_tokens=12_000, root=tmp_path / "other")
    for stop in range(2, len(whole) + 2, 2):
        expected = other.govern(whole[:stop])
    assert json.dumps(messages).replace("/", "") == json.dumps(expected).replace("/", "")
    context.close()
    other.close()


def test_cache_marks_that_move_change_no_past(tmp_path: Path) -> None:
    context = Governed(root=tmp_path)
    whole = anthropic_list(4)
    for stop in range(1, len(whole) + 1, 2):
        marked = copy.deepcopy(whole[:stop])
        last = marked[-1]
        if isinstance(last["content"], str):
            last["content"] = [{"type": "text", "text": last["content"]}]
            whole[0] = copy.deepcopy(last)
        last["content"][-1]["cache_control"] = {"type": "ephemeral"}
        governed = context.govern(marked)
        assert governed[-1] is marked[-1]
        assert json.dumps(governed).count("cache_control") == 1
    assert len(session_names(Places(workspace=tmp_path))) == 1
    context.close()


def test_objects_of_the_sdks_are_taken_as_they_are(tmp_path: Path) -> None:
    reply = AnthropicMessage.model_validate(
        {
            "id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use",
            "stop_sequence": None, "usage": {"input_tokens": 50, "output_tokens": 9},
            "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}],
        }
    )  # fmt: skip
    messages: list[Any] = [{"role": "user", "content": "go"}]
    context = Governed(window_tokens=50_000, root=tmp_path)
    context.govern(messages)
    messages.append({"role": "assistant", "content": reply.content})
    messages.append(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": LOG}]}
    )
    governed = context.govern(messages, usage=reply.usage)
    assert governed[1] is messages[1]
    assert context.govern(messages)[1] is messages[1]
    assert len(session_names(Places(workspace=tmp_path))) == 1
    chat = ChatCompletionMessage(role="assistant", content="hello")
    said: list[Any] = [{"role": "user", "content": "hi"}, chat]
    assert govern(said, format="openai-chat", root=tmp_path)[1] is chat
    context.close()


def test_reported_usage_is_believed(tmp_path: Path) -> None:
    told = {"input_tokens": 5_000, "cache_read_input_tokens": 30_000, "output_tokens": 20}
    context = Governed(window_tokens=50_000, root=tmp_path)
    whole = anthropic_list(20)
    assert context.govern(whole[:-2]) == whole[:-2]
    # The provider counts more than fits: passes run although our own estimate is far below.
    assert context.govern(whole, usage=told) != whole
    context.close()


def test_a_refusal_makes_the_list_smaller_until_nothing_is_left(tmp_path: Path) -> None:
    context = Governed(window_tokens=100_000, root=tmp_path)
    sizes = [len(json.dumps(context.govern(anthropic_list(20))))]

    def refuse_for_ever() -> None:
        while len(sizes) < 10:
            sizes.append(len(json.dumps(context.refused())))

    with pytest.raises(CannotFit):
        refuse_for_ever()
    assert sizes == sorted(sizes, reverse=True)
    assert 3 <= len(set(sizes)) == len(sizes) <= 4
    context.close()


def test_the_window_a_refusal_names_is_learned(tmp_path: Path) -> None:
    context = Governed(window_tokens=100_000, root=tmp_path)
    whole = anthropic_list(30)
    context.govern(whole)
    smaller = context.refused(limit_tokens=8_000, sent_tokens=20_000)
    assert len(json.dumps(smaller)) < 8_000 * 4
    more = [*whole, *anthropic_list(32)[-4:]]
    assert len(json.dumps(context.govern(more))) < 8_000 * 4
    context.close()


def test_everything_may_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    context = Governed(window_tokens=50_000, root=None)
    messages = anthropic_list(1, LOG)
    governed = context.govern(messages)
    shown = governed[2]["content"][0]["content"]
    address = shown.splitlines()[1].removeprefix("Full output: ")
    assert context.read(address).decode() == "0: " + LOG
    changed = [{**messages[0]}, *messages[1:], {"role": "user", "content": "well?"}]
    assert context.govern(changed)[2] == governed[2]
    assert not list(tmp_path.iterdir())


@pytest.mark.anyio
async def test_inside_an_event_loop_both_doors_work(tmp_path: Path) -> None:
    messages = anthropic_list(2)
    assert govern(messages, root=tmp_path) == messages
    more = [*messages, {"role": "user", "content": "and?"}]
    assert await govern_async(more, root=tmp_path) == more
    assert len(session_names(Places(workspace=tmp_path))) == 1


def test_a_budget_of_ones_own(tmp_path: Path) -> None:
    budget = Budget.classic(limit_chars=10_000)
    governed = govern(anthropic_list(30), budget=budget, root=tmp_path)
    assert len(json.dumps(governed)) < 15_000


@pytest.mark.parametrize("given", [None, "Read it.", {"role": "user", "content": "x"}, 7, b"[]"])
def test_what_is_no_list_is_refused_with_what_is_wanted(given: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a list of objects with role and content"):
        govern(given, root=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [None, "a", 7, ["user", "x"], object(), {"content": object()}])
def test_an_entry_that_is_no_message_is_named_and_nothing_is_lost(
    given: Any, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=type(given).__name__):
        govern([given], root=tmp_path)
    asked = {"role": "user", "content": "Read it."}
    governed = govern([asked], root=tmp_path, window_tokens=20_000)
    with pytest.raises(ConfigError, match=type(given).__name__):
        govern([*governed, given], root=tmp_path, window_tokens=20_000)
    more = {"role": "assistant", "content": "It says so."}
    thanks = {"role": "user", "content": "Thanks."}
    assert govern([asked, more, thanks], root=tmp_path, window_tokens=20_000) == [
        asked,
        more,
        thanks,
    ]


@pytest.mark.parametrize("odd", [{}, {"role": "user"}, {"content": None}, {"content": [None, 5]}])
def test_a_message_that_says_nothing_is_no_error(odd: dict[str, Any], tmp_path: Path) -> None:
    asked = {"role": "user", "content": "Read it."}
    assert asked in govern([asked, odd], root=tmp_path)
    assert govern([odd, asked], root=tmp_path / "b")[-1] == asked
