"""The scripted model: answers in turn, keeps requests, refuses like a provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayfare.clock import MovableClock
from wayfare.errors import (
    ConfigError,
    EmptyReply,
    ModelRateLimited,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.formats import codec
from wayfare.messages import assistant, call, user
from wayfare.model import Reply, Request, Usage
from wayfare.providers.script import Scripted, read_script
from wayfare.providers.scripted import ScriptedModel, ScriptIsOver
from wayfare.providers.waiting import sleep_on

ASKED = Request(messages=(user("hi"),))


async def test_answers_come_in_turn_whatever_they_are_made_of() -> None:
    model = ScriptedModel(
        [
            "a text",
            call("read", {"path": "a"}, id="c1"),
            (call("read", id="c2"), call("list", id="c3")),
            assistant("a message"),
            Reply(message=assistant("a reply"), stop="length"),
            Scripted(text="said", thinking="thought", stop="refused"),
            lambda request: f"asked: {request.messages[-1].text}",
        ]
    )
    replies = [await model.complete(ASKED) for _ in range(7)]
    assert [reply.message.text for reply in replies] == [
        *("a text", "", "", "a message", "a reply", "said", "asked: hi"),
    ]
    assert [reply.stop for reply in replies] == [
        *("end", "tools", "tools", "end", "length", "refused", "end")
    ]
    assert [[c.id for c in reply.calls] for reply in replies[1:3]] == [["c1"], ["c2", "c3"]]
    assert model.left == 0


async def test_asked_once_too_often_it_raises_and_shows_what_it_was_asked() -> None:
    model = ScriptedModel(["only one"])
    await model.complete(ASKED)
    with pytest.raises(ScriptIsOver, match=r"1 answers and was asked once more.*'hi'") as caught:
        await model.complete(ASKED)
    assert caught.value.request is ASKED
    assert model.requests == [ASKED, ASKED]


async def test_with_an_answer_for_always_it_never_ends() -> None:
    model = ScriptedModel(["first"], always="again")
    said = [(await model.complete(ASKED)).message.text for _ in range(3)]
    assert said == ["first", "again", "again"]


async def test_an_error_comes_after_what_was_said_before_it() -> None:
    model = ScriptedModel([Scripted(text="so far", error=ModelRateLimited("slow"))])
    heard: list[str] = []

    class Watcher:
        def text(self, piece: str) -> None:
            heard.append(piece)

        def thinking(self, piece: str) -> None: ...

        def call(self, name: str) -> None: ...

    with pytest.raises(ModelRateLimited):
        await model.complete(ASKED, Watcher())
    assert heard == ["so far"]


async def test_a_line_that_says_nothing_is_an_empty_reply() -> None:
    with pytest.raises(EmptyReply):
        await ScriptedModel([""]).complete(ASKED)


async def test_usage_is_its_own_count_unless_told() -> None:
    told = Usage(input_tokens=1, cache_read_tokens=2, cache_write_tokens=3, output_tokens=4)
    model = ScriptedModel(["counted", Scripted(text="told", usage=told)], count=lambda _: 77)
    counted = await model.complete(ASKED)
    assert counted.usage.prompt_tokens == 77
    assert counted.usage.output_tokens > 0
    assert (await model.complete(ASKED)).usage == told


async def test_it_refuses_above_its_window_by_its_own_count() -> None:
    model = ScriptedModel(["fits"], window_tokens=1_000, refuses=True, count=lambda _: 1_200)
    with pytest.raises(PromptTooLong) as caught:
        await model.complete(ASKED)
    assert (caught.value.sent_tokens, caught.value.limit_tokens) == (1_200, 1_000)
    assert model.left == 1, "a refused request used up an answer"


async def test_it_refuses_an_output_that_does_not_fit_beside_the_input() -> None:
    model = ScriptedModel(["fits"], window_tokens=1_000, refuses=True, count=lambda _: 900)
    with pytest.raises(OutputTooLarge) as caught:
        await model.complete(Request(messages=ASKED.messages, max_output_tokens=200))
    assert caught.value.output_limit_tokens == 100
    await model.complete(Request(messages=ASKED.messages, max_output_tokens=100))


async def test_it_waits_on_an_injected_clock() -> None:
    clock = MovableClock(start=100.0)
    model = ScriptedModel([Scripted(text="late", delay_seconds=60)], sleep=sleep_on(clock))
    await model.complete(ASKED)
    assert clock.now() == 160.0


async def test_a_recording_is_said_as_it_was_recorded() -> None:
    wires: list[dict[str, Any]] = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "one", "citations": []}]},
        {"role": "user", "content": "and?"},
        {"role": "assistant", "content": "two"},
    ]
    anthropic = codec("anthropic")
    recorded = [anthropic.decode(wire) for wire in wires]
    model = ScriptedModel.from_recording(recorded)
    first = await model.complete(ASKED)
    second = await model.complete(ASKED)
    assert model.left == 0
    assert anthropic.encode([first.message]) == [
        {"role": "assistant", "content": [*wires[1]["content"], *wires[2]["content"]]}
    ]
    assert anthropic.encode([second.message])[0] is wires[4]


class TestScriptFiles:
    def read(self, folder: Path, value: Any) -> Any:
        path = folder / "script.json"
        path.write_text(json.dumps(value), "utf-8")
        return read_script(path)

    async def test_are_lists_of_answers(self, tmp_path: Path) -> None:
        self.read(
            tmp_path,
            {
                "replies": [
                    "plain",
                    {"tool_use": {"name": "read", "input": {"path": "a"}}},
                    {"text": "two calls", "tool_use": [{"name": "a", "id": "x"}, {"name": "b"}]},
                    {"text": "cut", "stop_reason": "max_tokens", "usage": {"output_tokens": 9}},
                    {"text": "twice", "times": 2},
                ]
            },
        )
        model = ScriptedModel.from_file(tmp_path / "script.json")
        replies = [await model.complete(ASKED) for _ in range(6)]
        assert [reply.message.text for reply in replies] == [
            *("plain", "", "two calls", "cut", "twice", "twice"),
        ]
        assert [reply.stop for reply in replies[:4]] == ["end", "tools", "tools", "length"]
        assert [c.id for c in (*replies[1].calls, *replies[2].calls)] == [
            "call_2_0",
            "x",
            "call_3_1",
        ]
        assert replies[3].usage.output_tokens == 9

    async def test_raise_what_a_provider_would(self, tmp_path: Path) -> None:
        body = {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}
        script = self.read(tmp_path, [{"error": {"status": 400, "body": body}}])
        with pytest.raises(PromptTooLong) as caught:
            await ScriptedModel(script).complete(ASKED)
        assert caught.value.limit_tokens == 200_000

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ({"lines": []}, "a script is a list"),
            ([3], "answer 1: an answer is a text or an object"),
            (["fine", {"txet": "x"}], "answer 2: unknown field 'txet'"),
        ],
    )
    def test_that_are_wrong_say_where(self, tmp_path: Path, value: Any, said: str) -> None:
        with pytest.raises(ConfigError, match=said):
            self.read(tmp_path, value)

    def test_that_are_not_there_are_a_setting_that_is_wrong(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="no script at"):
            read_script(tmp_path / "nothing.json")
