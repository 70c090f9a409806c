"""A message is written once however often it is sent, and forgotten with it."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from wayfare.formats import codec
from wayfare.formats.codec import format_names
from wayfare.messages import Message, Text, assistant, call, result, results, user


def _history(call_id: str = "c1") -> list[Message]:
    return [
        user("Read it."),
        assistant("", call("read_file", {"path": "a.py"}, id=call_id)),
        results(result(call_id, "text of a.py")),
    ]


@pytest.mark.parametrize("name", format_names())
def test_what_was_written_of_a_message_is_sent_again(name: str) -> None:
    own, history = codec(name), _history()
    first = own.encode(history)
    again = own.encode([*history, user("And now?")])
    assert [id(wire) for wire in again[: len(first)]] == [id(wire) for wire in first]


@pytest.mark.parametrize("name", format_names())
def test_another_message_in_its_place_is_written_anew(name: str) -> None:
    own, history = codec(name), _history()
    own.encode(history)
    edited = history[2].with_blocks([result("c1", "shortened")])
    assert "shortened" in str(own.encode([*history[:2], edited]))
    other = [user("Read it."), *_history("c2")[1:2], results(result("c2", "text of a.py"))]
    written = str(own.encode(other))
    assert "c2" in written
    assert "c1" not in written


def test_a_result_is_written_for_the_calls_it_answers_now() -> None:
    own = codec("anthropic")
    foreign = Message(
        role="assistant", blocks=(call("f", id="a call/1"),), origin=assistant("").origin,
        format="openai-chat",
    )  # fmt: skip
    native = assistant("", call("f", id="a call/1"))
    answer = results(result("a call/1", "done"))
    for asking in (foreign, native, foreign):
        asked, answered = own.encode([user("Go."), asking, answer])[1:]
        assert answered["content"][0]["tool_use_id"] == asked["content"][0]["id"]


def test_what_was_written_is_forgotten_with_the_message() -> None:
    own, message = codec("anthropic"), user("x").with_blocks([Text(text="gone soon")])
    own.encode([message])
    gone = ref(message)
    del message
    gc.collect()
    assert gone() is None
