"""Signed reasoning over summaries, notes compactions, refusals and undo: a provider that checks
every prefix never has to refuse it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.property.test_signed_blocks import (
    OWN,
    PLAIN,
    StrictProvider,
    Wire,
    _reply,  # pyright: ignore[reportPrivateUsage]
    _results,  # pyright: ignore[reportPrivateUsage]
    _user,  # pyright: ignore[reportPrivateUsage]
)
from tests.unit.context.governed_session import good_summary

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.passes.notes import Notes
from wayfare.context.pipeline import Governor
from wayfare.context.recovery import Ladder
from wayfare.context.summarizer import Summarizer, due
from wayfare.errors import CannotFit, NotFound, PromptTooLong
from wayfare.events import ignore
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import governed, memory_transcript

NOTES = "# Current State\nThe parser is half done.\n# Errors & Corrections\nE42 is cured."
ACTS = ("summary", "notes", "refused", "undo", "idle", "resume", "word")

step = st.fixed_dictionaries(
    {
        "thinks": st.booleans(),
        "calls": st.integers(0, 2),
        "chars": st.sampled_from((40, 900, 2_500)),
        "then": st.lists(st.sampled_from(ACTS), max_size=2),
    }
)
THINKS: Wire = {"thinks": True, "calls": 1, "chars": 900, "then": []}


class Session:
    """One session against the strict provider, and what was committed in it."""

    def __init__(self, window_tokens: int) -> None:
        self.clock = MovableClock()
        self.provider = StrictProvider()
        self.budget = Budget.window(window_tokens, max_output_tokens=500)
        self.transcript = memory_transcript("s", clock=self.clock)
        self.by: Counter[str] = Counter()
        model = ScriptedModel(
            always=good_summary(rule="Port the parser"), window_tokens=window_tokens
        )
        self.summarizer = Summarizer(model=model, clock=self.clock, watch=ignore)
        self.governor: Governor

    async def open(self) -> None:
        self.governor = await governed(self.transcript, self.budget, clock=self.clock)

    async def compact(self, trigger: str, *, notes: bool = False) -> None:
        governor = self.governor

        async def now() -> Notes:
            tokens = governor.meter.text(NOTES)
            return Notes(text=NOTES, tokens=tokens, covers_entry=governor.transcript.last_id)

        asked = replace(self.summarizer, notes=now if notes else None)
        for edit in await asked(governor, trigger=trigger):
            self.by[edit.by] += 1

    async def request(self, refuse: bool) -> list[Wire]:
        """What is sent; where the provider refuses its length, what is sent then."""
        if due(self.governor):
            await self.compact("auto")
        prepared = await self.governor.prepare()
        if refuse:
            ladder = Ladder(self.governor, watch=ignore, reactive=self._reactive)
            prepared = await ladder.climb(prepared, PromptTooLong("too long"))
        return OWN.encode(prepared.messages)

    async def _reactive(self) -> Any:
        edits = await self.summarizer(self.governor, trigger="reactive")
        self.by.update(edit.by for edit in edits)
        return edits

    async def act(self, act: str, number: int) -> None:
        match act:
            case "summary":
                await self.compact("manual")
            case "notes":
                await self.compact("auto", notes=True)
            case "undo":
                try:
                    await self.governor.undo()
                except NotFound:
                    return
                self.by["undo"] += 1
            case "idle":
                self.clock.advance(3_600)
            case "resume":
                await self.open()
            case "word":
                await self.governor.add([_user(f"and part {number}")])
            case _:
                return


async def played(steps: list[dict[str, Any]], window_tokens: int) -> Counter[str]:
    """Play it; every request is looked at as the provider would."""
    session = Session(window_tokens)
    await session.open()
    await session.governor.add([_user("Port the parser, please.")])
    refuse = False
    for number, step in enumerate(steps):
        try:
            request = await session.request(refuse)
        except CannotFit:
            return session.by
        assert session.provider.refused(request) == []
        await session.governor.add([OWN.decode(_reply(session.provider, request, number, step))])
        if step["calls"]:
            await session.governor.add([OWN.decode(_results(number, step))])
        for act in step["then"]:
            await session.act(act, number)
        refuse = "refused" in step["then"]
        if not step["calls"]:
            await session.governor.add([_user(f"and then part {number}")])
    return session.by


# Reasoning signed over a summary, which is then taken back.
@example([*[THINKS] * 6, THINKS | {"then": ["summary"]}, *[THINKS] * 2, THINKS | {"then": ["undo"]}, THINKS], 6_000)  # fmt: skip
# A refusal cuts a result whose step thought in front of it.
@example([PLAIN | {"then": []}, THINKS, THINKS | {"calls": 0, "chars": 40, "then": ["refused"]}, PLAIN | {"then": []}], 4_000)  # fmt: skip
# The same over notes, and resumed.
@example([*[THINKS] * 9, THINKS | {"then": ["notes"]}, *[THINKS] * 2, THINKS | {"then": ["undo", "resume"]}, PLAIN | {"then": []}], 6_000)  # fmt: skip
@settings(max_examples=40, deadline=None)
@given(st.lists(step, min_size=4, max_size=20), st.sampled_from((4_000, 6_000, 9_000)))
def test_a_provider_that_checks_every_prefix_refuses_nothing(
    steps: list[dict[str, Any]], window_tokens: int
) -> None:
    anyio.run(played, steps, window_tokens)


def test_compactions_of_every_kind_take_part() -> None:
    """What the property is about does happen in such histories."""
    acts = (["summary"], *[[]] * 6, ["notes"], [], ["undo"], *[[]] * 4, ["refused"])
    steps = [THINKS | {"chars": 2_500, "then": list(then)} for then in acts * 5]
    by = anyio.run(played, steps, 9_000)
    assert by["summary"] >= 2
    assert by["notes"] >= 2
    assert by["reactive"] >= 2
    assert by["undo"] >= 2
