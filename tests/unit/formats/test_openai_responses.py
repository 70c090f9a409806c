"""The OpenAI Responses codec: one item, one message."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.formats.anthropic import AnthropicCodec
from wayfare.formats.openai_responses import OpenAIResponsesCodec
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

codec = OpenAIResponsesCodec()
FUNCTION = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{bad"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}
SHELL = {
    "type": "local_shell_call",
    "id": "ls_1",
    "call_id": "c",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
    "status": "completed",
}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "I think"}],
    "encrypted_content": "gAAA",
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws",
    "status": "completed",
    "action": {"type": "search", "query": "q"},
}
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "easy"},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final",
        "content": [
            {"type": "output_text", "text": "said", "annotations": [{"type": "url_citation"}]},
            {"type": "refusal", "refusal": "no"},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
            {"type": "input_file", "file_url": "https://h/d.pdf"},
            {"type": "input_image", "file_id": "f1"},
        ],
    },
    FUNCTION,
    CUSTOM,
    SHELL,
    REASONING,
    SEARCH,
    {"type": "function_call_output", "call_id": "c", "output": "r"},
    {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "r"}],
    },
    {"type": "custom_tool_call_output", "call_id": "c", "output": "r"},
    {"type": "local_shell_call_output", "id": "c", "output": "r"},
    {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "r", "stderr": ""}]},
    {"type": "item_reference", "id": "x"},
    {"id": "x"},
    {"type": "compaction", "encrypted_content": "gAAA"},
    {"type": "mcp_approval_response", "approval_request_id": "x", "approve": True},
    {"type": "x_future", "payload": "p", "content": []},
    {"role": "assistant", "content": None},
]


@pytest.mark.parametrize("item", ITEMS, ids=range(len(ITEMS)))
def test_an_untouched_item_is_passed_on_as_the_very_object(item: dict[str, Any]) -> None:
    assert codec.encode([codec.decode(item)])[0] is item


def test_calls_that_the_client_answers_are_tool_calls() -> None:
    assert codec.decode(FUNCTION).calls == (
        ToolCall(id="c", name="f", input={}, arguments="{bad", wire=FUNCTION),
    )
    assert codec.decode(CUSTOM).calls == (
        ToolCall(id="c", name="patch", input={"input": "*** Begin"}, wire=CUSTOM),
    )
    (shell,) = codec.decode(SHELL).calls
    assert (shell.name, shell.input) == ("local_shell", SHELL["action"])


def test_what_the_provider_ran_itself_asks_for_no_result() -> None:
    message = codec.decode(SEARCH)
    assert message.role == "assistant"
    assert message.calls == ()
    assert message.blocks == (Opaque(kind="web_search_call", text="q", wire=SEARCH),)


def test_reasoning_is_bound_to_what_follows_it() -> None:
    (thought,) = codec.decode(REASONING).blocks
    assert isinstance(thought, Thinking)
    assert thought.text == "I think"
    assert thought.bound
    (by_id,) = codec.decode({"type": "reasoning", "id": "rs_2", "summary": []}).blocks
    assert isinstance(by_id, Thinking)
    assert by_id.bound


@pytest.mark.parametrize("item", ITEMS[9:14], ids=range(5))
def test_every_kind_of_output_is_a_result(item: dict[str, Any]) -> None:
    message = codec.decode(item)
    assert (message.role, message.origin) == ("tool", Origin.TOOL)
    (answer,) = message.results
    assert answer.call_id == "c"
    assert "r" in [block.text for block in answer.content if isinstance(block, Text | Opaque)]


def test_parts_are_read_with_their_meaning() -> None:
    image, file, stored = codec.decode(ITEMS[3]).blocks
    assert isinstance(image, Media)
    assert (image.media_type, image.content) == ("image/png", "QUJD")
    assert isinstance(file, Media)
    assert (file.kind, file.url) == ("document", "https://h/d.pdf")
    assert stored == Media(kind="image", wire=ITEMS[3]["content"][2])


@pytest.mark.parametrize(
    ("item", "edited", "key", "value"),
    [
        (FUNCTION, ToolCall(id="c", name="f", input={"p": 1}), "arguments", '{"p":1}'),
        (CUSTOM, ToolCall(id="c", name="patch", input={"input": "cut"}), "input", "cut"),
        (SHELL, ToolCall(id="c", name="local_shell", input={"cut": 1}), "action", {"cut": 1}),
        (ITEMS[9], result("c", "cut"), "output", "cut"),
        (ITEMS[12], result("c", "cut"), "output", "cut"),
    ],
    ids=["function", "custom", "shell", "output", "shell output"],
)
def test_an_edited_item_keeps_its_kind_and_other_keys(
    item: dict[str, Any], edited: Any, key: str, value: Any
) -> None:
    out = codec.encode([codec.decode(item).with_blocks([edited])])
    assert out == [{**item, key: value}]


def test_an_edited_message_item_keeps_envelope_and_untouched_parts() -> None:
    message = codec.decode(ITEMS[2])
    (out,) = codec.encode([message.with_blocks([Text(text="cut"), message.blocks[1]])])
    assert {**out, "content": None} == {**ITEMS[2], "content": None}
    assert out["content"][0] == {"type": "output_text", "text": "cut"}
    assert out["content"][1] is ITEMS[2]["content"][1]
    easy = codec.decode(ITEMS[0])
    assert codec.encode([easy.with_blocks([Text(text="cut")])]) == [
        {"role": "user", "content": "cut"}
    ]


def test_an_assistant_message_becomes_items_in_the_order_of_its_blocks() -> None:
    message = Message(
        role="assistant",
        origin=Origin.ASSISTANT,
        blocks=(
            Thinking(text="dropped"),
            Text(text="first"),
            call("f", {"p": 1}, id="a"),
            Text(text="then"),
            call("g", id="b"),
        ),
    )
    answer = ToolResult(
        call_id="a",
        content=(Text(text="see"), Media(kind="image", url="https://h/a.png")),
        is_error=True,
        plain=False,
    )
    out = codec.encode([user("go"), message, results(answer, result("b", "B"))])
    assert out == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "first"}],
        },
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"p":1}'},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "then"}],
        },
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [
                {"type": "input_text", "text": "[tool error]"},
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "detail": "auto", "image_url": "https://h/a.png"},
            ],
        },
        {"type": "function_call_output", "call_id": "b", "output": "B"},
    ]
    assert codec.decode(out[5]).results[0].is_error


def test_words_beside_results_follow_them() -> None:
    wire = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "r"},
            {"type": "text", "text": "hurry"},
        ],
    }
    out = codec.encode_one(AnthropicCodec().decode(wire))
    assert [item["type"] for item in out] == ["function_call_output", "message"]
    assert out[1]["role"] == "user"


def test_items_of_one_step_become_one_turn_elsewhere() -> None:
    items = [
        REASONING,
        {"role": "assistant", "content": "both"},
        FUNCTION,
        CUSTOM | {"call_id": "d"},
    ]
    items += [{"type": "function_call_output", "call_id": i, "output": i} for i in ("d", "c")]
    asked, answered = AnthropicCodec().encode([codec.decode(item) for item in items])
    assert [block["type"] for block in asked["content"]] == ["text", "tool_use", "tool_use"]
    assert [block["content"] for block in answered["content"]] == ["c", "d"]


def test_overlong_ids_of_another_provider_are_made_fit() -> None:
    long = "x" * 200
    calls = Message(
        role="assistant",
        blocks=(call("f", id=long),),
        origin=Origin.ASSISTANT,
        format="openai-chat",
    )
    asked, _, answered = codec.encode([calls, user("wait"), results(result(long, "r"))])
    assert len(asked["call_id"]) == 64
    assert answered["call_id"] == asked["call_id"]


def test_nothing_to_say_is_no_item() -> None:
    assert codec.encode([assistant(""), user("")]) == []
