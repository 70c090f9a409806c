"""Anthropic events put together: signed and unknown blocks come through whole."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.model import Usage
from wayfare.providers.anthropic_stream import AnthropicAssembly
from wayfare.providers.errors_from import Garbled

USAGE = {
    "input_tokens": 5,
    "cache_read_input_tokens": 90,
    "cache_creation_input_tokens": 7,
    "output_tokens": 1,
}


def start(**more: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"model": "claude", "usage": USAGE, **more}}


def block(index: int, begun: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def stop(reason: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def assembled(*events: Any) -> AnthropicAssembly:
    assembly = AnthropicAssembly(None)
    for event in events:
        for one in event if isinstance(event, list) else [event]:
            assembly.take(one)
    return assembly


def content(*blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return assembled(start(), *blocks, *stop()).content()


def test_thinking_keeps_its_signature() -> None:
    assert content(
        block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Let me "},
            {"type": "thinking_delta", "thinking": "see."},
            {"type": "signature_delta", "signature": "c2ln"},
        )
    ) == [{"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}]


def test_thinking_whose_text_is_omitted_is_kept_for_its_signature() -> None:
    assert content(
        block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "signature_delta", "signature": "c2ln"},
        )
    ) == [{"type": "thinking", "thinking": "", "signature": "c2ln"}]


@pytest.mark.parametrize(
    "whole",
    [
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "compaction", "content": "so far …", "signature": "c2ln", "tool_changes": []},
        {"type": "a_kind_of_next_year", "payload": {"x": [1, None, "漢"]}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]},
    ],
    ids=lambda whole: whole["type"],
)
def test_blocks_that_come_whole_pass_untouched(whole: dict[str, Any]) -> None:
    assert content(block(0, whole)) == [whole]


def test_a_compaction_block_that_streams_in_is_kept_verbatim() -> None:
    assert content(
        block(
            0,
            {"type": "compaction", "content": None},
            {"type": "compaction_delta", "content": "so far", "encrypted_content": "ZW5j"},
        )
    ) == [{"type": "compaction", "content": "so far", "encrypted_content": "ZW5j"}]


def test_citations_are_gathered() -> None:
    made = content(
        block(
            0,
            {"type": "text", "text": "", "citations": None},
            {"type": "text_delta", "text": "It says so."},
            {"type": "citations_delta", "citation": {"type": "page_location", "page": 1}},
            {"type": "citations_delta", "citation": {"type": "page_location", "page": 2}},
        )
    )
    assert made[0]["text"] == "It says so."
    assert [c["page"] for c in made[0]["citations"]] == [1, 2]


def test_empty_texts_are_left_out_because_they_could_not_go_back() -> None:
    assert content(
        block(0, {"type": "text", "text": ""}),
        block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": " \n"}),
        block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "said"}),
    ) == [{"type": "text", "text": "said"}]


@pytest.mark.parametrize(
    ("pieces", "made"),
    [
        (['{"path":', ' "a.py"}'], {"path": "a.py"}),
        ([""], {}),
        ([], {}),
        (['{"path": "a.p'], {"arguments": '{"path": "a.p'}),
        (["[1, 2]"], {"arguments": "[1, 2]"}),
    ],
)
def test_arguments_become_an_input_that_is_always_an_object(
    pieces: list[str], made: dict[str, Any]
) -> None:
    begun = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    assert content(block(0, begun, *deltas))[0]["input"] == made


def test_counts_told_later_replace_and_those_not_told_again_stay() -> None:
    end = stop(output_tokens=44)
    end[0]["usage"]["cache_read_input_tokens"] = None
    told = assembled(start(), *end).usage
    assert told == Usage(
        input_tokens=5, cache_read_tokens=90, cache_write_tokens=7, output_tokens=44
    )


def test_a_reply_in_one_piece_is_taken_too() -> None:
    assembly = AnthropicAssembly(None)
    call = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}
    assembly.take_whole(
        {
            "type": "message",
            "model": "claude",
            "stop_reason": "tool_use",
            "usage": USAGE,
            "content": [{"type": "text", "text": "hi"}, call],
        }
    )
    assert assembly.content() == [{"type": "text", "text": "hi"}, call]
    assert assembly.stop_reason == "tool_use"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [start()],
        [start(), *block(0, {"type": "text", "text": "half"})],
        stop(),
    ],
    ids=["nothing", "no block", "no end", "no beginning"],
)
def test_a_stream_without_beginning_or_end_is_garbled(events: list[dict[str, Any]]) -> None:
    with pytest.raises(Garbled):
        assembled(*events).content()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": "0", "delta": {}},
        {"type": "content_block_start", "index": 0},
        {"type": "message_start"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"message": "a proxy's"}},
    ],
)
def test_events_that_make_no_sense_are_garbled(event: dict[str, Any]) -> None:
    with pytest.raises(Garbled):
        assembled(start(), event)


def test_events_of_next_year_are_passed_over() -> None:
    news = {"type": "a_kind_of_next_year", "index": 0}
    text = {"type": "text", "text": "said"}
    assert assembled(start(), news, *block(0, text), *stop()).content() == [text]
