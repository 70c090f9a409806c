"""What is repeated, how long is waited, and when it is given up."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.clock import MovableClock
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
from wayfare.events import Event
from wayfare.messages import user
from wayfare.model import Request
from wayfare.providers.retry import Retrying, RetrySettings
from wayfare.providers.script import Scripted
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on

ASKED = Request(messages=(user("hi"),))
CURED = [
    ModelRateLimited("slow down"),
    ModelUnreachable("gone"),
    ModelTimeout("silence", timeout_seconds=3),
]
LASTING = [
    PromptTooLong("too long"),
    OutputTooLarge("too large"),
    ModelAuthError("wrong key"),
    ModelRefused("no"),
]


class Run:
    """A model that fails as told, the waits it took and what was told about them."""

    def __init__(self, *script: Exception | str | Scripted, **settings: float) -> None:
        self.inner = ScriptedModel(script)
        self.waits: list[float] = []
        self.events: list[Event] = []
        clock = MovableClock()
        moved = sleep_on(clock)

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            await moved(seconds)

        self.model = Retrying(
            self.inner,
            clock=clock,
            sleep=sleep,
            settings=RetrySettings(**settings),  # pyright: ignore
            watch=self.events.append,
        )


@pytest.mark.parametrize("error", CURED, ids=lambda e: type(e).__name__)
async def test_what_waiting_cures_is_asked_again(error: ModelError) -> None:
    run = Run(error, error, "hello")
    reply = await run.model.complete(ASKED)
    assert reply.message.text == "hello"
    assert len(run.inner.requests) == 3
    assert all(request is ASKED for request in run.inner.requests)
    assert [event.name for event in run.events] == ["model.retry", "model.retry"]


@pytest.mark.parametrize("error", LASTING, ids=lambda e: type(e).__name__)
async def test_what_waiting_does_not_cure_is_raised_at_once(error: ModelError) -> None:
    run = Run(error, "never said")
    with pytest.raises(type(error)):
        await run.model.complete(ASKED)
    assert (len(run.inner.requests), run.waits, run.events) == (1, [], [])


async def test_after_the_last_attempt_the_error_is_raised() -> None:
    run = Run(*[ModelUnreachable(f"gone {n}") for n in range(9)], attempts=4)
    with pytest.raises(ModelUnreachable, match="gone 3"):
        await run.model.complete(ASKED)
    assert len(run.inner.requests) == 4
    assert run.events[-1].name == "model.gave_up"
    assert run.events[-1].fields["attempts"] == 4


async def test_waits_are_bounded_by_doubling_and_drawn_by_chance() -> None:
    run = Run(*[ModelUnreachable("gone")] * 7, "hi", attempts=8, first_seconds=1, most_seconds=8)
    await run.model.complete(ASKED)
    bounds = [1, 2, 4, 8, 8, 8, 8]
    assert all(0 <= wait <= bound for wait, bound in zip(run.waits, bounds, strict=True))
    assert len({round(wait / bound, 6) for wait, bound in zip(run.waits, bounds, strict=True)}) > 3


async def test_the_time_a_provider_asks_for_is_kept() -> None:
    run = Run(ModelRateLimited("slow", retry_after_seconds=40), "hi", most_seconds=2)
    await run.model.complete(ASKED)
    assert 40 <= run.waits[0] <= 41


async def test_a_wait_longer_than_the_setting_is_not_waited() -> None:
    run = Run(ModelRateLimited("tomorrow", retry_after_seconds=3_600), longest_seconds=60)
    with pytest.raises(ModelRateLimited) as caught:
        await run.model.complete(ASKED)
    assert caught.value.retry_after_seconds == 3_600
    assert run.waits == []
    assert run.events[-1].fields["retry_after_seconds"] == 3_600


async def test_an_empty_reply_is_asked_once_more_only() -> None:
    run = Run(EmptyReply("nothing"), EmptyReply("nothing"), "never said")
    with pytest.raises(EmptyReply):
        await run.model.complete(ASKED)
    assert len(run.inner.requests) == 2


async def test_what_a_broken_stream_had_told_is_counted() -> None:
    run = Run(Scripted(text="half an ans", error=ModelUnreachable("broke")), "whole")
    heard: list[str] = []

    class Watcher:
        def text(self, piece: str) -> None:
            heard.append(piece)

        def thinking(self, piece: str) -> None: ...

        def call(self, name: str) -> None: ...

    await run.model.complete(ASKED, Watcher())
    assert "".join(heard) == "half an answhole"
    assert run.events[0].fields["streamed_chars"] == len("half an ans")


async def test_a_cancelled_wait_asks_no_more() -> None:
    run = Run(ModelUnreachable("gone"), "never said")

    async def never(seconds: float) -> None:
        scope.cancel()
        await anyio.sleep_forever()

    waiting = Retrying(run.inner, clock=MovableClock(), sleep=never)
    with anyio.CancelScope() as scope:
        await waiting.complete(ASKED)
    assert scope.cancelled_caught
    assert len(run.inner.requests) == 1


@given(
    failures=st.lists(st.sampled_from(CURED), max_size=12),
    attempts=st.integers(1, 6),
)
async def test_it_always_ends_within_its_attempts(
    failures: list[ModelError], attempts: int
) -> None:
    run = Run(*failures, "hi", attempts=attempts)
    if len(failures) < attempts:
        await run.model.complete(ASKED)
    else:
        with pytest.raises(ModelError):
            await run.model.complete(ASKED)
    assert len(run.inner.requests) == min(len(failures) + 1, attempts)


async def test_it_is_the_model_it_wraps_otherwise() -> None:
    inner = ScriptedModel(["hi"], name="m", window_tokens=5, max_output_tokens=4, format="x")
    outer = Retrying(inner)
    assert (outer.name, outer.window_tokens, outer.max_output_tokens, outer.format) == (
        "m",
        5,
        4,
        "x",
    )
    assert outer.prices == inner.prices
    assert await outer.count(ASKED) == await inner.count(ASKED)
