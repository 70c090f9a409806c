"""The Anthropic codec: what it reads, what it passes on, what it builds."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.formats.anthropic import AnthropicCodec
from wayfare.messages import (
    Media,
    Message,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    call,
    result,
    results,
    user,
)

codec = AnthropicCodec()
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
    "cache_control": {"type": "ephemeral"},
}
PDF = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
    "title": "t",
}
WIRES: list[dict[str, Any]] = [
    {"role": "user", "content": "hello", "x_unknown": 1},
    {"role": "user", "content": ""},
    {"role": "user", "content": []},
    {"role": "user", "content": None},
    {"role": "user"},
    {"role": "user", "content": [IMAGE, PDF, {"type": "text", "text": "look", "x": 1}]},
    {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "url", "url": "https://h/a"}}],
    },
    {"role": "user", "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}]},
    {"role": "system", "content": "rules"},
    {"role": "x_future", "content": "?"},
    {
        "role": "assistant",
        "id": "msg_1",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "text", "text": ""},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            {
                "type": "tool_use",
                "id": "c",
                "name": "read",
                "input": {},
                "caller": {"type": "direct"},
            },
            {"type": "x_future", "payload": [1, None]},
            "a bare string",
            7,
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": "ok", "is_error": False},
            {"type": "tool_result", "tool_use_id": "d", "content": [IMAGE], "is_error": True},
            {"type": "tool_result", "tool_use_id": "e"},
            {"type": "tool_result", "tool_use_id": 9, "content": "no id"},
        ],
    },
]


@pytest.mark.parametrize("wire", WIRES, ids=range(len(WIRES)))
def test_an_untouched_message_is_passed_on_as_the_very_object(wire: dict[str, Any]) -> None:
    assert codec.encode([codec.decode(wire)])[0] is wire


def test_blocks_are_read_with_their_meaning_and_keep_their_objects() -> None:
    wire = WIRES[10]
    thinking, redacted, empty, server, used, future, bare, seven = codec.decode(wire).blocks
    assert thinking == Thinking(text="hm", signature="sig", wire=wire["content"][0])
    assert isinstance(redacted, Thinking)
    assert redacted.redacted
    assert redacted.bound
    assert empty == Text(text="", wire=wire["content"][2])
    assert isinstance(server, Opaque), "the provider runs it: no result of ours answers it"
    assert "q" in server.text
    assert isinstance(used, ToolCall)
    assert used.wire is wire["content"][4]
    assert future == Opaque(kind="x_future", text="", wire=wire["content"][5])
    assert bare == Text(text="a bare string")
    assert seven == Opaque(kind="int")


def test_results_are_read_with_their_errors_and_inner_blocks() -> None:
    plain, listed, empty, broken = codec.decode(WIRES[11]).blocks
    assert isinstance(plain, ToolResult)
    assert (plain.text, plain.plain, plain.is_error) == ("ok", True, False)
    assert isinstance(listed, ToolResult)
    assert (listed.plain, listed.is_error) == (False, True)
    assert listed.content == (
        Media(kind="image", media_type="image/png", content="QUJD", wire=IMAGE),
    )
    assert isinstance(empty, ToolResult)
    assert empty.content == ()
    assert isinstance(broken, Opaque)


@pytest.mark.parametrize(
    ("content", "origin"),
    [
        ("words", Origin.USER),
        ([], Origin.USER),
        ([{"type": "tool_result", "tool_use_id": "c", "content": "r"}], Origin.TOOL),
        (
            [
                {"type": "tool_result", "tool_use_id": "c", "content": "r"},
                {"type": "text", "text": " \n"},
                IMAGE,
            ],
            Origin.TOOL,
        ),
        (
            [
                {"type": "tool_result", "tool_use_id": "c", "content": "r"},
                {"type": "text", "text": "and do this"},
            ],
            Origin.USER,
        ),
    ],
)
def test_the_origin_says_whether_the_user_speaks(content: Any, origin: Origin) -> None:
    message = codec.decode({"role": "user", "content": content})
    assert message.origin is origin
    if origin is Origin.USER and isinstance(content, list) and content:
        assert message.text == "and do this"


def test_an_edited_message_keeps_envelope_marks_and_untouched_blocks() -> None:
    wire: dict[str, Any] = {
        "role": "user",
        "x_unknown": 1,
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "long", "cache_control": {}},
            {"type": "tool_result", "tool_use_id": "b", "content": "kept", "is_error": True},
            {"type": "text", "text": "words"},
        ],
    }
    message = codec.decode(wire)
    (out,) = codec.encode([message.with_blocks([result("a", "short"), *message.blocks[1:]])])
    assert out["x_unknown"] == 1
    assert out["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "short",
        "cache_control": {},
    }
    assert out["content"][1] is wire["content"][1]
    assert out["content"][2] is wire["content"][2]
    assert wire["content"][0]["content"] == "long"


def test_an_edited_string_stays_a_string() -> None:
    message = codec.decode({"role": "user", "content": "long", "id": 3})
    out = codec.encode([message.with_blocks([Text(text="short")])])
    assert out == [{"role": "user", "content": "short", "id": 3}]


def test_an_edited_message_with_nothing_left_is_left_out() -> None:
    message = codec.decode({"role": "user", "content": "gone"})
    assert codec.encode([message.with_blocks(())]) == []


def test_native_messages_are_built() -> None:
    picture = Media(kind="image", media_type="image/png", content="QUJD")
    messages = [
        user("go"),
        assistant("I look", call("read", {"path": "a"}, id="c1")),
        results(ToolResult(call_id="c1", content=(Text(text="t"), picture), plain=False)),
    ]
    assert codec.encode(messages) == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [
                        {"type": "text", "text": "t"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": "QUJD",
                            },
                        },
                    ],
                }
            ],
        },
    ]


def test_results_of_a_batch_become_one_message_in_call_order_before_the_words() -> None:
    messages = [
        assistant("", call("a", id="1"), call("b", id="2")),
        results(result("2", "two")),
        user("go on"),
        results(result("1", "one", is_error=True)),
        user("and on"),
    ]
    _, joined, last = codec.encode(messages)
    assert joined["content"] == [
        {"type": "tool_result", "tool_use_id": "1", "content": "one", "is_error": True},
        {"type": "tool_result", "tool_use_id": "2", "content": "two"},
        {"type": "text", "text": "go on"},
    ]
    assert last == {"role": "user", "content": "and on"}


def test_a_result_without_its_call_joins_nothing() -> None:
    wires = [
        {"role": "user", "content": "words"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "z", "content": ""}]},
    ]
    out = codec.encode([codec.decode(wire) for wire in wires])
    assert [one is wire for one, wire in zip(out, wires, strict=True)] == [True, True]


def test_parallel_calls_that_came_apart_are_joined_in_their_order() -> None:
    wires: list[dict[str, Any]] = [
        {"role": "assistant", "content": [{"type": "text", "text": "both"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "2", "name": "b", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "B"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "A"}]},
    ]
    calls, answers = codec.encode([codec.decode(wire) for wire in wires])
    assert [block["type"] for block in calls["content"]] == ["text", "tool_use", "tool_use"]
    assert answers["content"] == [wires[4]["content"][0], wires[3]["content"][0]]
    assert answers["content"][0] is wires[4]["content"][0]


def foreign(role: Any, *blocks: Any, origin: Origin = Origin.ASSISTANT) -> Message:
    return Message(role=role, blocks=blocks, origin=origin, format="openai-chat")


def test_what_this_provider_would_refuse_of_another_is_left_out() -> None:
    thought = Thinking(text="hm", signature="of another")
    (out,) = codec.encode([foreign("assistant", thought, Text(text=" "), Text(text="said"))])
    assert out == {"role": "assistant", "content": "said"}
    assert codec.encode([foreign("assistant", thought)]) == []


def test_native_thinking_is_sent_only_if_signed() -> None:
    def written(thought: Thinking) -> Any:
        message = Message(
            role="assistant", blocks=(thought, Text(text="x")), origin=Origin.ASSISTANT
        )
        content = codec.encode([message])[0]["content"]
        return content[0] if isinstance(content, list) else None

    assert written(Thinking(text="t")) is None
    assert written(Thinking(text="t", signature="s")) == {
        "type": "thinking",
        "thinking": "t",
        "signature": "s",
    }
    assert written(Thinking(text="", signature="d", redacted=True)) == {
        "type": "redacted_thinking",
        "data": "d",
    }


def test_ids_of_another_provider_are_made_fit_alike_for_call_and_result() -> None:
    calls = foreign("assistant", call("f", id="functions.f:0"), call("f", id="functions_f_0"))
    asked, answered = codec.encode([calls, results(result("functions.f:0", "r"))])
    used = [block["id"] for block in asked["content"]]
    assert used[1] == "functions_f_0"
    assert used[0] != used[1]
    assert answered["content"][0]["tool_use_id"] == used[0]


def test_ids_of_this_format_stay_even_where_they_are_odd() -> None:
    wire = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a:1", "name": "f", "input": {}}],
    }
    asked, answered = codec.encode([codec.decode(wire), results(result("a:1", "none"))])
    assert asked is wire
    assert answered["content"][0]["tool_use_id"] == "a:1"


def test_system_messages_of_another_format_become_user_text() -> None:
    out = codec.encode([foreign("developer", Text(text="rules"), origin=Origin.SYSTEM)])
    assert out == [{"role": "user", "content": "rules"}]


def test_arguments_that_are_no_json_object_stay_readable() -> None:
    broken = ToolCall(id="c", name="f", input={}, arguments='{"a": ')
    (out,) = codec.encode([foreign("assistant", broken)])
    assert out["content"][0]["input"] == {"arguments": '{"a": '}


def test_a_message_by_itself_is_written_as_one() -> None:
    assert codec.encode_one(user("x")) == [{"role": "user", "content": "x"}]
    assert codec.encode_one(user(" ")) == []
