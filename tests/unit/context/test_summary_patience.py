"""A summary is waited for while pieces come, however long in all; silence alone ends the wait."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.jumping_loop import JUMPING
from tests.unit.context.governed_session import Governed, good_summary

from wayfare.context.summarizer import IDLE_SECONDS
from wayfare.messages import assistant
from wayfare.model import Prices, Reply, Request, Watcher

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> tuple[str, Any]:
    return JUMPING


class Stream:
    """A model that streams pieces so far apart, and then ends, goes silent or never ends."""

    name, window_tokens, max_output_tokens, prices = "stream", 8_000, 2_000, Prices()

    def __init__(self, kind: str, gap_seconds: float, pieces: int, *, silent: bool = False) -> None:
        self.kind, self.gap_seconds, self.pieces, self.silent = kind, gap_seconds, pieces, silent
        self.cancelled = False

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        assert watcher is not None
        try:
            for _ in range(self.pieces):
                await anyio.sleep(self.gap_seconds)
                getattr(watcher, self.kind)("x")
            if self.silent:
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled = True
            raise
        return Reply(message=assistant(good_summary()))


async def summed_up(stream: Stream, trigger: str = "manual") -> tuple[Governed, bool, float]:
    """The session, whether anything was committed, and the seconds it took."""
    session = await Governed().open()
    await session.steps(range(8))
    summarizer = session.summarizer()
    summarizer.model = stream
    began = anyio.current_time()
    made = await summarizer(session.governor, trigger=trigger)
    return session, bool(made), anyio.current_time() - began


@pytest.mark.parametrize("kind", ["text", "thinking", "call"])
async def test_a_stream_of_an_hour_is_no_failure(kind: str) -> None:
    session, made, seconds = await summed_up(Stream(kind, IDLE_SECONDS - 1, 31))
    assert made
    assert seconds > 3_600
    assert session.told("compaction.failed") == []


@pytest.mark.parametrize("pieces", [0, 1, 40])
@pytest.mark.parametrize("trigger", ["manual", "model", "reactive"])
async def test_silence_ends_the_wait_so_long_after_the_last_piece(
    pieces: int, trigger: str
) -> None:
    stream = Stream("text", IDLE_SECONDS - 20, pieces, silent=True)
    session, made, seconds = await summed_up(stream, trigger)
    assert made is (trigger == "reactive")
    assert stream.cancelled
    assert seconds == pytest.approx(pieces * (IDLE_SECONDS - 20) + IDLE_SECONDS)
    (event,) = session.told("compaction.failed")
    assert event.fields["kind"] == "ModelTimeout"
    assert "120 seconds" in event.text


async def test_a_gap_longer_than_the_wait_is_a_failure_though_more_would_come() -> None:
    session, made, seconds = await summed_up(Stream("text", IDLE_SECONDS + 1, 2))
    assert not made
    assert seconds == pytest.approx(IDLE_SECONDS)
    assert session.told("compaction.failed")[0].fields["kind"] == "ModelTimeout"
