"""The OpenAI chat codec: what it reads, what it passes on, what it builds."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.formats.anthropic import AnthropicCodec
from wayfare.formats.openai_chat import OpenAIChatCodec
from wayfare.formats.openai_responses import OpenAIResponsesCodec
from wayfare.messages import (
    Media,
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

codec = OpenAIChatCodec()
anthropic = AnthropicCodec()


def function(call_id: str, arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
        **more,
    }


WIRES: list[dict[str, Any]] = [
    {"role": "system", "content": "rules"},
    {"role": "developer", "content": [{"type": "text", "text": "rules"}]},
    {"role": "user", "content": "hello", "name": "ann"},
    {"role": "user", "content": []},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "look"},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64,QUJD", "detail": "low"},
            },
            {"type": "image_url", "image_url": {"url": "https://h/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBE"}},
            {"type": "x_future", "payload": "p"},
        ],
    },
    {"role": "assistant", "content": None, "tool_calls": [function("c", "{bad", index=0)]},
    {"role": "assistant", "content": "", "tool_calls": [function("c")], "refusal": None},
    {"role": "assistant", "tool_calls": [function("c")]},
    {
        "role": "assistant",
        "content": None,
        "refusal": "no",
        "audio": {"id": "a", "transcript": "t"},
    },
    {"role": "assistant", "content": "x", "reasoning_content": "hm", "tool_calls": []},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}, 5],
    },
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "r"},
    {"role": "tool", "tool_call_id": "c", "content": "r", "x_unknown": 1},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
    {"role": "tool", "tool_call_id": "c", "content": None},
]


@pytest.mark.parametrize("wire", WIRES, ids=range(len(WIRES)))
def test_an_untouched_message_is_passed_on_as_the_very_object(wire: dict[str, Any]) -> None:
    message = codec.decode(wire)
    assert codec.encode([message])[0] is wire
    assert all(block.wire is None or isinstance(block.wire, dict) for block in message.blocks)


def test_parts_are_read_with_their_meaning() -> None:
    text, image, link, audio, file, future = codec.decode(WIRES[4]).blocks
    parts = WIRES[4]["content"]
    assert text == Text(text="look", wire=parts[0])
    assert image == Media(kind="image", media_type="image/png", content="QUJD", wire=parts[1])
    assert link == Media(kind="image", url="https://h/a.png", wire=parts[2])
    assert audio == Media(kind="audio", media_type="audio/wav", content="QUJD", wire=parts[3])
    assert file == Media(
        kind="document", media_type="application/pdf", content="JVBE", wire=parts[4]
    )
    assert future == Opaque(kind="x_future", text="p", wire=parts[5])


def test_calls_keep_the_text_of_their_arguments() -> None:
    (bad,) = codec.decode(WIRES[5]).calls
    assert (dict(bad.input), bad.arguments) == ({}, "{bad")
    wire = {"role": "assistant", "tool_calls": [function("c", '{ "p":  1 }')]}
    (good,) = codec.decode(wire).calls
    assert (dict(good.input), good.arguments) == ({"p": 1}, '{ "p":  1 }')


@pytest.mark.parametrize("arguments", ["{bad", '{ "p":  1 }', ""])
def test_the_text_of_arguments_goes_unchanged_to_another_format(arguments: str) -> None:
    message = codec.decode({"role": "assistant", "tool_calls": [function("c", arguments)]})
    (item,) = OpenAIResponsesCodec().encode([message])
    assert item["arguments"] == arguments


def test_other_fields_of_an_assistant_message_are_blocks_too() -> None:
    refusal, audio = codec.decode(WIRES[8]).blocks
    assert refusal == Opaque(kind="refusal", text="no")
    assert audio.wire is WIRES[8]["audio"]
    assert codec.decode(WIRES[9]).blocks == (Thinking(text="hm"), Text(text="x"))
    custom = codec.decode(WIRES[10]).calls[0]
    assert (custom.name, dict(custom.input)) == ("sh", {"input": "ls"})


def test_a_call_of_the_old_kind_and_its_answer_share_an_id() -> None:
    asked, answered = codec.decode(WIRES[11]), codec.decode(WIRES[12])
    assert asked.calls[0].id == answered.results[0].call_id
    repair = results(result(asked.calls[0].id, "interrupted", is_error=True))
    assert codec.encode([asked, repair])[1] == {
        "role": "function",
        "name": "f",
        "content": "[tool error]\ninterrupted",
    }


def test_several_calls_of_the_old_kind_in_a_row_stay_apart() -> None:
    other = {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": ""}}
    out = codec.encode([codec.decode(WIRES[11]), codec.decode(other)])
    assert [one["function_call"]["name"] for one in out] == ["f", "g"]


@pytest.mark.parametrize("content", [None, "", "said"])
def test_an_edit_of_calls_leaves_the_content_as_it_was(content: str | None) -> None:
    wire = {
        "role": "assistant",
        "content": content,
        "x_unknown": 1,
        "tool_calls": [function("a", "{}", index=0), function("b")],
    }
    message = codec.decode(wire)
    short = ToolCall(id="a", name="read", input={"p": 1})
    blocks = [short if isinstance(b, ToolCall) and b.id == "a" else b for b in message.blocks]
    (out,) = codec.encode([message.with_blocks(blocks)])
    assert out == {
        "role": "assistant",
        "content": content,
        "x_unknown": 1,
        "tool_calls": [function("a", '{"p":1}', index=0), function("b")],
    }
    assert out["tool_calls"][1] is wire["tool_calls"][1]


def test_dropped_thinking_takes_its_field_along() -> None:
    message = codec.decode(WIRES[9])
    (out,) = codec.encode([message.with_blocks(message.blocks[1:])])
    assert out == {"role": "assistant", "content": "x", "tool_calls": []}


def test_an_edited_custom_call_stays_one() -> None:
    message = codec.decode(WIRES[10])
    short = ToolCall(id="c", name="sh", input={"input": "short"})
    (out,) = codec.encode([message.with_blocks([short])])
    assert out["tool_calls"] == [
        {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "short"}}
    ]


def test_an_edited_result_keeps_its_envelope() -> None:
    message = codec.decode(WIRES[13])
    out = codec.encode([message.with_blocks([result("c", "short")])])
    assert out == [{"role": "tool", "tool_call_id": "c", "content": "short", "x_unknown": 1}]


def test_an_edited_user_message_keeps_its_untouched_parts() -> None:
    message = codec.decode(WIRES[4])
    (out,) = codec.encode([message.with_blocks([Text(text="see"), *message.blocks[1:]])])
    assert out["content"][0] == {"type": "text", "text": "see"}
    assert all(a is b for a, b in zip(out["content"][1:], WIRES[4]["content"][1:], strict=True))


def test_native_messages_are_built() -> None:
    messages = [
        user("go"),
        assistant("I look", call("read", {"p": "中"}, id="a")),
        results(result("a", "r")),
        assistant("done"),
    ]
    assert codec.encode(messages) == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"p":"中"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "r"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_message_of_several_results_becomes_several_and_its_words_follow() -> None:
    wires: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "bad", "is_error": True},
                {"type": "text", "text": "hurry"},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "B"}]},
    ]
    out = codec.encode([anthropic.decode(wire) for wire in wires])
    assert out[0]["content"] is None
    assert out[1:] == [
        {"role": "tool", "tool_call_id": "a", "content": "[tool error]\nbad"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "user", "content": "hurry"},
    ]
    assert codec.decode(out[1]).results[0].is_error


def test_what_a_result_cannot_hold_here_follows_in_a_user_message() -> None:
    picture = Media(kind="image", media_type="image/png", content="QUJD")
    link = Media(kind="document", url="https://h/d.pdf")
    note = Media(kind="document", content="plain words", encoded=False)
    lost = Media(kind="image")
    answer = ToolResult(
        call_id="a",
        content=(Text(text="see"), picture, link, note, lost, Opaque(kind="x", text="?")),
        plain=False,
    )
    _, tool, carried = codec.encode([assistant("", call("f", id="a")), results(answer)])
    assert tool["content"].split("\n") == [
        "see",
        "[image: in the next user message]",
        "[document: in the next user message]",
        "plain words",
        "[image: not available]",
        "?",
    ]
    assert carried == {
        "role": "user",
        "content": [
            {"type": "text", "text": "[image from the result of call a]"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            {"type": "text", "text": "[document from the result of call a]"},
            {"type": "text", "text": "[document: https://h/d.pdf]"},
        ],
    }


def test_untouched_results_move_before_the_words_that_stood_between() -> None:
    wires: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [function("a"), function("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "user", "content": "hurry"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "user", "content": "thanks"},
    ]
    out = codec.encode([codec.decode(wire) for wire in wires])
    assert [wires.index(one) for one in out] == [0, 1, 3, 2, 4]
    assert all(one is wires[wires.index(one)] for one in out)


def test_calls_that_came_apart_are_joined() -> None:
    wires: list[dict[str, Any]] = [
        {"role": "assistant", "content": "first", "tool_calls": [function("a")]},
        {"role": "assistant", "content": "second", "tool_calls": [function("b")], "x": 1},
    ]
    (out,) = codec.encode([codec.decode(wire) for wire in wires])
    assert out["content"] == "first\nsecond"
    assert [c is w["tool_calls"][0] for c, w in zip(out["tool_calls"], wires, strict=True)] == [
        True,
        True,
    ]
    assert wires[0]["content"] == "first"


def test_overlong_ids_of_another_provider_are_made_fit() -> None:
    long = "toolu_" + "x" * 60
    wire = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": long, "name": "f", "input": {}}],
    }
    asked, answered = codec.encode([anthropic.decode(wire), results(result(long, "r"))])
    assert len(asked["tool_calls"][0]["id"]) == 40
    assert answered["tool_call_id"] == asked["tool_calls"][0]["id"]


def test_the_roles_say_who_authored() -> None:
    roles = ["user", "assistant", "system", "developer", "tool", "function", "x_future"]
    origins = [codec.decode({"role": role, "content": "x"}).origin for role in roles]
    assert origins == [
        Origin.USER,
        Origin.ASSISTANT,
        Origin.SYSTEM,
        Origin.SYSTEM,
        Origin.TOOL,
        Origin.TOOL,
        Origin.USER,
    ]
