"""Events of the Responses endpoint put together."""

from __future__ import annotations

from typing import Any

import pytest

from wayfare.model import Usage
from wayfare.providers.errors_from import Garbled
from wayfare.providers.openai_responses_stream import ResponsesAssembly

MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "phase": "final",
    "content": [{"type": "output_text", "text": "Yes.", "annotations": []}],
}
REASONING = {"type": "reasoning", "id": "rs_1", "encrypted_content": "ZW5j", "summary": []}


def done(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item}


def end(kind: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"status": kind, **response}}


def assembled(*events: dict[str, Any]) -> ResponsesAssembly:
    assembly = ResponsesAssembly(None)
    for event in events:
        assembly.take(event)
    return assembly


def test_the_items_are_those_of_the_final_response() -> None:
    made = assembled(done(MESSAGE), end(output=[REASONING, MESSAGE], model="gpt"))
    assert made.output() == [REASONING, MESSAGE]
    assert made.model == "gpt"


def test_where_the_final_response_has_none_they_are_those_that_were_done() -> None:
    assert assembled(done(REASONING), done(MESSAGE), end(output=[])).output() == [
        REASONING,
        MESSAGE,
    ]


def test_cached_input_is_counted_apart() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 5},
        "output_tokens": 9,
    }
    assert assembled(end(output=[MESSAGE], usage=usage)).usage == Usage(
        input_tokens=15, cache_read_tokens=80, cache_write_tokens=5, output_tokens=9
    )


def test_an_incomplete_response_says_why() -> None:
    made = assembled(
        end("incomplete", output=[MESSAGE], incomplete_details={"reason": "max_output_tokens"})
    )
    assert (made.status, made.reason) == ("incomplete", "max_output_tokens")


@pytest.mark.parametrize(
    "events",
    [[], [done(MESSAGE)], [{"type": "response.created", "response": {}}]],
    ids=["nothing", "no end", "only a beginning"],
)
def test_a_stream_without_an_end_is_garbled(events: list[dict[str, Any]]) -> None:
    with pytest.raises(Garbled):
        assembled(*events).output()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "no"},
        {"type": "response.failed", "response": {"error": {"message": "no"}}},
        end(error={"code": "server_error", "message": "no"}),
    ],
    ids=["error", "failed", "completed with an error"],
)
def test_a_failure_is_one_and_keeps_its_words(event: dict[str, Any]) -> None:
    with pytest.raises(Garbled) as caught:
        assembled(event)
    assert caught.value.failed
    assert "no" in str(caught.value.body)


def test_a_whole_response_is_taken() -> None:
    assembly = ResponsesAssembly(None)
    assembly.take_whole({"status": "completed", "output": [MESSAGE], "model": "gpt"})
    assert assembly.output() == [MESSAGE]


def test_a_body_that_is_no_response_is_a_failure() -> None:
    with pytest.raises(Garbled):
        ResponsesAssembly(None).take_whole({"detail": "Not Found"})
