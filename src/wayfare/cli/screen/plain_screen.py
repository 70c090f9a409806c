"""The session without a terminal that can be drawn on: lines in, lines out, no control codes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from wayfare.cli.printing import write
from wayfare.cli.screen.drawing import drawn
from wayfare.cli.screen.line_reader import LineReader
from wayfare.cli.screen.live import Live
from wayfare.cli.screen.spans import Line, harmless, joined
from wayfare.cli.screen.terminal import size
from wayfare.events import Event

if TYPE_CHECKING:
    from wayfare.agent.consent import Decided, Question
    from wayfare.agent.policy import Policy
    from wayfare.cli.screen.conversation import Conversation
    from wayfare.settings import TerminalSettings


class PlainScreen:
    """A `Front` of lines.

    Args:
        settings: How it looks.
        typed: Where lines come from.
        prompts: Whether a mark says that a line is waited for.
    """

    def __init__(self, settings: TerminalSettings, *, typed: LineReader, prompts: bool) -> None:
        self._live = Live(thinking=settings.thinking)
        self._typed = typed
        self._prompts = prompts
        self.talk: Conversation | None = None

    @property
    def columns(self) -> int:
        return size()[0]

    @property
    def echoes(self) -> bool:
        return self._prompts

    def tell(self, event: Event, /) -> None:
        assert self.talk is not None
        self._live.columns = self.columns
        for piece in self._live.take(event, self.talk.clock.monotonic()):
            self._write(drawn(piece, self.columns, color=False))

    def show(self, lines: Sequence[Line], /) -> None:
        self._write(joined(lines, color=False))

    def give_back(self, text: str, /) -> None:
        self._write(f"not sent: {harmless(text)}\n")

    async def ask(self, question: Question, policy: Policy, /) -> Decided:
        from wayfare.agent.consent import Decided
        from wayfare.cli.screen.question import always, decided, question_lines

        rules = always(question.use, policy)
        self.show(question_lines(question, rules, self.columns))
        while True:
            line = await self._line("? ")
            if not line:
                return Decided(allow=False, reason="nobody answered")
            answer = decided(line.strip()[:1], rules)
            if answer is not None:
                return answer

    async def run(self, talk: Conversation) -> None:
        """Serve a conversation until the input ends or the person leaves."""
        from wayfare.cli.screen.serving import run

        self.talk = talk
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, talk)
            tasks.start_soon(self._heed, talk)
            await run(talk)
            tasks.cancel_scope.cancel()

    async def _read(self, talk: Conversation) -> None:
        """One line after the other; the next is read when what the last asked for is done."""
        while line := await self._line("› "):
            talk.submit(line.rstrip("\n"))
            if talk.leaving:
                return
            await talk.settled()
        talk.leave()

    async def _line(self, mark: str) -> str:
        if self._prompts:
            self._write(mark)
        return await self._typed.line()

    async def _heed(self, talk: Conversation) -> None:
        """Ctrl-C ends what runs; when nothing does, it leaves."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if number == signal.SIGTERM or not talk.interrupt():
                    talk.leave()

    def _write(self, text: str) -> None:
        write(text, sys.stdout)
