"""What is under way: the answer as it streams in, tools that run; a fold over events.

`take` is told every event and gives back what can be drawn for good; `tail` is what still changes
and is drawn again and again below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from wayfare.cli.screen.lines import duration, lines_of
from wayfare.cli.screen.markdown import last_lines, split
from wayfare.cli.screen.spans import Line, cut_middle, fitted, one_line, width_of
from wayfare.events import Event

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_SECONDS: Final = 0.1
_SHOWN_SECONDS: Final = 1.0
"""A tool's time is shown once it has taken so long; before, the number only flickers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A piece of the model's answer that is whole: Markdown."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A piece of the model's reasoning."""

    text: str


Piece: TypeAlias = Answer | Thought | Line


@dataclass(slots=True, kw_only=True)
class _Running:
    """A tool at work: its line, since when, its last word."""

    line: str
    since: float
    said: str = ""


@dataclass(slots=True, kw_only=True)
class Live:
    """The fold.

    Attributes:
        thinking: Whether reasoning is shown.
        columns: Room of a line.
        answered: The text of the answer of this step so far, for those who want it whole.
        busy: Whether a turn is under way.
        began: When it began, in monotonic seconds.
    """

    thinking: bool = False
    columns: int = 80
    answered: str = ""
    busy: bool = False
    began: float = 0.0
    _text: str = ""
    _thought: str = ""
    _running: dict[str, _Running] = field(default_factory=dict[str, _Running])
    _calling: str = ""

    def take(self, event: Event, now: float) -> list[Piece]:
        """Take note of an event; what can be drawn for good now.

        Args:
            event: What happened.
            now: Seconds, monotonic.
        """
        inner = "agent" in event.fields
        if event.name.startswith("stream."):
            return [] if inner else self._streamed(event)
        if event.name == "turn.begun" and not inner:
            self.busy, self.began = True, now
        done = [] if inner else self._settled(event)
        self._note_tool(event, now)
        if inner:
            return [*done, *self._inner_lines(event)]
        return [*done, *lines_of(event, self.columns)]

    def _note_tool(self, event: Event, now: float) -> None:
        """Keep track of which tools run."""
        key = f"{event.fields.get('agent', '')} {event.fields.get('call_id', '')}"
        if event.name == "tool.begun":
            self._running[key] = _Running(line=one_line(event.text), since=now)
        elif event.name == "tool.progress" and key in self._running:
            self._running[key].said = one_line(event.text)
        elif event.name == "tool.ended":
            self._running.pop(key, None)

    def _inner_lines(self, event: Event) -> list[Line]:
        """What a sub-agent did, set off by a rule."""
        if event.name in ("turn.begun", "turn.ended"):
            return []
        lines = lines_of(event, self.columns - 4)
        return [fitted((("dim", "  │ "), *line), self.columns) for line in lines]

    def _streamed(self, event: Event) -> list[Piece]:
        if event.name == "stream.thinking":
            self._thought += event.text
            return []
        done: list[Piece] = self._thoughts()
        if event.name == "stream.call":
            self._calling = one_line(event.text)
            return [*done, *self._rest()]
        self.answered += event.text
        self._text += event.text
        ready, self._text = split(self._text)
        return [*done, Answer(text=ready)] if ready.strip() else done

    def _settled(self, event: Event) -> list[Piece]:
        """What a step's end makes final."""
        if event.name == "turn.ended":
            self.busy = False
            self._running.clear()
        if event.name == "model.retry":
            # What a broken stream has said will be said again; what is drawn stays drawn.
            self._text = self._thought = self.answered = self._calling = ""
            return []
        if event.name in ("step.replied", "turn.ended", "tool.begun", "tool.ended"):
            self._calling = ""
            done = [*self._thoughts(), *self._rest()]
            if event.name == "step.replied":
                self.answered = ""
            return done
        return []

    def _thoughts(self) -> list[Piece]:
        thought, self._thought = self._thought, ""
        return [Thought(text=thought)] if thought.strip() and self.thinking else []

    def _rest(self) -> list[Piece]:
        rest, self._text = self._text, ""
        return [Answer(text=rest)] if rest.strip() else []

    def growing(self, rows: int) -> str:
        """The answer's last, unfinished block, as much as fits into so many rows."""
        return last_lines(self._text, rows)

    def note(self, now: float) -> str:
        """A sign of life with the time the turn has taken; empty between turns."""
        return f"{frame(now)} {duration(now - self.began)}" if self.busy else ""

    def tail(self, now: float, rows: int) -> list[Line]:
        """Lines about what runs: one a tool, or what the model does."""
        sign = frame(now)
        lines: list[Line] = []
        for running in list(self._running.values())[-max(rows, 1) :]:
            seconds = now - running.since
            took = f"  {duration(seconds)}" if seconds >= _SHOWN_SECONDS else ""
            said = f"  {running.said}" if running.said else ""
            room = self.columns - 2 - width_of(took)
            shown = cut_middle(running.line, max(room - min(width_of(said), room // 2), 8))
            line = fitted(
                (("accent", f"{sign} "), ("", shown), ("dim", said)), self.columns - width_of(took)
            )
            lines.append(fitted((*line, ("dim", took)), self.columns))
        if not lines and self._calling:
            lines.append(fitted((("accent", f"{sign} "), ("dim", self._calling)), self.columns))
        elif not lines and self.busy and not self._text:
            what = "thinking" if self._thought else "waiting for the model"
            lines.append(fitted((("accent", f"{sign} "), ("dim", what)), self.columns))
        return lines


def frame(now: float) -> str:
    """The sign of life at a moment."""
    return _FRAMES[int(now / FRAME_SECONDS) % len(_FRAMES)]
