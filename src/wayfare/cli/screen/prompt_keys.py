"""The keys of the session: what Enter, Ctrl-C and the answers to a question do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

from wayfare.cli.screen.spans import Line

if TYPE_CHECKING:
    from wayfare.agent.consent import Decided, Question
    from wayfare.agent.policy import Rule
    from wayfare.cli.screen.conversation import Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that waits, the rules that `always` would make, and where the answer goes."""

    question: Question
    rules: tuple[Rule, ...]
    answer: asyncio.Future[Decided]
    lines: tuple[Line, ...]


class Keyed(Protocol):
    """The screen as the keys see it."""

    asked: Asked | None
    note: str
    """A word about what the last key did."""

    @property
    def typed(self) -> str:
        """What stands in the input line."""
        ...

    def close(self) -> None:
        """End at once."""
        ...


def key_bindings(screen: Keyed, talk: Conversation) -> KeyBindings:
    """The bindings of a screen that serves a conversation."""
    keys = KeyBindings()
    asked = Condition(lambda: screen.asked is not None)
    free = ~asked
    presses = _Interrupts(screen, talk)

    @keys.add("enter", filter=free)
    def _(event: Any) -> None:
        buffer = event.current_buffer
        if buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
            return
        text = buffer.text
        presses.forget()
        if not text.strip():
            buffer.reset()
            return
        buffer.append_to_history()
        buffer.reset()
        talk.submit(text)

    @keys.add("escape", "enter", filter=free)
    def _(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-d", filter=free & Condition(lambda: not screen.typed))
    def _(event: Any) -> None:
        talk.leave()

    @keys.add("c-c", eager=True)
    @keys.add("<sigint>", eager=True)
    def _(event: Any) -> None:
        presses.pressed(event.current_buffer)

    @keys.add(Keys.Any, filter=asked, eager=True)
    def _(event: Any) -> None:
        from wayfare.cli.screen.question import decided

        waiting = screen.asked
        if waiting is None or waiting.answer.done():
            return
        answer = decided(event.data, waiting.rules)
        if answer is not None:
            waiting.answer.set_result(answer)

    @keys.add("enter", filter=asked, eager=True)
    @keys.add("escape", filter=asked)
    @keys.add(Keys.BracketedPaste, filter=asked, eager=True)
    def _(event: Any) -> None:
        """A question is answered by a letter: what was about to be sent must not answer it."""

    return keys


class _Interrupts:
    """Ctrl-C: the first ends what runs or empties the line, the next one leaves."""

    def __init__(self, screen: Keyed, talk: Conversation) -> None:
        self._screen = screen
        self._talk = talk
        self._count = 0

    def forget(self) -> None:
        """Something else was done since."""
        self._count = 0
        self._screen.note = ""

    def pressed(self, buffer: Any) -> None:
        """One more."""
        screen, talk = self._screen, self._talk
        if buffer.text and screen.asked is None:
            buffer.reset()
            self.forget()
            return
        self._count += 1
        if talk.leaving:
            screen.close()
        elif self._count > 1:
            screen.note = "leaving"
            talk.leave()
        elif talk.interrupt():
            screen.note = "stopping; Ctrl-C again leaves"
        else:
            screen.note = "Ctrl-C again leaves"
