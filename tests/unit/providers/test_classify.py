"""What a provider's answer is taken for, over every wording we know and shapes nobody has sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.providers.classify import Answer, Classified, Kind, Reaction, classify, is_vague
from wayfare.providers.refusals import TABLE

DATA = Path(__file__).parents[2] / "data"
HANDED: list[dict[str, Any]] = json.loads((DATA / "provider-errors.json").read_text("utf-8"))[
    "errors"
]
FOUND: list[dict[str, Any]] = json.loads((DATA / "provider-wordings.json").read_text("utf-8"))[
    "rows"
]
QUOTED = (
    "The log says: prompt is too long: 210000 tokens > 200000 maximum; context_length_exceeded; "
    "429 rate limit exceeded; insufficient_quota"
)


def as_answer(row: dict[str, Any], **changes: Any) -> Answer:
    """The answer of a row of our own table, with its sizes."""
    values: dict[str, Any] = {
        "status": row["status"],
        "body": row["body"],
        "streamed": row.get("streamed", False),
        "request_tokens": row.get("request"),
        "window_tokens": row.get("window"),
        "reserve_tokens": row.get("reserve"),
    }
    return Answer(**(values | changes))


def by_id(rows: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


class TestHandedErrors:
    """The 62 bodies of provider-errors.json."""

    @by_id(HANDED)
    def test_reaction_is_acceptable_and_never_forbidden(self, row: dict[str, Any]) -> None:
        window = row["limit"] or 200_000
        for share in (None, 0.01, 0.95):  # size unknown, small, near the window
            asked = None if share is None else int(share * window)
            found = classify(
                Answer(
                    status=row["status"],
                    body=row["body"],
                    request_tokens=asked,
                    window_tokens=window if "usage" in str(row["body"]) or asked else None,
                )
            )
            acceptable = set(row["acceptable"])
            if "compact_if_near_limit" in acceptable and share == 0.95:
                acceptable.add("compact")
            assert found.reaction.value in acceptable
            assert found.reaction.value not in row["forbidden"]

    @by_id([row for row in HANDED if row["class"].startswith(("overflow", "too_big"))])
    def test_limit_and_input_are_read_from_the_text(self, row: dict[str, Any]) -> None:
        found = classify(Answer(status=row["status"], body=row["body"]))
        assert found.limit_tokens == row["limit"]
        assert found.sent_tokens == row["actual"]

    def test_count(self) -> None:
        right = sum(
            found.reaction.value in row["acceptable"]
            and found.reaction.value not in row["forbidden"]
            for row in HANDED
            if (found := classify(Answer(status=row["status"], body=row["body"])))
        )
        print(f"{right} of {len(HANDED)} handed bodies, {len(FOUND)} more wordings of our own")
        assert right == len(HANDED) == 62


class TestFoundWordings:
    """Wordings from public reports, each with its source, and look-alikes of our own."""

    @by_id(FOUND)
    def test_reaction_and_numbers(self, row: dict[str, Any]) -> None:
        found = classify(as_answer(row))
        assert found.reaction.value in row["acceptable"]
        read = {
            "limit": found.limit_tokens,
            "sent": found.sent_tokens,
            "room": found.output_limit_tokens,
            "cap": found.output_limit_tokens,
            "wait": found.retry_after_seconds,
        }
        assert {key: read[key] for key in read if key in row} == {
            key: row[key] for key in read if key in row
        }

    def test_every_row_has_a_source(self) -> None:
        assert all(row["source"].startswith(("https://", "own")) for row in FOUND)


def said(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


WRAPPINGS: dict[str, Callable[[int | None, Any], tuple[int | None, Any]]] = {
    "bytes": lambda status, body: (status, said(body).encode()),
    "json text": lambda status, body: (status, said(body)),
    "text of an SDK's exception": lambda status, body: (
        status,
        f"Error code: {status or 400} - {body!r}",
    ),
    "body of an SDK's exception": lambda status, body: (
        status,
        body["error"] if isinstance(body, dict) and isinstance(body.get("error"), dict) else body,
    ),
    "json in a string": lambda status, body: (
        status,
        {"error": {"message": said(body), "code": status or 400, "status": "Bad Request"}},
    ),
    "json in three strings": lambda status, body: (
        status,
        {"error": {"message": json.dumps({"error": json.dumps({"message": said(body)})})}},
    ),
    "array": lambda status, body: (status, body if isinstance(body, list) else [{"error": body}]),
    "detail": lambda status, body: (status, {"detail": said(body)}),
    "aggregator": lambda status, body: (
        status,
        {
            "error": {
                "message": "Provider returned error",
                "code": status or 400,
                "metadata": {"raw": said(body), "provider_name": "Upstream"},
            }
        },
    ),
    "proxy": lambda status, body: (
        status,
        f"litellm.BadRequestError: OpenAIException - {said(body)}. Received Model Group=m\n"
        "Available Model Group Fallbacks=None",
    ),
    "server error of a gateway": lambda status, body: (
        500,
        {
            "error": {
                "message": f"upstream status {status}: {said(body)}" if status else said(body),
                "type": "server_error",
                "code": 500,
            }
        },
    ),
    "no status": lambda status, body: (None, f"{status} {said(body)}" if status else said(body)),
}
WRAPPED = [
    row
    for row in (
        *({**row, "sent": row["actual"]} for row in HANDED),
        *FOUND,
    )
    if row["status"] != 200
    and row["body"] is not None
    and "<html" not in str(row["body"]).lower()
    and "(no body)" not in str(row["body"])
]


class TestWrappings:
    """A wrapped refusal is the refusal that was wrapped."""

    @pytest.mark.parametrize("wrapping", WRAPPINGS)
    def test_wrapping_changes_nothing(self, wrapping: str) -> None:
        wrong: dict[str, str] = {}
        for row in WRAPPED:
            status, body = WRAPPINGS[wrapping](row["status"], row["body"])
            found = classify(as_answer(row, status=status, body=body))
            if found.reaction.value not in row["acceptable"]:
                wrong[row["id"]] = found.rule
        assert len(WRAPPED) > 280
        assert not wrong

    def test_error_event_of_a_stream_that_began_well(self) -> None:
        wrong: dict[str, str] = {}
        for row in WRAPPED:
            error = row["body"] if isinstance(row["body"], dict) else {"message": said(row["body"])}
            events = (
                'event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'
                f"event: error\ndata: {json.dumps({'type': 'error', 'error': error})}\n\n"
            )
            found = classify(as_answer(row, status=200, body=events, streamed=True))
            if found.reaction.value not in row["acceptable"]:
                wrong[row["id"]] = found.rule
        # a stream has no status, and this body had no other reason than its status
        assert set(wrong) == {"openrouter-413"}


GOOD_REPLIES = {
    "openai chat": {
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": QUOTED}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    },
    "openai responses": {
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": QUOTED}]}],
        "usage": {"input_tokens": 5, "output_tokens": 6},
    },
    "anthropic": {
        "type": "message",
        "content": [{"type": "text", "text": QUOTED}],
        "stop_reason": "end_turn",
    },
    "anthropic tool call": {
        "type": "message",
        "content": [{"type": "tool_use", "id": "a", "name": "sh", "input": {"error": QUOTED}}],
        "stop_reason": "tool_use",
    },
    "gemini": {"candidates": [{"content": {"parts": [{"text": QUOTED}]}, "finishReason": "STOP"}]},
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": QUOTED}]}},
        "stopReason": "end_turn",
    },
    "ollama": {"message": {"role": "assistant", "content": QUOTED}, "done": True},
    "cohere": {"text": QUOTED, "finish_reason": "COMPLETE"},
}


class TestGoodReplies:
    """Only the transport's error is classified, never what a reply says."""

    @pytest.mark.parametrize("shape", GOOD_REPLIES)
    def test_words_of_a_reply_are_not_judged(self, shape: str) -> None:
        body = GOOD_REPLIES[shape]
        for given_body in (body, json.dumps(body), json.dumps(body).encode()):
            assert classify(Answer(status=200, body=given_body)).kind is Kind.OK

    def test_streamed_reply(self) -> None:
        events = "".join(
            f"data: {json.dumps(event)}\n\n"
            for event in (
                {"choices": [{"delta": {"content": QUOTED}}]},
                {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            )
        )
        found = classify(Answer(status=200, body=events + "data: [DONE]\n\n", streamed=True))
        assert found.reaction is Reaction.ACCEPT

    def test_text_with_a_stop_reason_is_a_reply(self) -> None:
        for status in (200, None):
            found = classify(Answer(status=status, body=QUOTED, stop_reason="end_turn"))
            assert found.kind is Kind.OK

    def test_anthropic_stream_counts_the_output_of_its_last_event(self) -> None:
        events = "".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            for event in (
                {
                    "type": "message_start",
                    "message": {
                        "usage": {
                            "input_tokens": 20,
                            "cache_read_input_tokens": 195_000,
                            "output_tokens": 1,
                        }
                    },
                },
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "max_tokens"},
                    "usage": {"output_tokens": 4_900},
                },
            )
        )
        found = classify(Answer(status=200, body=events, streamed=True, window_tokens=200_000))
        assert found.kind is Kind.SILENT_OVERFLOW
        assert found.sent_tokens == 195_020

    @given(text=st.text(), status=st.sampled_from([200, 201]))
    def test_no_text_of_a_reply_is_an_error(self, text: str, status: int) -> None:
        body = {"choices": [{"finish_reason": "stop", "message": {"content": text + QUOTED}}]}
        assert classify(Answer(status=status, body=body)).kind is Kind.OK


class TestUnreadable:
    @pytest.mark.parametrize(
        ("answer", "reaction"),
        [
            (Answer(status=200, body='{"choices":[{"finish_rea'), Reaction.RETRY_SAME),
            (Answer(status=200, body='data: {"choi', streamed=True), Reaction.RETRY_SAME),
            (
                Answer(
                    status=200,
                    body='data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"cho',
                    streamed=True,
                ),
                Reaction.RETRY_SAME,
            ),
            (Answer(status=200, body=""), Reaction.RETRY_SAME),
            (Answer(status=200, body=b""), Reaction.RETRY_SAME),
            (Answer(status=200, body="<html><body>Sign in</body></html>"), Reaction.FAIL_CLEARLY),
            (Answer(status=None, body=None), Reaction.WAIT_AND_RETRY),
            (Answer(status=500, body=b"\xff\xfe\x00"), Reaction.WAIT_AND_RETRY),
            (Answer(status=400, body=b"\xff prompt is too long \xfe"), Reaction.COMPACT),
        ],
    )
    def test_garbage(self, answer: Answer, reaction: Reaction) -> None:
        assert classify(answer).reaction is reaction

    @settings(max_examples=200)
    @given(
        body=st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text()
            | st.binary()
            | st.sampled_from(
                [QUOTED, '{"error": {"message": "prompt is too long"}}', "data: {", "{'"]
            ),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=12,
        ),
        status=st.none() | st.integers(100, 599),
        streamed=st.booleans(),
    )
    def test_never_raises(self, body: object, status: int | None, streamed: bool) -> None:
        found = classify(Answer(status=status, body=body, streamed=streamed))
        assert isinstance(found, Classified)

    @pytest.mark.parametrize("unit", ["{", "[", "{'a': '", "123,456,", "max ", "data: {\n", "\\"])
    def test_huge_bodies_are_cut(self, unit: str) -> None:
        found = classify(Answer(status=400, body=unit * 200_000))
        assert len(found.message) <= 300


COMPACT, OUTPUT, WAIT = Reaction.COMPACT, Reaction.LOWER_OUTPUT, Reaction.WAIT_AND_RETRY
FAIL, REPAIR = Reaction.FAIL_CLEARLY, Reaction.REPAIR_REQUEST
UNSEEN: list[tuple[set[Reaction], int | None, Any]] = [
    ({COMPACT}, 400, "Your request is 142,000 tokens but the model only supports 128,000 tokens"),
    ({COMPACT}, 400, "Context limit exceeded: 131,072 tokens max, 140,000 given"),
    ({COMPACT}, 400, "The number of tokens in the prompt exceeds the model's limit"),
    ({COMPACT}, 400, "This model does not support prompts longer than 32768 tokens"),
    ({COMPACT}, 400, "Sequence length 70000 is longer than the maximum 65536"),
    ({COMPACT}, 400, "Requested 210000 tokens, max 200000"),
    ({COMPACT}, 400, "Request has 10000 input tokens; limit 8192"),
    ({COMPACT}, 400, "Input length of input_ids is 2084, but `max_length` is set to 2048."),
    ({COMPACT}, 400, "Please ensure the prompt is under 200000 tokens"),
    ({COMPACT}, 500, {"error": "context window full (n_ctx=4096, n_prompt=5000)"}),
    ({COMPACT}, 400, "输入 token 数量超过了模型的上下文窗口"),
    ({COMPACT}, 400, "请求失败：输入内容太长，最多支持 8192 个 token"),
    ({COMPACT}, 400, "对话长度超出模型限制，请新建对话"),
    ({COMPACT}, 400, "El mensaje excede la longitud máxima del contexto (8192 tokens)"),
    ({COMPACT}, 400, "Der Prompt überschreitet die maximale Kontextlänge von 8192 Token"),
    ({COMPACT}, 400, "モデルの最大コンテキスト長を超えています"),
    ({OUTPUT}, 400, "max_tokens (32000) exceeds the model's maximum output of 8192"),
    ({OUTPUT}, 400, "max_completion_tokens must be <= 16384"),
    ({OUTPUT}, 400, "This model's maximum output tokens is 4096, you asked for 10000"),
    ({OUTPUT}, 400, "Invalid value for 'max_tokens': 100000. Maximum allowed is 16384."),
    (
        {OUTPUT},
        422,
        {
            "detail": [
                {
                    "type": "less_than_equal",
                    "loc": ["body", "max_tokens"],
                    "msg": "Input should be less than or equal to 8192",
                    "input": 100_000,
                }
            ]
        },
    ),
    ({WAIT}, 429, "Concurrency limit exceeded, too many tokens in flight"),
    ({WAIT}, 429, "You've exceeded your tokens per minute limit of 90000. Slow down."),
    ({WAIT}, 502, "upstream prematurely closed connection"),
    ({WAIT}, None, "httpx.ReadTimeout"),
    ({WAIT, FAIL}, None, "request 812345 took longer than the limit of 600000 ms"),
    ({FAIL}, 400, "api version 2024-08-01 knows no context of model gpt-4-0613 over 12000"),
    ({FAIL}, 404, "404 page not found"),
    ({FAIL}, 401, ""),
    ({FAIL}, 400, "temperature must be between 0 and 2"),
    ({FAIL}, 400, "Invalid token in Authorization header"),
    ({FAIL, REPAIR}, 400, "messages: at least one message is required"),
    (
        {FAIL, REPAIR},
        400,
        "The number of toolResult blocks at messages.2.content exceeds the number of toolUse "
        "blocks of previous turn.",
    ),
    ({FAIL, REPAIR}, 400, "Function name exceeds the maximum length of 64"),
    ({FAIL, REPAIR}, 400, "The audio file is too long"),
    ({FAIL, REPAIR}, 400, "image_url exceeds maximum size of 20MB"),
    ({FAIL, REPAIR}, 400, "Request has too many tools: 200, maximum 128"),
    ({FAIL, REPAIR}, 400, "The `context` field is too long"),
    ({FAIL, REPAIR}, 400, "logit_bias exceeds limit of 300 tokens"),
]


class TestUnseenWordings:
    """Wordings no row was written for: the shared words and the numbers must do."""

    @pytest.mark.parametrize(("reactions", "status", "body"), UNSEEN)
    def test_reaction(self, reactions: set[Reaction], status: int | None, body: Any) -> None:
        near = {"request_tokens": 10_000, "window_tokens": 200_000}
        assert classify(Answer(status=status, body=body, **near)).reaction in reactions


class TestSizesDecide:
    def test_refusal_without_reason_near_and_far_from_the_window(self) -> None:
        for body in (None, "", {}, "400 status code (no body)", "<html>400 Bad Request</html>"):
            near = Answer(status=400, body=body, request_tokens=80_000, window_tokens=100_000)
            far = Answer(status=400, body=body, request_tokens=79_999, window_tokens=100_000)
            assert classify(near).reaction is COMPACT
            assert classify(far).reaction is FAIL

    def test_a_reason_is_believed_whatever_the_size(self) -> None:
        body = {"error": {"message": "The model `x` does not exist"}}
        answer = Answer(status=400, body=body, request_tokens=99_000, window_tokens=100_000)
        assert classify(answer).reaction is FAIL

    @pytest.mark.parametrize(
        ("sent", "reserve", "reaction", "room"),
        [
            (50_000, 60_000, OUTPUT, 50_000),
            (95_000, 6_000, OUTPUT, 5_000),
            (97_000, 6_000, COMPACT, None),
            (100_000, 1_000, COMPACT, None),
            (120_000, 1_000, COMPACT, None),
        ],
    )
    def test_output_is_lowered_only_where_room_is_left(
        self, sent: int, reserve: int, reaction: Reaction, room: int | None
    ) -> None:
        body = (
            "This model's maximum context length is 100000 tokens. However, you requested "
            f"{sent + reserve} tokens ({sent} in the messages, {reserve} in the completion)."
        )
        found = classify(Answer(status=400, body=body))
        assert (found.reaction, found.output_limit_tokens) == (reaction, room)

    def test_overshoot_is_no_limit(self) -> None:
        body = "prompt too long; exceeded max context length by 100918 tokens"
        found = classify(Answer(status=400, body=body, window_tokens=32_768))
        assert found.limit_tokens is None
        assert found.sent_tokens == 32_768 + 100_918


class TestMinuteCap:
    def message(self, requested: int) -> str:
        return f"tokens per minute (TPM): Limit 6000, Used 5000, Requested {requested}."

    @pytest.mark.parametrize(("requested", "reaction"), [(6_000, WAIT), (6_001, COMPACT)])
    def test_waiting_cures_used_plus_requested_only(
        self, requested: int, reaction: Reaction
    ) -> None:
        found = classify(Answer(status=429, body=self.message(requested)))
        assert found.reaction is reaction

    def test_cap_of_requests_is_no_cap_of_tokens(self) -> None:
        body = (
            "You exceeded your current quota.\n* Quota exceeded for metric: free_tier_requests, "
            "limit: 10\n* Quota exceeded for metric: input_token_count, limit: 250000\n"
            "Please retry in 12s."
        )
        found = classify(Answer(status=429, body=body, request_tokens=90_000))
        assert (found.reaction, found.retry_after_seconds) == (WAIT, 12.0)
        above = classify(Answer(status=429, body=body, request_tokens=260_000))
        assert (above.reaction, above.limit_tokens) == (COMPACT, 250_000)

    def test_cap_in_a_header(self) -> None:
        headers = {"Anthropic-RateLimit-Input-Tokens-Limit": "40000"}
        body = {"error": {"type": "rate_limit_error", "message": "exceeds your rate limit"}}
        for asked, reaction in ((30_000, WAIT), (50_000, COMPACT)):
            answer = Answer(status=429, body=body, headers=headers, request_tokens=asked)
            assert classify(answer).reaction is reaction

    def test_daily_allowance_waits_only_when_told_to(self) -> None:
        used_up = "request reached organization TPD rate limit, current: 1506556, limit: 1500000"
        assert classify(Answer(status=429, body=used_up)).reaction is FAIL
        assert classify(Answer(status=429, body=used_up + ". Try again in 2h")).reaction is WAIT


class TestWaits:
    @pytest.mark.parametrize(
        ("headers", "body", "seconds"),
        [
            ({"Retry-After": "7"}, "slow down", 7.0),
            ({"retry-after-ms": "1500", "retry-after": "2"}, "slow down", 1.5),
            (
                {
                    "Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT",
                    "Date": "Wed, 21 Oct 2026 07:28:00 GMT",
                },
                "slow down",
                30.0,
            ),
            ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"}, "slow down", None),
            ({"Retry-After": "soon"}, "slow down", None),
            ({"x-ratelimit-reset-tokens": "6m0s"}, "slow down", 360.0),
            ({}, "Please try again in 4.77s.", 4.77),
            ({}, "Please try again in 250ms.", 0.25),
            ({}, "Please try again in 1h2m3s.", 3_723.0),
            ({}, "Please retry after 33 seconds.", 33.0),
            ({}, "请在 30 秒后重试，请求过于频繁", 30.0),
            ({}, {"error": {"message": "busy", "details": [{"retryDelay": "17s"}]}}, 17.0),
            ({}, {"error": {"message": "busy", "resets_in_seconds": 90}}, 90.0),
            ({}, "Too many requests", None),
        ],
    )
    def test_read_from_headers_fields_and_words(
        self, headers: dict[str, str], body: Any, seconds: float | None
    ) -> None:
        found = classify(Answer(status=429, body=body, headers=headers))
        assert found.reaction is WAIT
        assert found.retry_after_seconds == seconds


class TestMessage:
    def test_keys_are_masked(self) -> None:
        body = "Incorrect API key provided: sk-proj-abcdefgh12345678. Bearer abc.def-12345678"
        message = classify(Answer(status=401, body=body)).message
        assert "abcdefgh" not in message
        assert "12345678" not in message

    def test_innermost_reason_is_told(self) -> None:
        body = {"error": {"message": "Provider returned error", "metadata": {"raw": "too hot"}}}
        assert classify(Answer(status=400, body=body)).message == "too hot"


class TestTable:
    def test_names_are_unique_and_sources_are_addresses(self) -> None:
        names = [row.name for row in TABLE]
        assert len(names) == len(set(names))
        assert all(row.source == "general" or row.source.startswith("https://") for row in TABLE)

    def test_a_plain_text_without_trouble_fits_no_row(self) -> None:
        assert not [row.name for row in TABLE if row.fits("The weather is fine today", ())]

    @pytest.mark.parametrize(
        ("text", "vague"),
        [
            ("", True),
            ("Error code: 400 - Bad Request", True),
            ("Provider returned error", True),
            ("Bad Request: temperature", False),
            ("Request blocked by policy", False),
        ],
    )
    def test_vague(self, text: str, vague: bool) -> None:
        assert is_vague(text) is vague
