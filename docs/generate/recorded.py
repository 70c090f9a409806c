"""A recorded session fed through the runtime: what each pass and each rung did to the context."""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from wayfare.backends import InMemoryDocs
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.recovery import Ladder
from wayfare.context.rendering import Rendering
from wayfare.context.summarizer import Summarizer, due
from wayfare.context.view import View
from wayfare.errors import PromptTooLong
from wayfare.events import Event, ignore
from wayfare.formats import codec
from wayfare.messages import Message, Thinking
from wayfare.model import Request
from wayfare.notes.keeper import Keeper
from wayfare.providers.scripted import ScriptedModel
from wayfare.replay.recording import Recording
from wayfare.session import Places, file_transcript, governed
from wayfare.transcript import EditEntry

WINDOW_TOKENS: Final = 12_500
BELIEVED_TOKENS: Final = 50_000
"""The window the ladder's session is believed to have."""
TAKEN_TOKENS: Final = 2_000
"""What the provider of that session takes, which it does not say."""
_FULL_TOKENS: Final = 20_000
"""A context of this size is refused first."""
_LEAST_MESSAGES: Final = 18
_REASONING: Final = "I weigh what the last result says against the request. " * 24
_SIGNATURE: Final = "c2lnbmVk" * 40
"""About as long as a provider's."""
_HEADINGS: Final = (
    "Goal and standing constraints",
    "Decisions",
    "Files and functions",
    "Errors and corrections",
    "State of work",
    "Next step",
    "Open questions",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one pass did to one context."""

    by: str
    before: View
    after: View
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A context as it was sent, and by which rung."""

    by: str
    view: View
    taken: bool


async def steps(
    recording: Recording,
    budget: Budget,
    *,
    summaries: bool = False,
    notes: bool = False,
    signed: bool = False,
) -> AsyncIterator[Step]:
    """Every pass that changed something while the session is fed through.

    With `notes` session notes are kept and serve in place of summaries. With `signed` every reply
    has signed reasoning, and all that one request changed is one step where that drops some.
    """
    async with _fed(recording, budget) as (governor, clock):
        model = ScriptedModel(always=summary, window_tokens=WINDOW_TOKENS)
        writer = ScriptedModel(always=_sections, window_tokens=WINDOW_TOKENS)
        keeper = Keeper(
            governor=governor, docs=InMemoryDocs(), address="notes.md", model=writer, watch=ignore
        )
        summarizer = Summarizer(
            model=model, clock=clock, watch=ignore, notes=keeper.now if notes else None
        )
        for message in _messages(recording, signed=signed):
            if message.role == "assistant" and len(governor.view):
                clock.advance(20)
                if notes:
                    await keeper.before_call()
                before = governor.view
                made: tuple[EditEntry, ...] = ()
                if summaries and due(governor):
                    made = await summarizer(governor, trigger="auto")
                made = (*made, *(await governor.prepare()).edits)
                if signed and any(entry.by == "signed" for entry in made):
                    limit = governor.budget.limit_tokens
                    after = governor.view
                    yield Step(by="signed", before=before, after=after, limit_tokens=limit)
                for step in _apart(before, made, governor):
                    yield step
            await governor.add([message])


async def rungs(recording: Recording) -> list[Sent]:
    """A context that is refused as too long, without a number, until it fits."""
    told: list[Event] = []
    async with _fed(recording, Budget.window(BELIEVED_TOKENS)) as (governor, _):
        for message in _messages(recording):
            if message.role == "assistant" and len(governor.view):
                prepared = await governor.prepare()
                if governor.tokens >= _FULL_TOKENS and len(governor.view) >= _LEAST_MESSAGES:
                    break
            await governor.add([message])
        else:
            raise ValueError(f"no context of {_FULL_TOKENS} tokens in {recording.name}")
        ladder = Ladder(governor, watch=told.append)
        sent = [Sent(by="as prepared", view=governor.view, taken=False)]
        while governor.tokens > TAKEN_TOKENS:
            refusal = PromptTooLong("prompt is too long", limit_tokens=None)
            prepared = await ladder.climb(prepared, refusal)
            taken = governor.tokens <= TAKEN_TOKENS
            sent.append(Sent(by=str(told[-1].fields["rung"]), view=governor.view, taken=taken))
    return sent


@asynccontextmanager
async def _fed(
    recording: Recording, budget: Budget
) -> AsyncGenerator[tuple[Governor, MovableClock], None]:
    """The governor of a fresh session on disk, and its clock."""
    clock = MovableClock(1.7e9)
    with tempfile.TemporaryDirectory() as folder:
        transcript = file_transcript(
            Places(workspace=Path(folder)),
            "shown",
            clock=clock,
            format=recording.format,
            sync="never",
        )
        yield await governed(transcript, budget, clock=clock), clock
        await transcript.close()


def _messages(recording: Recording, *, signed: bool = False) -> Sequence[Message]:
    decode = codec(recording.format).decode
    found = [decode(wire) for wire in recording.messages]
    thought = Thinking(text=_REASONING, signature=_SIGNATURE)
    return [
        msgspec.structs.replace(m, blocks=(thought, *m.blocks))
        if signed and m.role == "assistant"
        else m
        for m in found
    ]


def summary(request: Request) -> str:
    """What the scripted model answers: the facts it was shown, as they stand there."""
    facts = _facts(request)
    lines = (f"## {h}\n{facts if h == 'State of work' else '-'}" for h in _HEADINGS)
    return "<summary>\n" + "\n".join(lines) + "\n</summary>"


def _sections(request: Request) -> str:
    """What the scripted writer of notes says: the same facts, and the last steps."""
    recent = re.findall(r"(?m)^#\d+ assistant: (.{20,200})$", request.messages[0].text)[-3:]
    return f"# Current State\n{chr(10).join(recent) or '-'}\n# Learnings\n{_facts(request)[:4_000]}"


def _facts(request: Request) -> str:
    text = request.messages[0].text
    return text.partition("<facts>")[2].partition("</facts>")[0].strip()


def _apart(before: View, edits: Sequence[EditEntry], governor: Governor) -> list[Step]:
    """The edits of one request, each pass by itself."""
    rendering = Rendering(addresses=governor.addresses, ledger=governor.ledger)
    found: list[Step] = []
    view = before
    for entry in edits:
        if entry.by == "signed":
            view = view.edited([entry], rendering)
            continue
        after = view.edited([entry], rendering)
        limit = governor.budget.limit_tokens
        found.append(Step(by=entry.by, before=view, after=after, limit_tokens=limit))
        view = after
    return found
