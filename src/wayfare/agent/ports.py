"""What the agent needs from whoever runs it: narrow protocols, filled by the session.

The agent knows neither memory nor notes, neither files of a session nor a terminal. Before a turn
it asks for attachments, after one it hands the finished log over; tools reach the session through
the protocols here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from wayfare.messages import Message
from wayfare.model import Usage
from wayfare.store import Ref
from wayfare.transcript import Entered, Entry, MessageEntry

_Kept = TypeVar("_Kept")


class History(Protocol):
    """Reads the session's log and archive; a `Transcript` is one."""

    @property
    def path(self) -> str:
        """The log's printed address."""
        ...

    def entries(self, first: int = 1, last: int | None = None) -> AsyncIterator[Entry]:
        """Entries by number, in order."""
        ...

    async def entered(self, entry: MessageEntry) -> Entered:
        """A message entry with its big results read back."""
        ...

    async def read(self, ref: Ref) -> bytes:
        """The exact bytes an address leads to.

        Raises:
            NotFound: it leads nowhere.
        """
        ...


class Sight(Protocol):
    """Says what the model still has before it."""

    def shows(self, call_id: str) -> bool:
        """Whether the result of that call stands whole in the context now."""
        ...

    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The task list as last written, oldest item first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentReport:
    """What a sub-agent came back with: its last words, how it ended (`done` or why it stopped),
    what it cost, and the address of its own transcript."""

    text: str
    ended: str = "done"
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    transcript: str = ""


class Subagents(Protocol):
    """Starts sub-agents, each with a context of its own."""

    async def run(
        self, task: str, *, description: str = "", tools: Sequence[str] | None = None
    ) -> SubagentReport:
        """Let one work on `task` until it stops; `tools` names those it may use (None: all of
        the session's but the one that starts sub-agents)."""
        ...

    def running(self) -> Sequence[str]:
        """One line for each that is at work."""
        ...


class Attachments(Protocol):
    """The port before a turn: what the runtime lays beside the user's words."""

    def begin(self, request: Message) -> Pending:
        """Start looking; must not block."""
        ...


class Pending(Protocol):
    """Attachments that are being looked for."""

    async def ready(self, *, wait: bool) -> Sequence[Message]:
        """What was found and not yet handed out, each with its origin. With `wait` the caller is
        before the first step of a turn and willing to wait a little; otherwise nothing is waited
        for and what is not there yet comes with a later step."""
        ...

    def cancel(self) -> None:
        """The turn is over; what was not found is not needed any more."""
        ...


class AfterTurn(Protocol):
    """The port after a turn: work on the finished log. Must not raise; slow work goes to the
    background and says so by events."""

    async def __call__(self, ended: str, /) -> None:
        """`ended` is `done` or why the turn stopped."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionWish:
    """That somebody wants the context smaller: what matters to them, and who, as a trigger."""

    focus: str
    trigger: Literal["manual", "model"]


class CompactionRequests:
    """Where the `compact` tool (or a person) leaves a wish; the loop grants it after the batch."""

    def __init__(self) -> None:
        self._wish: CompactionWish | None = None

    def ask(self, focus: str = "", *, trigger: Literal["manual", "model"] = "model") -> None:
        """Compact once every call of the batch has its result, or the reply under way has come.

        Args:
            focus: What matters; of two wishes both are told.
            trigger: `manual` when a person asks.
        """
        before = self._wish
        if before is not None:
            focus = "\n".join(filter(None, (before.focus, focus)))
            trigger = "manual" if "manual" in (before.trigger, trigger) else "model"
        self._wish = CompactionWish(focus=focus, trigger=trigger)

    def take(self) -> CompactionWish | None:
        """The wish, once; None when there is none."""
        wish, self._wish = self._wish, None
        return wish


class Kept:
    """Objects that tools keep for the length of a session, one of a class.

    `kept.of(FilesRead)` makes it at first use. Those with an `aclose()` are closed with the
    session, the newest first.
    """

    def __init__(self) -> None:
        self._kept: dict[type[Any], Any] = {}

    def of(self, kind: type[_Kept]) -> _Kept:
        """The session's object of that class; made without arguments if there is none yet."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        return self._kept[kind]

    def put(self, value: object) -> None:
        """Keep an object made elsewhere, in place of one of its class."""
        self._kept[type(value)] = value

    def get(self, kind: type[_Kept]) -> _Kept | None:
        """The session's object of that class, if there is one."""
        return self._kept.get(kind)

    async def aclose(self) -> None:
        """Close what can be closed, the newest first; every one is tried."""
        failed: list[Exception] = []
        while self._kept:
            _, value = self._kept.popitem()
            close = getattr(value, "aclose", None)
            if close is None:
                continue
            try:
                await close()
            except Exception as error:
                failed.append(error)
        if failed:
            raise ExceptionGroup("closing what tools kept", failed)
