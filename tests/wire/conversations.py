"""Named conversations, and the bodies with which the real SDKs send them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wayfare.formats import codec
from wayfare.messages import (
    Media,
    Message,
    Origin,
    Text,
    assistant,
    call,
    result,
    results,
    user,
)
from wayfare.model import Request, ToolSpec
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.keys import Key
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.providers.openai_responses import OpenAIResponsesModel
from wayfare.testing.acts import Says
from wayfare.testing.wire_acts import Dialect, anthropic_answer, chat_answer, responses_answer
from wayfare.testing.wire_server import Received, WireServer

KEY = Key("sk-test", "this test")
READ = ToolSpec(
    name="read_file",
    description="Read a file",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)

PLAIN = Request(messages=(user("Say hello."),), system="Be brief.", max_output_tokens=100)

TOOLS = Request(
    messages=(
        user("Compare a and b."),
        assistant(
            "Reading both.",
            call("read_file", {"path": "a"}, id="call_1"),
            call("read_file", {"path": "b"}, id="call_2"),
        ),
        results(result("call_1", "apples"), result("call_2", "no such file", is_error=True)),
    ),
    system="Be brief.",
    tools=(READ,),
    max_output_tokens=100,
    stable_messages=1,
)

PICTURE = Request(
    messages=(
        Message(
            role="user",
            blocks=(
                Text(text="What is it?"),
                Media(kind="image", media_type="image/png", content="aW1hZ2U="),
            ),
            origin=Origin.USER,
        ),
    ),
    max_output_tokens=100,
)

SCHEMA = Request(
    messages=(user("Name three fruits."),),
    max_output_tokens=100,
    schema={
        "type": "object",
        "properties": {"fruits": {"type": "array", "items": {"type": "string"}}},
        "required": ["fruits"],
    },
)

SIGNED_TURN = Says(
    text="Reading.",
    thinking="The file first.",
    calls=(call("read_file", {"path": "a"}, id="call_1"),),
    stop="tools",
)

Make = Callable[[str, ModelSettings], Any]

PROVIDERS: Mapping[str, tuple[Make, Dialect, str]] = {
    "anthropic": (
        lambda url, settings: AnthropicModel("m", key=KEY, settings=settings, base_url=url),
        anthropic_answer,
        "anthropic",
    ),
    "openai chat": (
        lambda url, settings: OpenAIChatModel(
            "m", key=KEY, settings=settings, base_url=f"{url}/v1"
        ),
        chat_answer,
        "openai-chat",
    ),
    "openai responses": (
        lambda url, settings: OpenAIResponsesModel(
            "m", key=KEY, settings=settings, base_url=f"{url}/v1"
        ),
        responses_answer,
        "openai-responses",
    ),
}


async def sent(provider: str, *requests: Request, **settings: Any) -> list[Any]:
    """The bodies with which a provider sends these requests."""
    return [one.body for one in await exchange(provider, *requests, **settings)]


async def exchange(provider: str, *requests: Request, **settings: Any) -> list[Received]:
    """The HTTP requests a provider sends for these requests."""
    make, dialect, _ = PROVIDERS[provider]
    async with WireServer() as server:
        server.respond(lambda _: dialect(Says(text="ok")))
        model = make(server.base_url, ModelSettings(**settings))
        for request in requests:
            await model.complete(request)
        await model.close()
        return server.received


async def reply_of(provider: str, act: Says) -> Message:
    """The message a provider makes of a reply."""
    make, dialect, _ = PROVIDERS[provider]
    async with WireServer() as server:
        server.answer(dialect(act))
        model = make(server.base_url, ModelSettings())
        reply = await model.complete(PLAIN)
        await model.close()
        return reply.message


def as_stored(message: Message, format: str) -> Message:
    """A message as a transcript gives it back: written in its format, and read again."""
    own = codec(format)
    assert message.wire is not None
    return own.decode(message.wire)
