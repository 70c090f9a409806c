"""Chunks of chat endpoints put together, as differently as servers cut them."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.model import Usage
from wayfare.providers.errors_from import Garbled
from wayfare.providers.openai_chat_stream import ChatAssembly


def chunk(delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def piece(arguments: Any = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    function = {
        key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None
    }
    return chunk({"tool_calls": [{"function": function, **more}]})


class Told:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def text(self, piece: str) -> None:
        self.heard.append(f"text {piece}")

    def thinking(self, piece: str) -> None:
        self.heard.append(f"thinking {piece}")

    def call(self, name: str) -> None:
        self.heard.append(f"call {name}")


def assembled(*events: Any, told: Told | None = None) -> ChatAssembly:
    numbers = iter(range(100))
    assembly = ChatAssembly(told, lambda: f"made_{next(numbers)}")
    for event in events:
        assembly.take(event)
    return assembly


def calls(*events: Any) -> list[tuple[str, str, str]]:
    message = assembled(*events, chunk({}, "tool_calls")).message()
    return [
        (c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in message.get("tool_calls", ())
    ]


class TestCalls:
    def test_cut_the_way_openai_cuts_them(self) -> None:
        assert calls(
            piece("", "read", index=0, id="c0"),
            piece('{"a"', index=0),
            piece("", "list", index=1, id="c1"),
            piece(":1}", index=0),
            piece("{}", index=1),
        ) == [("c0", "read", '{"a":1}'), ("c1", "list", "{}")]

    def test_all_at_index_0_with_ids_of_their_own(self) -> None:
        assert calls(
            piece('{"a":1}', "read", index=0, id="c0"), piece('{"b":2}', "read", index=0, id="c1")
        ) == [("c0", "read", '{"a":1}'), ("c1", "read", '{"b":2}')]

    def test_without_any_index(self) -> None:
        assert calls(
            piece('{"a"', "read", id="c0"),
            piece(":1}"),
            piece('{"b":2}', "list", id="c1"),
            piece("", id="c0"),
        ) == [("c0", "read", '{"a":1}'), ("c1", "list", '{"b":2}')]

    def test_with_the_name_repeated_in_every_piece(self) -> None:
        assert calls(
            piece('{"a"', "read", index=0, id="c0"), piece(":1}", "read", index=0, id="c0")
        ) == [("c0", "read", '{"a":1}')]

    def test_without_an_id_get_one(self) -> None:
        assert calls(piece("{}", "read", index=0), piece("{}", "list", index=1)) == [
            ("made_0", "read", "{}"),
            ("made_1", "list", "{}"),
        ]

    def test_with_arguments_as_an_object(self) -> None:
        assert calls(piece({"a": 1}, "read", index=0, id="c")) == [("c", "read", '{"a":1}')]

    def test_without_arguments_have_an_empty_object(self) -> None:
        assert calls(piece(None, "read", index=0, id="c")) == [("c", "read", "{}")]

    def test_keep_what_else_stands_in_them(self) -> None:
        signed = {"google": {"thought_signature": "c2ln"}}
        made = assembled(
            piece("{}", "read", index=0, id="c", extra_content=signed), chunk({}, "tool_calls")
        ).message()
        assert made["tool_calls"][0]["extra_content"] == signed

    def test_are_told_once_by_name(self) -> None:
        told = Told()
        assembled(piece("", "read", index=0, id="c"), piece("{}", "read", index=0), told=told)
        assert told.heard == ["call read"]


class TestTextAndThinking:
    @pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
    def test_thinking_stays_under_the_name_it_came_by(self, key: str) -> None:
        told = Told()
        message = assembled(
            chunk({"role": "assistant", "content": None}),
            chunk({key: "hm, "}),
            chunk({key: "so"}),
            chunk({"content": "Yes."}),
            chunk({}, "stop"),
            told=told,
        ).message()
        assert message == {"role": "assistant", "content": "Yes.", key: "hm, so"}
        assert told.heard == ["thinking hm, ", "thinking so", "text Yes."]

    def test_thinking_sent_under_two_names_is_told_once(self) -> None:
        told = Told()
        both = {"reasoning": "hm", "reasoning_content": "hm"}
        message = assembled(chunk(both), chunk({"content": "x"}, "stop"), told=told).message()
        assert told.heard == ["thinking hm", "text x"]
        assert ("reasoning" in message) != ("reasoning_content" in message)

    def test_structured_reasoning_is_joined_by_entry(self) -> None:
        def detail(**fields: Any) -> Any:
            return chunk({"reasoning_details": [fields]})

        message = assembled(
            detail(type="reasoning.text", index=0, text="one "),
            detail(type="reasoning.text", index=0, text="two"),
            detail(type="reasoning.text", index=0, signature="c2ln"),
            detail(type="reasoning.encrypted", index=1, data="ZW5j"),
            chunk({"content": "x"}, "stop"),
        ).message()
        assert message["reasoning_details"] == [
            {"type": "reasoning.text", "index": 0, "text": "one two", "signature": "c2ln"},
            {"type": "reasoning.encrypted", "index": 1, "data": "ZW5j"},
        ]

    def test_content_in_parts_is_text(self) -> None:
        parts = [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]
        assert assembled(chunk({"content": parts}, "stop")).message()["content"] == "Yes."

    def test_other_choices_are_passed_over(self) -> None:
        second = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
        assert assembled(chunk({"content": "yes"}, "stop"), second).message()["content"] == "yes"


class TestUsage:
    @pytest.mark.parametrize(
        ("told", "usage"),
        [
            (
                {
                    "prompt_tokens": 100,
                    "completion_tokens": 7,
                    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                },
                Usage(
                    input_tokens=10, cache_read_tokens=60, cache_write_tokens=30, output_tokens=7
                ),
            ),
            (
                {"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 64},
                Usage(input_tokens=36, cache_read_tokens=64, output_tokens=7),
            ),
            (
                {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 50},
                Usage(input_tokens=50, cache_read_tokens=50, output_tokens=7),
            ),
            (
                {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}},
                Usage(cache_read_tokens=100),
            ),
            ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage()),
        ],
        ids=["openai", "deepseek", "moonshot", "more cached than sent", "nothing"],
    )
    def test_of_every_provider_adds_up(self, told: dict[str, Any], usage: Usage) -> None:
        made = assembled(chunk({"content": "x"}, "stop"), {"choices": [], "usage": told})
        assert made.usage == usage
        assert made.usage.prompt_tokens == (told["prompt_tokens"] or 0)


class TestEnds:
    @pytest.mark.parametrize(
        "events",
        [[], [chunk({"content": "half"})], [chunk({"role": "assistant"})]],
        ids=["nothing", "half", "only the role"],
    )
    def test_a_stream_without_an_end_is_garbled(self, events: list[Any]) -> None:
        with pytest.raises(Garbled):
            assembled(*events).message()

    def test_usage_is_an_end_for_servers_that_give_no_reason(self) -> None:
        made = assembled(chunk({"content": "x"}), {"choices": [], "usage": {"prompt_tokens": 3}})
        assert made.message()["content"] == "x"

    @pytest.mark.parametrize(
        "event",
        [
            {"error": {"message": "no", "code": 429}},
            {"choices": [{"index": 0, "delta": {}, "error": {"message": "no"}}]},
        ],
    )
    def test_an_error_in_the_stream_is_a_failure(self, event: Any) -> None:
        with pytest.raises(Garbled) as caught:
            assembled(chunk({"content": "so far"}), event)
        assert caught.value.failed

    def test_a_whole_completion_is_taken(self) -> None:
        assembly = ChatAssembly(None, lambda: "made")
        message = {"role": "assistant", "content": "hi", "reasoning_content": "hm"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        assembly.take_whole({"choices": [choice], "usage": {"prompt_tokens": 5}, "model": "m"})
        assert assembly.message() == message
        assert (assembly.model, assembly.usage.prompt_tokens) == ("m", 5)

    @pytest.mark.parametrize(
        "body",
        [{}, {"choices": []}, {"error": {"message": "no"}}, {"choices": [{"message": None}]}],
    )
    def test_a_body_that_is_no_completion_is_a_failure(self, body: Any) -> None:
        with pytest.raises(Garbled) as caught:
            ChatAssembly(None, lambda: "made").take_whole(body)
        assert caught.value.failed
