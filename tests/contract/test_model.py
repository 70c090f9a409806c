"""The contract of `Model`, on every implementation."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from wayfare.clock import MovableClock
from wayfare.errors import ModelUnreachable
from wayfare.model import Model
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.classify import Answer
from wayfare.providers.errors_from import Asked, error_from
from wayfare.providers.keys import Key
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.providers.openai_responses import OpenAIResponsesModel
from wayfare.providers.retry import Retrying, RetrySettings
from wayfare.providers.script import Scripted
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on
from wayfare.testing.acts import Act, Breaks, CannotStage, Fails, IsGone, Says, Stalls
from wayfare.testing.model_contract import MODEL_CHECKS, REAL_MODEL_CHECKS, ModelCheck, Stage
from wayfare.testing.wire_acts import (
    Dialect,
    anthropic_answer,
    chat_answer,
    responses_answer,
)
from wayfare.testing.wire_server import WireServer

KEY = Key("sk-test-0123456789", "this test")
_ONCE = RetrySettings(attempts=1, empty_attempts=1)
SMALL = ModelSettings(max_output_tokens=48)
IDLE_SECONDS = 0.2
"""Short, because one check waits for it; a loaded machine only makes it wait longer."""


class ScriptedStage:
    is_real = False

    async def model(self, *acts: Act) -> Model:
        if acts and all(isinstance(act, Stalls) for act in acts):
            raise CannotStage("a script does not wait for anything")
        return ScriptedModel([self._line(act) for act in acts])

    async def stream_was_left(self) -> None:
        return

    def _line(self, act: Act) -> Scripted:
        match act:
            case Says():
                return Scripted(
                    text=act.text,
                    thinking=act.thinking,
                    calls=act.calls,
                    stop=act.stop,
                    usage=act.usage,
                )
            case Stalls():
                # never comes to the end of it: something else must end the call
                return Scripted(text=act.text * 100_000)
            case Breaks():
                return Scripted(text=act.text, error=ModelUnreachable("scripted: it broke"))
            case Fails(failure="empty"):
                return Scripted()
            case Fails():
                refusal = anthropic_answer(act)
                if refusal.status < 400:
                    raise CannotStage("a script has no stream to fail in")
                answer = Answer(status=refusal.status, body=refusal.body, headers=refusal.headers)
                return Scripted(error=error_from(answer, Asked(provider="scripted")))
            case _:
                raise CannotStage("a script has no connection to lose")


class WireStage:
    """A real SDK against a server on loopback."""

    is_real = False

    def __init__(
        self, server: WireServer, make: Callable[[str, ModelSettings], Any], dialect: Dialect
    ) -> None:
        self._server = server
        self._make = make
        self._dialect = dialect
        self._made: list[Any] = []

    async def model(self, *acts: Act) -> Model:
        base_url = self._server.base_url
        if any(isinstance(act, IsGone) for act in acts):
            base_url = f"http://127.0.0.1:{_free_port()}"
        else:
            self._server.answer(*(self._dialect(act) for act in acts))
        stalls = sum(isinstance(act, Stalls) for act in acts)
        only_stalls = stalls == len(acts)  # a call that is cancelled must not time out instead
        settings = ModelSettings(idle_seconds=IDLE_SECONDS if stalls and only_stalls else 30.0)
        made = self._make(base_url, settings)
        self._made.append(made)
        return made

    async def stream_was_left(self) -> None:
        await self._server.client_left()

    async def close(self) -> None:
        for model in self._made:
            await model.close()


class LocalStage:
    is_real = True

    def __init__(self, path: Path) -> None:
        self._model = LocalModel(path, settings=SMALL)

    async def model(self, *acts: Act) -> Model:
        return self._model

    async def stream_was_left(self) -> None:
        return

    async def close(self) -> None:
        await self._model.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


WIRES: dict[str, tuple[Callable[[str, ModelSettings], Any], Dialect]] = {
    "anthropic": (
        lambda url, settings: AnthropicModel(
            "claude-test", key=KEY, settings=settings, base_url=url
        ),
        anthropic_answer,
    ),
    "openai chat": (
        lambda url, settings: OpenAIChatModel(
            "gpt-test", key=KEY, settings=settings, base_url=f"{url}/v1"
        ),
        chat_answer,
    ),
    "openai responses": (
        lambda url, settings: OpenAIResponsesModel(
            "gpt-test", key=KEY, settings=settings, base_url=f"{url}/v1"
        ),
        responses_answer,
    ),
    # with one attempt nothing is repeated: the wrapper must be invisible
    "retrying anthropic": (
        lambda url, settings: Retrying(
            AnthropicModel("claude-test", key=KEY, settings=settings, base_url=url),
            sleep=sleep_on(MovableClock()),
            settings=_ONCE,
        ),
        anthropic_answer,
    ),
}


@asynccontextmanager
async def a_stage(name: str) -> AsyncIterator[Stage]:
    if name == "scripted":
        yield ScriptedStage()
        return
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(WireServer())
        stage = WireStage(server, *WIRES[name])
        stack.push_async_callback(stage.close)
        yield stage


async def run(check: ModelCheck, stage: Stage) -> None:
    try:
        await check(stage)
    except CannotStage as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["scripted", *WIRES])
async def test_model_contract(name: str, check: ModelCheck) -> None:
    async with a_stage(name) as stage:
        await run(check, stage)


@pytest.fixture(scope="module")
def warm_model(packaged_model: Path) -> Iterator[Path]:
    """The packaged model, kept loaded from check to check."""
    model = LocalModel(packaged_model, settings=SMALL)
    model.process.join(model)
    yield packaged_model
    model.process.leave(model)


@pytest.mark.local_model
@pytest.mark.parametrize("check", REAL_MODEL_CHECKS, ids=lambda check: check.__name__)
async def test_model_contract_of_the_packaged_model(check: ModelCheck, warm_model: Path) -> None:
    stage = LocalStage(warm_model)
    try:
        await check(stage)
    finally:
        await stage.close()
