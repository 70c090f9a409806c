"""Every refusal that was handed to us, sent by a server and raised by the real SDKs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.wire.conversations import PLAIN, PROVIDERS, SCHEMA

from wayfare.errors import (
    EmptyReply,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.model import Request
from wayfare.providers.model_settings import ModelSettings
from wayfare.testing.acts import Says
from wayfare.testing.wire_server import Answered, WireServer

HANDED: list[dict[str, Any]] = [
    row
    for row in json.loads(
        (Path(__file__).parents[1] / "data" / "provider-errors.json").read_text("utf-8")
    )["errors"]
    if (row["status"] or 0) >= 400
]
REACTIONS: dict[type[ModelError], set[str]] = {
    PromptTooLong: {"compact"},
    OutputTooLarge: {"lower_output"},
    ModelRateLimited: {"wait_and_retry"},
    ModelUnreachable: {"wait_and_retry", "retry_same"},
    ModelTimeout: {"wait_and_retry"},
    ModelAuthError: {"fail_clearly"},
    ModelRefused: {"fail_clearly", "repair_request"},
    EmptyReply: {"retry_same"},
}
"""What the loop does about each class."""

SDKS = ["anthropic", "openai chat"]


async def raised(provider: str, answer: Answered, **settings: Any) -> ModelError:
    make, _, _ = PROVIDERS[provider]
    async with WireServer() as server:
        server.answer(answer)
        model = make(server.base_url, ModelSettings(**settings))
        try:
            with pytest.raises(ModelError) as caught:
                await model.complete(PLAIN)
        finally:
            await model.close()
        return caught.value


@pytest.mark.parametrize("provider", SDKS)
@pytest.mark.parametrize("row", HANDED, ids=[row["id"] for row in HANDED])
async def test_handed_refusals_lead_to_an_acceptable_reaction(
    provider: str, row: dict[str, Any]
) -> None:
    answer = Answered(status=row["status"], body=row["body"])
    error = await raised(provider, answer, window_tokens=row["limit"] or 200_000)
    reactions = REACTIONS[type(error)]
    # a small request that is refused without a reason is not compacted
    acceptable = (
        {*row["acceptable"], "fail_clearly"}
        if row["class"] == "ambiguous"
        else set(row["acceptable"])
    )
    assert reactions & acceptable, (error, row["acceptable"])
    assert not reactions <= set(row["forbidden"]), (error, row["forbidden"])
    if isinstance(error, PromptTooLong) and row["class"] == "overflow" and error.limit_tokens:
        assert row["limit"] in (None, error.limit_tokens)


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_a_refused_schema_is_left_out_from_then_on(provider: str) -> None:
    make, dialect, _ = PROVIDERS[provider]
    refusal = {"error": {"message": "This response_format type is unavailable now"}}
    async with WireServer() as server:
        server.answer(Answered(status=400, body=refusal))
        server.respond(lambda _: dialect(Says(text="{}")))
        model = make(server.base_url, ModelSettings())
        for _ in range(2):
            assert (await model.complete(SCHEMA)).message.text == "{}"
        await model.close()
        asked = [
            "fruits" in json.dumps(one.body).replace("three fruits", "") for one in server.received
        ]
    assert asked == [True, False, False]


@pytest.mark.parametrize("provider", list(PROVIDERS))
async def test_a_refusal_of_something_else_is_not_repeated_without_the_schema(
    provider: str,
) -> None:
    make, _, _ = PROVIDERS[provider]
    async with WireServer() as server:
        server.answer(Answered(status=404, body={"error": {"message": "no such model"}}))
        model = make(server.base_url, ModelSettings())
        with pytest.raises(ModelRefused):
            await model.complete(SCHEMA)
        await model.close()
        assert len(server.received) == 1


class TestWindowsThatFillUp:
    """Refusals that look like replies."""

    async def reply(self, reason: str, usage: dict[str, int], text: str, window: int) -> Any:
        delta = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
        body = {"choices": [delta], "usage": usage}
        event = f"data: {json.dumps(body)}\n\n".encode()
        make, _, _ = PROVIDERS["openai chat"]
        async with WireServer() as server:
            server.answer(Answered(events=(event,)))
            model = make(server.base_url, ModelSettings(window_tokens=window))
            try:
                return await model.complete(Request(messages=PLAIN.messages))
            finally:
                await model.close()

    @pytest.mark.parametrize(
        ("reason", "sent", "made"),
        [
            ("model_context_window_exceeded", 900, 0),
            ("length", 700, 300),
            ("length", 990, 0),
        ],
    )
    async def test_are_overflows(self, reason: str, sent: int, made: int) -> None:
        usage = {"prompt_tokens": sent, "completion_tokens": made}
        with pytest.raises(PromptTooLong) as caught:
            await self.reply(reason, usage, "half" if made else "", 1_000)
        assert caught.value.sent_tokens == sent

    async def test_a_reply_cut_by_its_own_limit_is_none(self) -> None:
        usage = {"prompt_tokens": 100, "completion_tokens": 50}
        assert (await self.reply("length", usage, "half", 1_000)).stop == "length"

    async def test_a_whole_reply_above_the_window_we_believed_in_is_kept(self) -> None:
        usage = {"prompt_tokens": 1_500, "completion_tokens": 50}
        reply = await self.reply("stop", usage, "whole", 1_000)
        assert (reply.stop, reply.message.text) == ("end", "whole")
