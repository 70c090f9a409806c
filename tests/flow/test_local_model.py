"""The packaged model, served by llama.cpp on loopback, through the real SDKs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from wayfare.clock import MovableClock
from wayfare.errors import ModelUnreachable, PromptTooLong
from wayfare.formats.json_reply import json_values
from wayfare.messages import result, results, user
from wayfare.model import Reply, Request, ToolSpec
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.keys import NO_KEY
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.providers.openai_responses import OpenAIResponsesModel
from wayfare.providers.retry import Retrying
from wayfare.providers.waiting import sleep_on
from wayfare.testing.model_contract import Heard

pytestmark = pytest.mark.local_model

SETTINGS = ModelSettings(window_tokens=8_192, max_output_tokens=48, extra_body={"temperature": 0.0})
READ = ToolSpec(
    name="read_file",
    description="Read a file and return its text",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
LIST = ToolSpec(
    name="list_files",
    description="List the files of a folder",
    schema={"type": "object", "properties": {"folder": {"type": "string"}}},
)
TOO_LONG = Request(messages=(user("word " * 12_000),))


@pytest.fixture(scope="module")
def local(packaged_model: Path) -> Iterator[LocalModel]:
    """The model, loaded for as long as these tests run."""
    model = LocalModel(packaged_model, settings=SETTINGS)
    model.process.join(model)
    yield model
    model.process.leave(model)


@pytest.fixture(scope="module")
def address(local: LocalModel) -> str:
    """Where it is served, with its version."""
    return local.process.join(local).base_url


def made(kind: Any, address: str) -> Any:
    url = address.removesuffix("/v1") if kind is AnthropicModel else address
    settings = ModelSettings(
        window_tokens=8_192,
        max_output_tokens=48,
        extra_body={"temperature": 0.0},
        extra_headers={"Connection": "close"},
    )
    return kind("local", key=NO_KEY, settings=settings, base_url=url)


CLIENTS = pytest.mark.parametrize(
    "kind",
    [AnthropicModel, OpenAIChatModel, OpenAIResponsesModel],
    ids=["anthropic SDK", "openai SDK, chat", "openai SDK, responses"],
)


class TestThroughTheSDKs:
    @CLIENTS
    async def test_a_reply_streams_in_with_usage(self, kind: Any, address: str) -> None:
        model = made(kind, address)
        heard = Heard()
        request = Request(messages=(user("Say hello."),), system="Be brief.")
        reply = await model.complete(request, heard)
        await model.close()
        assert len(heard.texts) > 1
        assert "".join(heard.texts) == reply.message.text
        assert reply.stop in ("end", "length")
        assert reply.usage.prompt_tokens > 5
        assert reply.usage.output_tokens > 0

    @CLIENTS
    async def test_a_common_prefix_is_reported_as_cached(self, kind: Any, address: str) -> None:
        model = made(kind, address)
        request = Request(
            messages=(user("Tell me about the sea."),),
            system="Be brief. " * 20,
            max_output_tokens=4,
        )
        await model.complete(request)
        again = await model.complete(request)
        await model.close()
        usage = again.usage
        if kind is OpenAIResponsesModel:
            assert usage.prompt_tokens > 0  # this endpoint of the server tells no cached tokens
        else:
            assert usage.cache_read_tokens > usage.input_tokens

    @CLIENTS
    async def test_a_real_overflow_names_both_numbers(self, kind: Any, address: str) -> None:
        model = made(kind, address)
        with pytest.raises(PromptTooLong) as caught:
            await model.complete(TOO_LONG)
        await model.close()
        assert caught.value.limit_tokens == 8_192
        assert (caught.value.sent_tokens or 0) > 12_000
        assert caught.value.status == 400

    @CLIENTS
    async def test_cancelling_frees_the_server(self, kind: Any, address: str) -> None:
        model = made(kind, address)
        with anyio.CancelScope() as scope:
            await model.complete(
                Request(messages=(user("Tell a very long story of a ship."),)),
                Heard(scope.cancel),
            )
        assert scope.cancelled_caught
        reply = await model.complete(Request(messages=(user("Say hello."),), max_output_tokens=4))
        await model.close()
        assert reply.message.text  # the one slot of the server was free again

    async def test_a_schema_shapes_the_reply(self, address: str) -> None:
        model = made(OpenAIChatModel, address)
        schema = {
            "type": "object",
            "properties": {"fruit": {"enum": ["apple", "pear"]}, "count": {"type": "integer"}},
            "required": ["fruit", "count"],
        }
        request = Request(messages=(user("Choose a fruit and a number."),), schema=schema)
        reply = await model.complete(request)
        await model.close()
        [found] = json_values(reply.message.text)
        assert isinstance(found.value, dict)
        assert found.value["fruit"] in ("apple", "pear")

    @CLIENTS
    async def test_a_cut_reply_says_so(self, kind: Any, address: str) -> None:
        model = made(kind, address)
        request = Request(messages=(user("Tell a long story."),), max_output_tokens=6)
        reply = await model.complete(request)
        await model.close()
        assert reply.stop == "length"

    async def test_the_anthropic_endpoint_counts(self, address: str) -> None:
        model = made(AnthropicModel, address)
        short = await model.count(Request(messages=(user("hi"),)))
        long = await model.count(Request(messages=(user("hi " * 100),)))
        await model.close()
        assert 0 < short < 100 < long


class TestAsALocalModel:
    async def test_a_turn_with_a_tool_call(self, local: LocalModel) -> None:
        heard = Heard()
        asked = (user("Read the file notes.txt"),)
        system = "You are a coding agent."
        request = Request(messages=asked, system=system, tools=(READ, LIST))
        first = await local.complete(request, heard)
        assert first.stop == "tools"
        assert heard.calls == [made.name for made in first.calls]
        assert heard.texts == [], "the JSON of a call was shown as text"
        made_call = first.calls[0]
        assert made_call.name in ("read_file", "list_files")
        assert all(isinstance(value, str) for value in made_call.input.values())

        answer = results(result(made_call.id, "The secret word is apple."))
        goes_on = Request(
            messages=(*asked, first.message, answer), system=system, tools=(READ, LIST)
        )
        second = await local.complete(goes_on)
        assert second.message.text or second.calls
        assert second.usage.cache_read_tokens > 0, "the prefix was not found again"
        assert await local.count(goes_on) == pytest.approx(second.usage.prompt_tokens, abs=4)

    async def test_only_words_are_shown_of_an_answer_in_words(self, local: LocalModel) -> None:
        """With a tool whose name nothing suggests, whatever it chooses is told as it is."""
        heard = Heard()
        tool = ToolSpec(name="zzz", description="Never use this", schema={"type": "object"})
        reply: Reply = await local.complete(
            Request(messages=(user("What is your name? Answer in words."),), tools=(tool,)), heard
        )
        if reply.calls:
            assert heard.calls == ["zzz"]
        elif reply.stop == "end":
            assert "".join(heard.texts) == reply.message.text
        assert '"tool"' not in "".join(heard.texts)

    async def test_two_models_of_one_file_share_one_process(
        self, local: LocalModel, packaged_model: Path
    ) -> None:
        other = LocalModel(packaged_model, settings=SETTINGS)
        assert other.process is local.process
        await other.complete(Request(messages=(user("hi"),), max_output_tokens=2))
        await other.close()
        assert local.process.is_running, "one user left, and the others lost the server"

    async def test_an_interrupt_of_the_terminal_is_not_for_the_server(
        self, local: LocalModel
    ) -> None:
        process = local.process._process  # pyright: ignore
        assert process is not None
        assert os.getpgid(process.pid) != os.getpgrp()


class TestTheProcess:
    async def test_that_died_is_started_again(self, packaged_model: Path) -> None:
        settings = ModelSettings(window_tokens=1_024, max_output_tokens=8)
        model = LocalModel(packaged_model, settings=settings)
        clock = MovableClock()
        patient = Retrying(model, clock=clock, sleep=sleep_on(clock))
        request = Request(messages=(user("hi"),), max_output_tokens=2)
        await patient.complete(request)
        process = model.process._process  # pyright: ignore
        assert process is not None
        process.send_signal(signal.SIGKILL)
        await anyio.to_thread.run_sync(process.wait)
        reply = await patient.complete(request)
        assert reply.message.text
        await patient.close()
        assert not model.process.is_running

    async def test_that_cannot_load_says_why(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.gguf"
        path.write_bytes(b"GGUF but not really")
        model = LocalModel(path, settings=SETTINGS)
        with pytest.raises(ModelUnreachable, match="could not be loaded"):
            await model.complete(Request(messages=(user("hi"),)))
        await model.close()

    def test_ends_when_the_session_is_gone(self, packaged_model: Path) -> None:
        """However it went: a killed parent cannot say goodbye."""
        script = (
            "import sys, os\nfrom pathlib import Path\n"
            "from wayfare.providers.local_process import LocalProcess, Served\n"
            "p = LocalProcess.of(Served(path=Path(sys.argv[1]), window_tokens=512, threads=1))\n"
            "p.join(p)\nprint(p._process.pid, flush=True)\n"
            "os.kill(os.getpid(), 9)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(packaged_model)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == -9, done.stderr
        child = int(done.stdout.split()[0])
        assert _ends(child), "the server outlived the session it belonged to"


def _ends(pid: int) -> bool:
    """Whether a process that is not our child ends, looked at until the test's time is up."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60)[0])
    finally:
        os.close(watched)
