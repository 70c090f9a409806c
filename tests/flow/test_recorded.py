"""A recorded session through the live loop: the same history comes out as was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.flow.opened import Watching

from wayfare import Tool, ToolContext, ToolOutput
from wayfare.agent.limits import Limits
from wayfare.agent.tools import failure
from wayfare.context.budget import Budget
from wayfare.context.invariants import violations
from wayfare.context.stubs import SILENT
from wayfare.formats import codec
from wayfare.messages import Message, Text, ToolCall, ToolResult
from wayfare.providers.script import recorded_replies
from wayfare.replay.reachable import reachable
from wayfare.replay.reading import read_recordings
from wayfare.transcript import MessageEntry

pytestmark = pytest.mark.anyio
RECORDINGS = Path(__file__).parents[2] / "recordings"


class Played:
    """The person and the tools of a recording.

    Each tool gives back what was recorded for its call. Where the person stopped a batch, so that
    no call of it has a result, its first call does that; where words were typed while tools ran, so
    that they follow results and not a reply, the last call of the batch queues them.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.results: dict[str, list[ToolResult]] = {}
        for result in (r for m in messages for r in m.results):
            self.results.setdefault(result.call_id, []).append(result)
        self.unanswered = {c.id for m in messages for c in m.calls} - self.results.keys()
        self.stopped = {
            call.id
            for m in messages
            if m.calls and not any(c.id in self.results for c in m.calls)
            for call in m.calls
        }
        self.names = sorted({call.name for m in messages for call in m.calls})
        self.typed = dict(self._typed(messages))
        self.session: Any = None

    def _typed(self, messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
        for before, message in zip(messages, messages[1:], strict=False):
            if before.results and message.role == "user" and not message.results:
                yield before.results[-1].call_id, message.text

    def tools(self) -> list[Tool]:
        """One for each name that was called."""
        return [Tool(name=n, description=n, schema={}, run=self._play) for n in self.names]

    async def _play(self, given: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        id = context.call_id
        if id in self.stopped:
            self.session.interrupt()
            await anyio.sleep_forever()
        if id in self.unanswered:
            return failure("no result was recorded")
        if id in self.typed:
            self.session.queue(self.typed[id])
        result = self.results[id].pop(0)
        if all(isinstance(block, Text) for block in result.content):
            return ToolOutput(text=result.text, is_error=result.is_error)
        return ToolOutput(blocks=result.content, is_error=result.is_error)

    def turns(self, messages: Sequence[Message]) -> Iterator[list[Message]]:
        """What the person said between two turns, one after the other."""
        said: list[Message] = []
        before = ""
        for message in messages:
            if message.role == "user" and not message.results and before != "results":
                said.append(message)
                before = "user"
                continue
            if said:
                yield said
                said = []
            if message.role == "assistant":
                before = "assistant"
            elif message.results:
                before = "results"


def flat(messages: Sequence[Message]) -> list[tuple[str, ...]]:
    """What was said, called and answered, in order."""
    told: list[tuple[str, ...]] = []
    for message in messages:
        for block in message.blocks:
            match block:
                case ToolCall():
                    told.append(("call", block.id, block.name, str(dict(block.input))))
                case ToolResult():
                    text = block.text or SILENT
                    told.append(("result", block.call_id, text, str(block.is_error)))
                case _:
                    told.append((message.role, type(block).__name__, getattr(block, "text", "")))
    return told


@pytest.mark.parametrize(
    ("file", "window_tokens"),
    [
        ("pi-large-session.json", 50_000),
        ("taubench-gpt4o-airline-25.json", 200_000),
    ],
)
async def test_a_recorded_session_comes_out_of_the_live_loop_as_it_was_recorded(
    tmp_path: Path, file: str, window_tokens: int
) -> None:
    recording = read_recordings(RECORDINGS / file)[0]
    own = codec(recording.format)
    messages = [m for m in map(own.decode, recording.messages) if m.role != "system"]
    while messages[-1].role == "user":
        messages.pop()  # nobody answered it
    played = Played(messages)
    watching = Watching(tmp_path, recorded_replies(messages))
    limits = Limits(stop_hooks_in_a_row=0, repeats_told=10**6, repeats_ended=10**6)
    async with watching.open(
        tools=played.tools(), budget=Budget.window(window_tokens), limits=limits, sync="never"
    ) as session:
        played.session = session
        for *earlier, last in played.turns(messages):
            await session.governor.add(earlier)
            ended = await session.run(last)
            assert ended.how in ("done", "interrupted")
        transcript = session.governor.transcript
        entries = [entry async for entry in transcript.entries()]
        assert [entry.id for entry in entries] == list(range(1, transcript.last_id + 1))
        logged = [
            (await transcript.entered(entry)).message
            for entry in entries
            if isinstance(entry, MessageEntry)
        ]
        assert watching.model.left == 0
        assert not violations(session.governor.view)
        assert not (await reachable(transcript, session.messages)).lost
    answered = [told for told in flat(logged) if told[0] != "result" or told[1] in played.results]
    assert answered == flat(messages)
    if window_tokens < 100_000:
        assert any(e.name.startswith("context.") for e in watching.events)
