"""The session on a terminal: an input line that is always there, output scrolling above it.

What is final is written above the input and belongs to the terminal's own scrollback. What still
changes (the answer's last block, tools at work, a question, the status line) is the prompt itself,
which prompt_toolkit draws anew.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.output import ColorDepth

from wayfare.cli.printing import write
from wayfare.cli.screen.completion import SessionCompleter, arguments_of, completable
from wayfare.cli.screen.drawing import drawn
from wayfare.cli.screen.files import WorkspaceFiles
from wayfare.cli.screen.history import TypedHistory, history_file
from wayfare.cli.screen.live import Live, frame
from wayfare.cli.screen.markdown import rendered
from wayfare.cli.screen.prompt_keys import Asked, key_bindings
from wayfare.cli.screen.prompt_look import STYLE, Harmless, plain_output
from wayfare.cli.screen.spans import Line, joined
from wayfare.cli.screen.status import status_line
from wayfare.cli.screen.terminal import size
from wayfare.events import Event

if TYPE_CHECKING:
    from wayfare.agent.consent import Decided, Question
    from wayfare.agent.policy import Policy
    from wayfare.cli.screen.conversation import Conversation
    from wayfare.settings import TerminalSettings

_GATHER_SECONDS: Final = 0.03
"""Events of so short a time are drawn together: thirty drawings a second are enough."""
_TICK_SECONDS: Final = 0.1
_OWN_ROWS: Final = 5
"""Rows kept for status, input and blank ones."""
_MENU_ROWS: Final = 7
_HEAVY: Final = (
    "wayfare.cli.screen.serving",
    "wayfare.cli.session_setup",
    "wayfare.session.assembly",
    "wayfare.agent.builtin",
    "rich.markdown",
)
"""What a first turn needs and a prompt does not."""


class PromptScreen:
    """A `Front` on a terminal.

    Args:
        settings: How it looks and listens.
        color: Whether colours are shown.
    """

    def __init__(self, settings: TerminalSettings, *, color: bool) -> None:
        self._settings = settings
        self._color = color
        self._live = Live(thinking=settings.thinking)
        self._told: deque[Event | Sequence[Line]] = deque()
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._growing: tuple[tuple[str, int], str] = (("", 0), "")
        self._warm = False
        self._prompt: PromptSession[str] | None = None
        self.asked: Asked | None = None
        self.note = ""
        self.talk: Conversation | None = None

    @property
    def columns(self) -> int:
        return size()[0]

    @property
    def echoes(self) -> bool:
        return False

    def tell(self, event: Event, /) -> None:
        self._told.append(event)
        self._loop.call_soon_threadsafe(self._news.set)

    def show(self, lines: Sequence[Line], /) -> None:
        self._told.append(lines)
        self._news.set()

    @property
    def typed(self) -> str:
        """What stands in the input line."""
        return "" if self._prompt is None else self._prompt.default_buffer.text

    def give_back(self, text: str, /) -> None:
        assert self._prompt is not None
        buffer = self._prompt.default_buffer
        joined_text = f"{text}\n{buffer.text}" if buffer.text else text
        buffer.document = Document(joined_text, len(joined_text))

    async def ask(self, question: Question, policy: Policy, /) -> Decided:
        from wayfare.cli.screen.question import always, answer_line, question_lines

        assert self._prompt is not None
        rules = always(question.use, policy)
        lines = question_lines(question, rules, *size())
        buffer = self._prompt.default_buffer
        draft = buffer.document
        buffer.reset()
        answer: asyncio.Future[Decided] = self._loop.create_future()
        self.asked = Asked(question=question, rules=rules, answer=answer, lines=tuple(lines))
        self._bell()
        self._prompt.app.invalidate()
        try:
            said = await answer
        finally:
            self.asked = None
            buffer.document = draft
        line = answer_line(question, said, self.columns)
        if line is not None:
            self.show([line])
        return said

    def _bell(self) -> None:
        if self._settings.bell and self._prompt is not None:
            self._prompt.output.bell()
            self._prompt.output.flush()

    async def run(self, talk: Conversation) -> None:
        """Serve a conversation until the person leaves."""
        self.talk = talk
        prompt = self._prompt = self._made(talk)
        prompt.default_buffer.on_text_changed += self._warm_up
        async with asyncio.TaskGroup() as tasks:
            own = [
                tasks.create_task(job) for job in (self._draw(), self._tick(), self._serve(talk))
            ]
            self._on_signals(talk)
            await prompt.prompt_async(handle_sigint=True)
            for task in own:
                task.cancel()
        self._write(self._drained())

    async def _serve(self, talk: Conversation) -> None:
        from wayfare.cli.screen.serving import run

        await run(talk)
        self.close()

    def close(self) -> None:
        """Leave the input line."""
        assert self._prompt is not None
        if self._prompt.app.is_running and not self._prompt.app.is_done:
            self._prompt.app.exit(result="")

    def _on_signals(self, talk: Conversation) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._loop.add_signal_handler(number, talk.leave)

    def _made(self, talk: Conversation) -> PromptSession[str]:
        files = WorkspaceFiles(talk.read.workspace)
        typed = TypedHistory(history_file(), self._settings.history_lines)
        prompt: PromptSession[str] = PromptSession(
            message=self._message,
            prompt_continuation="  ",
            multiline=True,
            completer=SessionCompleter(files, arguments_of(talk)),
            complete_in_thread=True,
            complete_while_typing=Condition(self._completes),
            reserve_space_for_menu=_MENU_ROWS,
            history=typed if self._settings.history_lines else None,
            editing_mode=EditingMode.VI if self._settings.editing == "vi" else EditingMode.EMACS,
            key_bindings=key_bindings(self, talk),
            style=STYLE,
            input_processors=[Harmless()],
            include_default_pygments_style=False,
            color_depth=None if self._color else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            output=plain_output(),
        )
        return prompt

    def _completes(self) -> bool:
        if self._prompt is None or self.asked is not None:
            return False
        return completable(self._prompt.default_buffer.document)

    def _warm_up(self, buffer: Any) -> None:
        """Load what the first turn needs while the person still types it."""
        text = buffer.text
        if self._warm or len(text) < 2 or text.startswith("/"):
            return
        self._warm = True
        threading.Thread(target=_load, daemon=True).start()

    def _message(self) -> ANSI:
        """All that is drawn anew: what grows, what runs, a question, the status, the mark."""
        columns, rows = size()
        self._live.columns = columns
        talk = self.talk
        if talk is None or (self._prompt is not None and self._prompt.app.is_done):
            return ANSI("")
        room = max(rows - _OWN_ROWS, 1)
        now = talk.clock.monotonic()
        tail = self._tail(now, room)
        above = self._grown(columns, room - len(tail))
        note = self.note or self._live.note(now)
        if talk.doing:
            note = f"{frame(now)} {talk.doing}"
        status = status_line(talk.status, columns, note=note)
        lines = joined([*tail, (), status], color=self._color)
        mark: Line = (("warn", "? "),) if self.asked else (("user", "› "),)
        return ANSI(above + lines + joined([mark], color=self._color).rstrip("\n"))

    def _tail(self, now: float, room: int) -> list[Line]:
        """A question, or what runs; of a question its beginning stays in sight."""
        if self.asked is None:
            return self._live.tail(now, min(room, 8))[-room:]
        from wayfare.cli.screen.question import squeezed

        return squeezed(self.asked.lines, room)

    def _grown(self, columns: int, rows: int) -> str:
        """The answer's unfinished block, at most so many rows of it."""
        if rows < 1:
            return ""
        text = self._live.growing(rows)
        if not text.strip():
            return ""
        key = (text, columns)
        if self._growing[0] != key:
            self._growing = (key, rendered(text, columns, color=self._color))
        lines = self._growing[1].splitlines()[-rows + 1 :] if rows > 1 else []
        return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""

    async def _draw(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._news.clear()
            was_busy = self._live.busy
            text = self._drained()
            if text:
                await run_in_terminal(partial(self._write, text))
            if was_busy and not self._live.busy:
                self.note = ""
                self._bell()
            assert self._prompt is not None
            self._prompt.app.invalidate()

    def _drained(self) -> str:
        """The text of everything told since the last drawing."""
        columns = self._live.columns = self.columns
        assert self.talk is not None
        now = self.talk.clock.monotonic()
        parts: list[str] = []
        while self._told:
            told = self._told.popleft()
            if isinstance(told, Event):
                for piece in self._live.take(told, now):
                    parts.append(drawn(piece, columns, color=self._color))
            else:
                parts.append(joined(told, color=self._color))
        return "".join(parts)

    def _write(self, text: str) -> None:
        if text:
            write(text, sys.stdout)

    async def _tick(self) -> None:
        """Move what shows time while something runs."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            busy = self._live.busy or (self.talk is not None and self.talk.doing)
            if busy and self._prompt is not None:
                self._prompt.app.invalidate()


def _load() -> None:
    from importlib import import_module

    for name in _HEAVY:
        import_module(name)
