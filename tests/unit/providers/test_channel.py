"""The connection: what is sent, where it is bound, and servers that do not stream."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from wayfare.errors import ModelRefused, ModelUnreachable, PromptTooLong
from wayfare.messages import user
from wayfare.model import Request
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.channel import encoded
from wayfare.providers.keys import Key
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.testing.acts import Says
from wayfare.testing.wire_acts import anthropic_answer, chat_answer
from wayfare.testing.wire_server import Answered, WireServer

ASKED = Request(messages=(user("hi"),))
KEY = Key("sk-test", "this test")


@pytest.mark.parametrize(
    ("text", "sent"),
    [("plain 漢字 ✓", "plain 漢字 ✓"), ("half \ud83d of a pair", "half ? of a pair")],
)
def test_no_lone_surrogate_leaves_the_house(text: str, sent: str) -> None:
    body = {"messages": [{"content": [text, {"\ud83d": text}]}], "n": 1}
    raw = encoded(body)
    assert json.loads(raw)["messages"][0]["content"][0] == sent
    assert b"\\ud83d" not in raw


IN_TWO_LOOPS = """
import anyio
from anyio.from_thread import start_blocking_portal
from wayfare.messages import user
from wayfare.model import Request
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.keys import NO_KEY
from wayfare.testing.acts import Says
from wayfare.testing.wire_acts import anthropic_answer
from wayfare.testing.wire_server import WireServer

with (
    start_blocking_portal() as portal,
    portal.wrap_async_context_manager(WireServer()) as server,
):
    server.answer(*[anthropic_answer(Says(text="hello"))] * 2)
    model = AnthropicModel("claude", key=NO_KEY, base_url=server.base_url)
    for _ in range(2):  # each leaves its connection open
        print(anyio.run(model.complete, Request(messages=(user("hi"),))).message.text)
"""


def test_one_model_serves_several_event_loops() -> None:
    """Connections belong to the loop they were made in; a model outlives it. In a process of its
    own, because what a dead loop leaves open is complained about whenever it is collected."""
    done = subprocess.run(
        [sys.executable, "-c", IN_TWO_LOOPS], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["hello", "hello"], done.stderr


async def test_a_closed_model_can_be_asked_again() -> None:
    async with WireServer() as server:
        server.answer(*[anthropic_answer(Says(text=text)) for text in ("one", "two")])
        model = AnthropicModel("claude", key=KEY, base_url=server.base_url)
        assert (await model.complete(ASKED)).message.text == "one"
        await model.close()
        assert (await model.complete(ASKED)).message.text == "two"
        await model.close()


async def test_the_connection_is_used_again() -> None:
    async with WireServer() as server:
        server.answer(*[chat_answer(Says(text="hi"))] * 3)
        model = OpenAIChatModel("gpt", key=KEY, base_url=f"{server.base_url}/v1")
        for _ in range(3):
            await model.complete(ASKED)
        await model.close()
        assert server.connections == 1


class TestServersThatDoNotStream:
    async def ask(self, model_kind: Any, answer: Answered) -> Any:
        async with WireServer() as server:
            server.answer(answer)
            url = server.base_url if model_kind is AnthropicModel else f"{server.base_url}/v1"
            model = model_kind("m", key=KEY, base_url=url)
            try:
                return await model.complete(ASKED)
            finally:
                await model.close()

    async def test_are_understood(self) -> None:
        usage = {"input_tokens": 3, "output_tokens": 1}
        content = [{"type": "text", "text": "whole"}]
        message = {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage}
        reply = await self.ask(AnthropicModel, Answered(body=message))
        assert (reply.message.text, reply.usage.input_tokens) == ("whole", 3)
        choice = {"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}
        reply = await self.ask(OpenAIChatModel, Answered(body={"choices": [choice]}))
        assert reply.message.text == "whole"

    async def test_may_say_success_and_mean_failure(self) -> None:
        too_long = {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}
        with pytest.raises(PromptTooLong):
            await self.ask(OpenAIChatModel, Answered(body=too_long))
        base = {"base_resp": {"status_code": 1004, "status_msg": "login fail"}, "choices": None}
        with pytest.raises((ModelRefused, ModelUnreachable)):
            await self.ask(OpenAIChatModel, Answered(body=base))

    async def test_may_answer_with_a_page(self) -> None:
        page = Answered(
            body="<html><title>Sign in</title></html>", headers={"content-type": "text/html"}
        )
        for kind in (AnthropicModel, OpenAIChatModel):
            with pytest.raises(ModelRefused, match="Sign in"):
                await self.ask(kind, page)


async def test_extra_fields_and_headers_go_along_over_ours() -> None:
    async with WireServer() as server:
        server.answer(anthropic_answer(Says(text="hi")))
        settings = ModelSettings(
            extra_body={"temperature": 0.2, "max_tokens": 7}, extra_headers={"x-team": "blue"}
        )
        model = AnthropicModel("claude", key=KEY, settings=settings, base_url=server.base_url)
        await model.complete(ASKED)
        await model.close()
        received = server.received[0]
        assert (received.body["temperature"], received.body["max_tokens"]) == (0.2, 7)
        assert received.headers["x-team"] == "blue"
        assert received.headers["authorization"] == "Bearer sk-test"
