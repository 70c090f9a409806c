"""Signed reasoning is planned for, not repaired: a strict provider never has to refuse it."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.context.governed_session import good_summary

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.summarizer import Summarizer, due
from wayfare.errors import CannotFit
from wayfare.events import ignore
from wayfare.formats import codec
from wayfare.messages import Message
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import governed, memory_transcript

Wire = dict[str, Any]
OWN = codec("anthropic")


def digest_of(messages: list[Wire]) -> str:
    """What stands before a block, cache markers left out; the provider knows nothing else."""
    return hashlib.sha256(repr(messages).encode("utf-8", "surrogatepass")).hexdigest()[:24]


class StrictProvider:
    """Signs its reasoning over all that stands before it.

    It refuses a block whose prefix is no longer what it signed. In the open step, whose results it
    has not answered yet, it wants every block back as it gave it, whatever stands before.
    """

    def __init__(self) -> None:
        self._gave: dict[str, Wire] = {}

    def sign(self, before: list[Wire], thought: str) -> Wire:
        signature = f"{digest_of(before)}.{hashlib.sha256(thought.encode()).hexdigest()[:8]}"
        return {"type": "thinking", "thinking": thought, "signature": signature}

    def give(self, before: list[Wire], thought: str) -> Wire:
        self._gave[thought] = self.sign(before, thought)
        return self._gave[thought]

    def refused(self, request: list[Wire]) -> list[str]:
        wrong: list[str] = []
        open_at = open_step(request)
        for at, message in enumerate(request):
            for block in blocks_of(message):
                if block.get("type") != "thinking":
                    continue
                thought = block["thinking"]
                as_signed = (
                    self._gave[thought] if at == open_at else self.sign(request[:at], thought)
                )
                if as_signed != block:
                    wrong.append(f"message {at}: {block['thinking']}")
        if open_at is not None:
            name = request[open_at]["content"][-1]["id"].partition("_")[0].replace("c", "thought ")
            shown = [b.get("thinking") for b in blocks_of(request[open_at])]
            if name in self._gave and name not in shown:
                wrong.append(f"message {open_at}: {name} of the open step is gone")
        return wrong


def blocks_of(message: Wire) -> list[Wire]:
    """The blocks of a message; none of one that is a plain text."""
    content = message["content"]
    return cast("list[Wire]", content) if isinstance(content, list) else []


def open_step(request: list[Wire]) -> int | None:
    """The message whose calls the last one answers."""
    answers = any(b.get("type") == "tool_result" for b in blocks_of(request[-1]))
    return len(request) - 2 if answers else None


step = st.fixed_dictionaries(
    {
        "thinks": st.booleans(),
        "calls": st.integers(0, 2),
        "chars": st.sampled_from((40, 900, 4_000)),
        "then": st.sampled_from(
            ("nothing", "nothing", "word", "compact", "idle", "resume", "compact, resume")
        ),
    }
)


PLAIN: Wire = {"thinks": False, "calls": 0, "chars": 40, "then": "nothing"}


# A compaction, and then results offloaded in the same step, whose reasoning both spared.
@example(
    [
        *[PLAIN] * 5,
        PLAIN | {"chars": 4_000},
        {"thinks": True, "calls": 2, "chars": 4_000, "then": "compact"},
        *[PLAIN] * 2,
    ],
    4_000,
)
# The same, and the session resumed while the step is open.
@example(
    [
        *[PLAIN] * 5,
        PLAIN | {"chars": 4_000},
        {"thinks": True, "calls": 2, "chars": 900, "then": "compact, resume"},
        *[PLAIN] * 2,
    ],
    4_000,
)
@settings(max_examples=25, deadline=None)
@given(st.lists(step, min_size=3, max_size=16), st.sampled_from((4_000, 6_000, 9_000)))
def test_a_provider_that_checks_every_prefix_refuses_nothing(
    steps: list[dict[str, Any]], window_tokens: int
) -> None:
    anyio.run(_session, steps, window_tokens)


async def _session(steps: list[dict[str, Any]], window_tokens: int) -> None:
    clock = MovableClock()
    provider = StrictProvider()
    budget = Budget.window(window_tokens, max_output_tokens=500)
    transcript = memory_transcript("s", clock=clock)
    governor = await governed(transcript, budget, clock=clock)
    model = ScriptedModel(always=good_summary(rule="Port the parser"), window_tokens=window_tokens)
    summarizer = Summarizer(model=model, clock=clock, watch=ignore)
    await governor.add([_user("Port the parser, please.")])
    for number, step in enumerate(steps):
        if due(governor):
            await summarizer(governor, trigger="auto")
        try:
            prepared = await governor.prepare()
        except CannotFit:
            return
        request = OWN.encode(prepared.messages)
        assert provider.refused(request) == []
        await governor.add([OWN.decode(_reply(provider, request, number, step))])
        if step["calls"]:
            await governor.add([OWN.decode(_results(number, step))])
        if step["then"] == "idle":
            clock.advance(3_600)
        if "compact" in step["then"]:
            await summarizer(governor)
        if "resume" in step["then"]:
            governor = await governed(transcript, budget, clock=clock)
        if step["then"] == "word" or not step["calls"]:
            await governor.add([_user(f"and part {number}")])


def _user(text: str) -> Message:
    return OWN.decode({"role": "user", "content": text})


def _reply(provider: StrictProvider, request: list[Wire], number: int, step: Wire) -> Wire:
    blocks: list[Wire] = []
    if step["thinks"]:
        blocks.append(provider.give(request, f"thought {number}"))
    blocks.append({"type": "text", "text": f"step {number} " + "word " * (step["chars"] // 20)})
    for at in range(step["calls"]):
        given = {"path": f"src/f{number}_{at}.py"}
        blocks.append(
            {"type": "tool_use", "id": f"c{number}_{at}", "name": "read_file", "input": given}
        )
    return {"role": "assistant", "content": blocks}


def _results(number: int, step: Wire) -> Wire:
    text = "content " * (step["chars"] // 8)
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": f"c{number}_{at}", "content": f"{at} {text}"}
            for at in range(step["calls"])
        ],
    }
