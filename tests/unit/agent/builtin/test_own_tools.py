"""The task list, sub-agents, compaction, and the search of the session's own history."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.agent.builtin.workbench import Workbench, lines

from wayfare.agent.ports import SubagentReport
from wayfare.messages import assistant, call, result, results, user

pytestmark = pytest.mark.anyio


def item(id: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": id, "content": f"do {id}", "status": status, **more}


async def test_the_task_list_is_taken_and_says_what_is_next(bench: Workbench) -> None:
    todos = [item("1", "completed"), item("2", depends_on=["3"]), item("3", owner="reviewer")]
    found = await bench.call("todo_write", todos=todos)
    assert found.text == "3 items: 1 completed, 2 pending. Next: 3, do 3"
    assert (await bench.call("todo_write", todos=[])).text == "The task list is empty."


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([item("1"), item("1")], "2 items have the id '1'"),
        ([item("1", depends_on=["9"])], "item '1' depends on '9', which is not in the list"),
        ([item("1", depends_on=["1"])], "in a circle: 1 → 1"),
        (
            [item("a", depends_on=["b"]), item("b", depends_on=["c"]), item("c", depends_on=["a"])],
            "in a circle: a → b → c → a",
        ),
        ([{"id": "1", "content": " "}], "item '1' says nothing in content"),
        ([{"id": " ", "content": "x"}], "an item has no id"),
    ],
)
async def test_a_list_that_is_none_is_refused_with_the_reason(
    bench: Workbench, todos: list[dict[str, Any]], said: str
) -> None:
    found = await bench.call("todo_write", todos=todos)
    assert found.is_error
    assert said in found.text


async def test_oversights_are_pointed_at(bench: Workbench) -> None:
    bench.sight.list = [item("old"), item("done", "completed")]
    todos = [
        item("1", "in_progress"),
        item("2", "in_progress"),
        item("3", "completed", depends_on=["1"]),
    ]
    found = await bench.call("todo_write", todos=todos)
    assert not found.is_error
    assert "2 items are in progress (1, 2)" in found.text
    assert "3 is completed, but depends on 1, not done" in found.text
    assert "items that were open are not in the list any more: old" in found.text


async def test_a_sub_agent_gives_its_report(bench: Workbench) -> None:
    found = await bench.call("task", task="look\nfar", description="look far", tools=["grep"])
    assert found.text == "found it\n[3 steps]"
    assert bench.subagents.asked == [("look\nfar", "look far", ["grep"])]
    bench.subagents.report = SubagentReport(
        text="half of it", ended="steps", steps=1, transcript=".transcripts/s/agents/1/x.jsonl"
    )
    found = await bench.call("task", task="more", description="more")
    assert found.is_error
    assert found.text == (
        "half of it\n[it stopped before it was done: steps]\n"
        "[1 step; its transcript: .transcripts/s/agents/1/x.jsonl]"
    )


async def test_compaction_is_asked_for_and_only_received(bench: Workbench) -> None:
    found = await bench.call("compact", focus="the parser")
    assert "once the results of this reply are in" in found.text
    wish = bench.context.compaction.take()
    assert wish is not None
    assert (wish.focus, wish.trigger) == ("the parser", "model")


async def history(bench: Workbench) -> dict[str, str]:
    """A session of a few steps; returns the addresses of its parts."""
    log = bench.transcript
    await log.open()
    await log.begin({})
    output = (
        lines(range(1, 300))
        + "FAILED test_retry: the back-off was 30 seconds\n"
        + lines(range(301, 400))
    )
    added = await log.add(
        [
            user("Please fix the flaky retry test.\nThe limit must stay at six attempts."),
            assistant("I run the tests first.", call("bash", {"command": "pytest -q"}, id="t1")),
            results(result("t1", output)),
            assistant("", call("search_history", {"query": "back-off"}, id="t2")),
            results(result("t2", "nothing about the back-off")),
            assistant("The connection memory was reset between the attempts."),
        ]
    )
    (ref,) = added[2].refs.values()
    first, asking, last = (f"{log.path}#{added[at].id}" for at in (0, 1, 5))
    return {"request": first, "call": asking, "output": str(ref), "last": last}


async def test_history_is_found_by_words_with_addresses_and_lines(bench: Workbench) -> None:
    at = await history(bench)
    found = await bench.call("search_history", query="back-off seconds of the retry test")
    first = found.text.split("\n\n")[0]
    assert first.startswith(f"{at['output']} lines ")
    assert "(bash pytest -q)" in first
    assert "300\tFAILED test_retry: the back-off was 30 seconds" in first
    page = await bench.call("read_file", path=at["output"], offset=300, limit=1)
    assert page.text.startswith("300\tFAILED test_retry")
    stem = await bench.call("search_history", query="memories")
    assert stem.text.startswith(at["last"])
    assert "search_history" not in found.text
    nothing = await bench.call("search_history", query="zebra")
    assert nothing.text == "Nothing of this session has these words."


async def test_history_is_found_by_an_expression_line_by_line(bench: Workbench) -> None:
    at = await history(bench)
    found = await bench.call("search_history", query=r"back.off|six \w+", regex=True)
    assert found.text == (
        f"{at['output']} (bash pytest -q)\n300\tFAILED test_retry: the back-off was 30 seconds\n"
        f"{at['request']} (user)\n2\tThe limit must stay at six attempts."
    )
    page = await bench.call("read_file", path=at["request"], offset=2, limit=1)
    assert page.text == "2\tThe limit must stay at six attempts."
    call = await bench.call("search_history", query="^command: pytest", regex=True)
    assert call.text == f"{at['call']} (call of bash)\n3\tcommand: pytest -q"
    page = await bench.call("read_file", path=at["call"], offset=3, limit=1)
    assert page.text == "3\tcommand: pytest -q"
    one = await bench.call("search_history", query="line", regex=True, limit=1)
    assert "[the newest 1 matching lines; there are more]" in one.text
    wrong = await bench.call("search_history", query="(", regex=True)
    assert wrong.is_error


async def test_the_whole_output_of_commands_is_searched_too(bench: Workbench) -> None:
    await bench.transcript.open()
    await bench.transcript.begin({})
    shown = await bench.call("bash", command="seq 1 50000")
    assert "\n25000\n" not in shown.text
    found = await bench.call("search_history", query="^25000$", regex=True)
    (file,) = [p for p in bench.results() if p.suffix == ".txt"]
    address = f".task_outputs/tool-results/s/{file.name}"
    assert found.text == f"{address} (output of a command)\n25000\t25000"
