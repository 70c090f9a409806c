"""The conversation: what is typed becomes turns and commands, one session at a time.

It knows no terminal (a `Front` draws and asks) and no session's inside (`serving` opens and runs
it), so that the prompt is there at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from wayfare.cli.screen.slash import Typed, read_slash
from wayfare.cli.screen.spans import Line, wrapped
from wayfare.cli.screen.status import Status
from wayfare.clock import SystemClock
from wayfare.events import Event

if TYPE_CHECKING:
    import anyio

    from wayfare.agent.consent import Decided, Question
    from wayfare.agent.policy import Policy
    from wayfare.cli.model_choice import Known
    from wayfare.cli.settings_files import Read
    from wayfare.model import Model
    from wayfare.session.session import Session

CONTINUE: Final = frozenset({"continue", "go on", "weiter", "继续"})
"""Words that go on with a turn that did not end, without a new message."""


class Front(Protocol):
    """What draws and asks."""

    @property
    def columns(self) -> int:
        """Room of a line now."""
        ...

    @property
    def echoes(self) -> bool:
        """Whether what is typed stays in sight by itself."""
        ...

    def tell(self, event: Event, /) -> None:
        """An event; from any thread."""
        ...

    def show(self, lines: Sequence[Line], /) -> None:
        """Lines that stay."""
        ...

    def give_back(self, text: str, /) -> None:
        """Words that were typed and not used: back to where they can be edited."""
        ...

    async def ask(self, question: Question, policy: Policy, /) -> Decided:
        """A person's answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to be done with the session, in its turn: a command's name, or `say`."""

    name: str
    text: str = ""


class Conversation:
    """One person, one session at a time.

    Args:
        read: The settings.
        known: The model that answers; opened with the first session.
        front: Draws and asks.
        session: Goes on with that one; empty: a fresh one.
        can_ask: Whether a person can be asked for permission.

    Attributes:
        busy: Whether a turn runs.
        doing: What is being done beside a turn, in a word; empty: nothing.
        scope: What Ctrl-C cancels where no turn runs.
        leaving: Whether the person wants to leave.
        served: The session served last.
        status: What the status line shows.
        wanted: The session served next; empty: a fresh one.
    """

    def __init__(
        self, read: Read, known: Known, front: Front, *, session: str = "", can_ask: bool = True
    ) -> None:
        self.read = read
        self.model: Model | None = None
        self.front = front
        self.session: Session | None = None
        self.busy = False
        self.doing = ""
        self.scope: anyio.CancelScope | None = None
        self.leaving = False
        self.served = ""
        self.clock = SystemClock()
        self.wanted = session
        self._can_ask = can_ask
        self._jobs: deque[Job] = deque()
        self._news = asyncio.Event()
        self._idle = asyncio.Event()
        self.mode: str = read.settings.permissions.mode
        self.status = Status(
            model=known.name,
            mode=self.mode,
            window_tokens=known.window_tokens,
            currency=known.currency,
        )

    def watch(self, event: Event) -> None:
        """Told every event of the session, from any thread."""
        if "agent" not in event.fields:
            self.status = self.status.after(event)
        self.front.tell(event)

    def submit(self, text: str) -> None:
        """Take what was typed: a command, words for the turn under way, or a new turn."""
        if not text.strip():
            return
        typed = read_slash(text)
        if typed is not None:
            self._command(typed)
        elif self.session is not None and self.session.running:
            self.session.queue(text)
            self.front.show([(("dim", "queued: "), *line) for line in self._own_words(text)])
        else:
            if not self.front.echoes:
                self.front.show([(), *self._own_words(text, style="user")])
            self.add(Job(name="say", text=text))

    def _own_words(self, text: str, *, style: str = "") -> list[Line]:
        first, *rest = wrapped(text, self.front.columns - 2, style=style)
        return [(("user", "› "), *first), *((("", "  "), *line) for line in rest)]

    def _command(self, typed: Typed) -> None:
        if not typed.name:
            self.say(typed.text, style="warn")
        elif typed.name == "quit":
            self.leave()
        elif typed.name == "help":
            from wayfare.cli.screen.help import help_lines

            self.front.show(help_lines(self.front.columns))
        else:
            self.add(Job(name=typed.name, text=typed.argument))

    def add(self, job: Job) -> None:
        """Let something be done as soon as what runs is over."""
        if job.name == "compact" and self.session is not None and self.session.running:
            self.session.kit.context.compaction.ask(job.text, trigger="manual")
            self.say("compacts after the tools under way")
            return
        self._jobs.append(job)
        self._idle = asyncio.Event()
        self._news.set()

    def leave(self) -> None:
        """End: the turn under way is interrupted, the session closed."""
        self.leaving = True
        self.interrupt()
        self.doing = "leaving"
        self._news.set()

    def interrupt(self) -> bool:
        """End the turn under way cleanly; whether there was one."""
        if self.session is not None and self.session.running:
            self.session.interrupt()
            return True
        if self.scope is not None:
            self.scope.cancel()
            return True
        return False

    def say(self, text: str, *, style: str = "dim") -> None:
        """Show a remark."""
        self.front.show(wrapped(text, self.front.columns, style=style))

    def fail(self, error: Exception) -> None:
        """Show an error."""
        lines = wrapped(str(error) or type(error).__name__, self.front.columns - 2, style="bad")
        self.front.show(
            [(("bad", "✗ " if not at else "  "), *line) for at, line in enumerate(lines)]
        )

    def next_session(self, name: str = "") -> None:
        """Which session is served when the present one is closed; empty: a fresh one."""
        self.wanted = name

    async def next_job(self) -> Job | None:
        """Wait for something to do; None when the person leaves."""
        while not self._jobs and not self.leaving:
            self._news = asyncio.Event()
            self._idle.set()
            await self._news.wait()
        return None if self.leaving else self._jobs.popleft()

    async def settled(self) -> None:
        """Wait until everything that was asked for is done."""
        while self._jobs or not self._idle.is_set():
            await self._idle.wait()

    def drop_jobs(self) -> None:
        """Forget what was asked for and not begun."""
        self._jobs.clear()

    def put_back(self, job: Job) -> None:
        """Do this first, once there is a session."""
        self._jobs.appendleft(job)

    async def ask(self, question: Question, /) -> Decided:
        """A person's answer to a question of permissions."""
        session = self.session
        assert session is not None
        return await self.front.ask(question, session.consent.policy)

    @property
    def asks(self) -> bool:
        """Whether a person can be asked."""
        return self._can_ask

    def change_status(self, **fields: object) -> None:
        """Other values in the status line."""
        self.status = replace(self.status, **fields)  # pyright: ignore[reportArgumentType]
