"""A turn: how it begins and ends, and what it keeps track of in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio

from wayfare.agent.kit import Kit
from wayfare.agent.loop_detector import LoopDetector
from wayfare.agent.ports import Pending
from wayfare.messages import Message, Origin, user
from wayfare.model import Usage

MARK = "turn"
"""Name of the mark that a turn leaves in the log when it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """The next step follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The model is finished; `text` are its last words."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The turn ends although the model would go on: why in one word, and a line for people."""

    reason: str
    text: str


Outcome: TypeAlias = Continue | Done | Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a turn ended.

    `how` is `done`, or why it stopped: a limit's name, `interrupted`, `repeating`, `hook`, `length`,
    `error`. `text` are the model's last words, or the line that says why. It can be resumed always.
    """

    how: str
    text: str
    steps: int
    usage: Usage
    cost: float


@dataclass(slots=True, kw_only=True)
class Turn:
    """What a turn keeps track of."""

    began: float
    since_entry: int
    usage_before: Usage
    cost_before: float
    steps: int = 0
    stops_in_a_row: int = 0
    cuts_in_a_row: int = 0
    empties_in_a_row: int = 0
    handed_back: bool = False
    used_tools: bool = False
    detector: LoopDetector = field(default_factory=LoopDetector)
    pending: Pending | None = None

    @classmethod
    def starting(cls, kit: Kit) -> Turn:
        """A turn that begins now."""
        return cls(
            began=kit.clock.monotonic(),
            since_entry=kit.governor.transcript.last_id,
            usage_before=kit.totals.usage,
            cost_before=kit.totals.cost,
        )


async def begin(kit: Kit, turn: Turn, request: str | Message | None) -> Outcome:
    """Take in the request, if there is one, and start looking for attachments.

    None goes on with what the log holds: after a crash, an interruption or a limit.
    """
    kit.tell("turn.begun", "a turn begins" if request is not None else "the turn goes on")
    if request is None:
        return Continue()
    message = user(request) if isinstance(request, str) else request
    taken = await admit(kit, message)
    if isinstance(taken, Stopped):
        return taken
    await append(kit, *taken)
    turn.pending = kit.attachments.begin(message)
    return Continue()


async def admit(kit: Kit, message: Message) -> Sequence[Message] | Stopped:
    """The messages that a user's words come in as, or why a hook keeps them out.

    Hooks look before the words enter the log as a message: what one keeps out must not reach the
    model in any form, a digest's quotation included. The mark keeps the words.
    """
    said = await kit.hooks.run("UserPromptSubmit", {**kit.payload, "prompt": message.text})
    for line in said.messages:
        kit.tell("hook.message", line)
    if said.blocked:
        detail = {"reason": said.reason, "prompt": message.text}
        await kit.governor.transcript.mark("prompt_blocked", detail)
        return Stopped(reason="hook", text=f"a hook kept this out: {said.reason}")
    return (message, *(system_words(text) for text in said.additional_context))


async def append(kit: Kit, *messages: Message, usage: Usage | None = None) -> None:
    """Append to the log; a cancellation waits until log and view agree again."""
    with anyio.CancelScope(shield=True):
        await kit.governor.add(messages, usage=usage)


def system_words(text: str) -> Message:
    """Words of the runtime or of a hook; never the user's."""
    return user(text, origin=Origin.SYSTEM)


async def end(kit: Kit, turn: Turn, outcome: Outcome) -> Ended:
    """Leave the mark, tell how it ended, let what follows a turn begin."""
    if turn.pending is not None:
        turn.pending.cancel()
    how, text = "done", ""
    if isinstance(outcome, Stopped):
        how, text = outcome.reason, outcome.text
    elif isinstance(outcome, Done):
        text = outcome.text
    before = turn.usage_before
    now = kit.totals.usage
    usage = Usage(
        input_tokens=now.input_tokens - before.input_tokens,
        cache_read_tokens=now.cache_read_tokens - before.cache_read_tokens,
        cache_write_tokens=now.cache_write_tokens - before.cache_write_tokens,
        output_tokens=now.output_tokens - before.output_tokens,
    )
    cost = kit.totals.cost - turn.cost_before
    detail: dict[str, Any] = {"ended": how, "steps": turn.steps}
    await kit.governor.transcript.mark(MARK, detail)
    kit.tell(
        "turn.ended", text if how != "done" else "done", ended=how, steps=turn.steps, cost=cost
    )
    await kit.after_turn(how)
    return Ended(how=how, text=text, steps=turn.steps, usage=usage, cost=cost)
