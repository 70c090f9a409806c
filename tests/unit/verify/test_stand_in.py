"""The stand-in answers from the request alone."""

from __future__ import annotations

import json

import pytest

from wayfare.context.summary_request import prompt_text
from wayfare.messages import Message, Origin, ToolCall, assistant, call, result, results, user
from wayfare.model import Request, ToolSpec
from wayfare.verify.stand_in import answer

TOOLS = tuple(ToolSpec(name=name, description="", schema={}) for name in ("read_file", "compact"))
RECORD = "The user indents Python code with tabs, never with spaces."
CREATE = "Create a Python file called test.py with write_file: a function greet(name)."


def asked(*messages: Message) -> ToolCall | str:
    line = answer(Request(messages=messages, tools=TOOLS, system="You are an agent."))
    assert isinstance(line, str | ToolCall)
    return line


def remembered(text: str) -> Message:
    return user(f"<memory>\n{text}\n</memory>", origin=Origin.MEMORY)


@pytest.mark.parametrize(
    ("messages", "indent"),
    [
        ([remembered(RECORD), user(CREATE)], "\t"),
        ([user(CREATE)], "    "),
        ([remembered("The user likes tea."), user(CREATE)], "    "),
        ([remembered(RECORD), user(f"{CREATE} Indent this one with four spaces.")], "    "),
    ],
)
def test_tabs_only_if_the_request_holds_the_record_and_nothing_against_it(
    messages: list[Message], indent: str
) -> None:
    line = asked(*messages)
    assert isinstance(line, ToolCall)
    assert line.input["content"].splitlines()[1].startswith(f"{indent}return")


def test_it_goes_on_from_calls_and_from_what_a_summary_says_is_done() -> None:
    task = user(
        "Read these files with read_file, one after the other, each in a call of its own: "
        "a.txt, b.txt. When both are read, call compact. Create a file called r.txt with "
        "write_file that holds exactly this line: done it."
    )
    read_a = (assistant("", call("read_file", {"path": "a.txt"}, id="1")), results(result("1", "")))
    first, second = asked(task), asked(task, *read_a)
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.input["path"], second.input["path"]) == ("a.txt", "b.txt")
    done = "[Compacted]\n- done: read_file a.txt\n- done: read_file b.txt\n- done: compact"
    last = asked(user(done, origin=Origin.SUMMARY), task)
    assert isinstance(last, ToolCall)
    assert (last.name, last.input) == ("write_file", {"path": "r.txt", "content": "done it\n"})


def test_without_the_task_in_the_request_it_does_nothing() -> None:
    assert isinstance(asked(user("…")), str)


def test_as_an_extractor_it_offers_every_wish_as_lasting() -> None:
    text = "[3] USER: In this session do not create files. What is 2 + 3?\n[4] USER: Hello."
    line = answer(Request(messages=(user(text),), system=prompt_text("memory_extract")))
    (found,) = json.loads(str(line))["memories"]
    assert found["body"] == "In this session do not create files."
    assert (found["scope"], found["evidence"]) == ("persistent", [3])
