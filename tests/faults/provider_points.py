"""A provider that fails in every way at every step of a turn: the session stays whole."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.flow.opened import asked

from wayfare import Session, tool
from wayfare.clock import MovableClock
from wayfare.context.invariants import violations
from wayfare.errors import (
    CannotFit,
    EmptyReply,
    ModelAuthError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    OutputTooLarge,
    PromptTooLong,
    WayfareError,
)
from wayfare.messages import ToolCall
from wayfare.providers.retry import Retrying
from wayfare.providers.script import Scripted, Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on
from wayfare.transcript import MessageEntry

_ODD: Final = "\x1b]0;owned\x07\x00 \ud800 \u202e"
HALF_AN_HOUR_SECONDS: Final = 1_800.0


def _storm(count: int) -> list[Turn]:
    error = ModelRateLimited("429 too many requests", retry_after_seconds=20.0, status=429)
    return [error] * count


TROUBLES: Final[Mapping[str, list[Turn]]] = {
    "429, once": _storm(1),
    "429, a storm that ends": _storm(4),
    "429, a storm that does not": _storm(40),
    "429, wait an hour": [ModelRateLimited("429", retry_after_seconds=3_600.0, status=429)],
    "500": [ModelUnreachable("500 internal error", status=500)],
    "503 on and on": [ModelUnreachable("503 overloaded", status=503)] * 40,
    "a stream that breaks": [
        Scripted(text="I will now " * 20, error=ModelUnreachable("the stream broke"))
    ],
    "streams that break on and on": [
        Scripted(text="I will now " * 20, error=ModelUnreachable("the stream broke"))
    ]
    * 40,
    "half an hour of silence, then an answer": [
        Scripted(text="late", delay_seconds=HALF_AN_HOUR_SECONDS)
    ],
    "half an hour of silence, then nothing": [
        Scripted(
            delay_seconds=HALF_AN_HOUR_SECONDS,
            error=ModelTimeout("nothing came", timeout_seconds=HALF_AN_HOUR_SECONDS),
        )
    ],
    "a wrong key": [ModelAuthError("401 invalid key", status=401)],
    "a refusal": [ModelRefused("400 no", status=400)],
    "a refusal of the history": [ModelRefused("400 history", status=400, repairable=True)],
    "the model refuses": [Scripted(text="I can't help with that.", stop="refused")],
    "too long": [PromptTooLong("too long", sent_tokens=9_000, limit_tokens=8_000, status=400)],
    "too long on and on": [PromptTooLong("too long", status=400)] * 40,
    "too much output": [OutputTooLarge("output", output_limit_tokens=500, status=400)],
    "an empty reply": [EmptyReply("empty")],
    "empty replies on and on": [EmptyReply("empty")] * 40,
    "cut replies on and on": [Scripted(text="and then", stop="length")] * 40,
    "no Unicode": [Scripted(text=_ODD)],
    "a tool that is not there": [asked("no_such_tool", "g1", x=_ODD)],
    "input that is not valid": [asked("look", "g2", wrong=["\x00"])],
    "two calls of one id": [[asked("look", "g3", path="a"), asked("look", "g3", path="b")]],
    "a call without an id": [ToolCall(id="", name="look", input={"path": "a"})],
    "the id of an earlier call": [asked("look", "c0", path="a")],
    "a very long name": [asked("x" * 5_000, "g4")],
}
STEPS: Final = 3


@tool(read_only=True, kind="read")
async def look(path: str) -> str:
    """Look at a file."""
    return f"content of {path}\n" + "word " * 200


SURFACES: Final[Mapping[str, type[WayfareError]]] = {
    "429, a storm that does not": ModelRateLimited,
    "429, wait an hour": ModelRateLimited,
    "503 on and on": ModelUnreachable,
    "streams that break on and on": ModelUnreachable,
    "a wrong key": ModelAuthError,
    "a refusal": ModelRefused,
    "a refusal of the history": ModelRefused,
    "too long on and on": CannotFit,
    "empty replies on and on": EmptyReply,
}
"""What no waiting and no shrinking cures is told; everything else ends as a turn ends."""
MOST_SECONDS: Final = HALF_AN_HOUR_SECONDS + 300.0
"""Longer than the silence and what is waited between attempts nobody is kept waiting."""


async def provider_points(
    share: int, troubles: Mapping[str, list[Turn]] = TROUBLES
) -> AsyncIterator[tuple[str, str]]:
    """Each trouble before each step of a turn, and again while the session is gone on with.

    Yields the trouble and what was found wrong; empty when all was well.
    """
    number = 0
    for name, trouble in troubles.items():
        for at in range(STEPS + 1):
            number += 1
            if (number - 1) % share:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    await _one(Path(folder), trouble, at, surfaces=_surfaces(name, at))
                except Exception as error:
                    yield name, f"at step {at}: {type(error).__name__}: {error}"[:400]
                else:
                    yield name, ""


def _surfaces(name: str, at: int) -> type[WayfareError] | None:
    if name == "too long" and at == 0:
        return CannotFit  # there is only the request itself, which nothing may shrink
    return SURFACES.get(name)


async def _one(
    root: Path, trouble: list[Turn], at: int, *, surfaces: type[WayfareError] | None
) -> None:
    clock = MovableClock()
    begun = clock.now()
    steps: list[Turn] = [asked("look", f"c{n}", path=f"f{n}") for n in range(STEPS)]
    script = [*steps[:at], *trouble, *steps[at:], "done"]
    acknowledged: list[int] = []
    model = ScriptedModel(script, always="done", sleep=sleep_on(clock), window_tokens=16_000)
    async with _open(root, model, clock) as session:
        told: type[WayfareError] | None = None
        try:
            await session.run("Look at everything.")
        except WayfareError as error:
            told = type(error)
        assert told is surfaces, f"ended with {told}"
        assert clock.now() - begun <= MOST_SECONDS, f"{clock.now() - begun:.0f} seconds"
        acknowledged.append(session.governor.transcript.last_id)
        await _whole(session)
        opened = session.name
    again = ScriptedModel(always="went on", window_tokens=16_000)
    async with _open(root, again, clock, session=opened) as session:
        assert session.how == "resumed"
        assert session.governor.transcript.last_id >= acknowledged[0], "an entry is lost"
        await _whole(session)
        ended = await session.run("Go on.")
        assert ended.text == "went on", ended
        await _whole(session)


def _open(root: Path, model: ScriptedModel, clock: MovableClock, **more: Any) -> Any:
    return Session.open(
        root,
        model=Retrying(model, clock=clock, sleep=sleep_on(clock)),
        tools=[look],
        mode="full",
        role="You are an agent.",
        summaries=False,
        clock=clock,
        **more,
    )


async def _whole(session: Session) -> None:
    """The log is without a hole, the user's words are in it, and the next request is legal."""
    transcript = session.governor.transcript
    numbers: list[int] = []
    texts: list[str] = []
    async for entry in transcript.entries():
        numbers.append(entry.id)
        if isinstance(entry, MessageEntry):
            texts.append((await transcript.entered(entry)).message.text)
    assert numbers == list(range(1, len(numbers) + 1)), "the log has a hole"
    assert "Look at everything." in texts, "the request is lost"
    await session.governor.prepare()
    found = violations(session.governor.view)
    assert not found, found
