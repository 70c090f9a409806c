"""The kit: everything a turn works with, put together by the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from wayfare.agent.consent import Consent
from wayfare.agent.hooks import Hooks
from wayfare.agent.limits import Limits, Totals
from wayfare.agent.ports import AfterTurn, Attachments, Pending
from wayfare.agent.registry import Registry
from wayfare.agent.tools import ToolContext
from wayfare.clock import Clock, SystemClock
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer
from wayfare.events import Event, Watched, ignore
from wayfare.messages import Message
from wayfare.model import Model
from wayfare.transcript import EditEntry


class Compactor(Protocol):
    """Makes the context smaller; a `context.summarizer.Summarizer` is one."""

    async def __call__(
        self, governor: Governor, /, *, focus: str, trigger: str
    ) -> Sequence[EditEntry]:
        """The edits committed; none when there was nothing to gain.

        `trigger` says why: `manual`, `model`, `auto` (the limit), `reactive` (a refusal).
        """
        ...


async def digest_compactor(
    governor: Governor, /, *, focus: str, trigger: str
) -> Sequence[EditEntry]:
    """Compacts by a digest, without asking a model; a digest knows no focus."""
    alone = Summarizer(model=None, clock=SystemClock(), watch=ignore)
    return await alone(governor, focus=focus, trigger=trigger)


class Inbox:
    """What a person typed while a turn was running, in order."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, text: str) -> None:
        """Let it wait for the next step."""
        self._waiting.append(text)

    def take(self) -> tuple[str, ...]:
        """All that waits, once."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        return taken


class NoAttachments:
    """The port before a turn of a session without memory."""

    def begin(self, request: Message) -> Pending:
        return _NothingPending()


class _NothingPending:
    async def ready(self, *, wait: bool) -> Sequence[Message]:
        return ()

    def cancel(self) -> None:
        return None


class BeforeCall(Protocol):
    """The port before each model call: what may begin in the background. Must not block or raise."""

    async def __call__(self) -> None: ...


async def nothing_before() -> None:
    """The port before each model call of a session without notes."""


async def nothing_after(ended: str, /) -> None:
    """The port after a turn of a session without memory and notes."""


@dataclass(slots=True, kw_only=True)
class Learned:
    """What refusals taught about the model: the longest reply it lets itself be asked for."""

    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Everything a turn works with.

    Args:
        model: Who answers; what waiting cures it waits for itself.
        governor: Keeps the context within its budget; holds the log.
        tools: What the model may call.
        context: What tools are handed.
        consent: Whether a call may run.
        hooks: What people hung onto events.
        limits: How far a turn may go.
        totals: What the session used so far.
        system: The system prompt.
        tail: Its last section, which may change when the prompt's prefix breaks anyway.
        inbox: What was typed meanwhile.
        attachments: The port before a turn.
        before_call: The port before each model call.
        after_turn: The port after a turn.
        compactor: Compacts: on request, at the limit, after a refusal.
        fixed: What system prompt, tools and index take, in tokens, by name.
        payload: Fields every hook gets.
    """

    model: Model
    governor: Governor
    tools: Registry
    context: ToolContext
    consent: Consent
    clock: Clock
    watch: Watched = ignore
    hooks: Hooks = field(default_factory=Hooks)
    limits: Limits = field(default_factory=Limits)
    totals: Totals = field(default_factory=Totals)
    learned: Learned = field(default_factory=Learned)
    system: str = ""
    tail: Callable[[], str] = str
    inbox: Inbox = field(default_factory=Inbox)
    attachments: Attachments = field(default_factory=NoAttachments)
    before_call: BeforeCall = nothing_before
    after_turn: AfterTurn = nothing_after
    compactor: Compactor = digest_compactor
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def prompt(self) -> str:
        """The system prompt as it is sent now."""
        return "\n\n".join(part for part in (self.system, self.tail()) if part)

    def tell(self, name: str, text: str, **fields: Any) -> None:
        """Tell an event."""
        self.watch(Event(name=name, text=text, fields=fields))
