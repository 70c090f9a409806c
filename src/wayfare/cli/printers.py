"""Who is told what happens in a run without a session screen: a pipe, a terminal, a script."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Final, Protocol

from wayfare.cli.printing import put_json, write
from wayfare.cli.screen.live import Answer, Live, Piece, Thought
from wayfare.cli.screen.markdown import rendered
from wayfare.cli.screen.spans import harmless, joined, wrapped
from wayfare.cli.screen.terminal import size
from wayfare.clock import Clock
from wayfare.events import Event

_ENDS: Final = "run.ended"


class Printer(Protocol):
    """Told every event of a run, from any thread, and how it ended."""

    def tell(self, event: Event, /) -> None:
        """Print what is to be printed of it."""
        ...

    def end(self, ended: Mapping[str, Any], /) -> None:
        """The last word: `ended`, `text`, `exit_status`, and what else is known."""
        ...


class Lines:
    """Progress as lines on stderr, the final answer on stdout.

    On a terminal the answer is drawn as it comes in; in a pipe stdout gets the final answer alone.

    Args:
        clock: Time.
        quiet: No progress.
        color: Whether stdout and stderr show colours.
        streaming: Whether stdout is a terminal.
        thinking: Whether reasoning is shown.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        quiet: bool,
        color: tuple[bool, bool],
        streaming: bool,
        thinking: bool,
    ) -> None:
        self._clock = clock
        self._quiet = quiet
        self._out_color, self._err_color = color
        self._streaming = streaming
        self._live = Live(thinking=thinking)
        self._lock = threading.Lock()
        self._blank = True
        self._held: list[Answer] = []

    def tell(self, event: Event, /) -> None:
        with self._lock:
            self._live.columns = size()[0] if sys.stderr.isatty() else 120
            for piece in self._live.take(event, self._clock.monotonic()):
                if isinstance(piece, Answer) and not self._streaming:
                    self._held.append(piece)
                else:
                    self._put(piece)
            if event.name == "step.replied" and "agent" not in event.fields:
                self._between(event.fields.get("calls") != 0)

    def _between(self, goes_on: bool) -> None:
        """What was said before tools run is progress; what ends a turn is the answer itself."""
        held, self._held = self._held, []
        for piece in held if goes_on else ():
            self._put(piece)

    def _put(self, piece: Piece) -> None:
        if isinstance(piece, Answer):
            if self._streaming:
                text = rendered(piece.text, self._live.columns, color=self._out_color)
                write(("" if self._blank else "\n") + text, sys.stdout)
                self._blank = False
            elif not self._quiet:
                lines = wrapped(piece.text.strip("\n"), self._live.columns, style="dim", lead="  ")
                write(joined(lines, color=self._err_color), sys.stderr)
        elif self._quiet:
            return
        elif isinstance(piece, Thought):
            lines = wrapped(piece.text.strip("\n"), self._live.columns, style="dim", lead="  ")
            write(joined(lines, color=self._err_color), sys.stderr)
        else:
            write(joined([piece], color=self._err_color), sys.stderr)

    def end(self, ended: Mapping[str, Any], /) -> None:
        text = str(ended["text"])
        if ended["ended"] == "done":
            if not self._streaming:
                write(harmless(text).rstrip("\n") + "\n" if text else "", sys.stdout)
        elif ended["ended"] == "error":
            for number, line in enumerate(harmless(text).splitlines()):
                write(f"{'' if number else 'wayfare: '}{line}\n", sys.stderr)
        if ended["ended"] != "done" and ended.get("session") and not self._quiet:
            write(f"go on with: wayfare resume {ended['session']}\n", sys.stderr)


class JsonLines:
    """Every event as one JSON object a line, on stdout; see docs/en/reference/events.md.

    Args:
        clock: Time.
        partial: Whether the answer is told as it streams in, too.
    """

    def __init__(self, *, clock: Clock, partial: bool) -> None:
        self._clock = clock
        self._partial = partial
        self._said: dict[object, list[str]] = {}
        self._lock = threading.Lock()

    def tell(self, event: Event, /) -> None:
        with self._lock:
            if event.name.startswith("stream."):
                if event.name == "stream.text":
                    self._said.setdefault(event.fields.get("agent"), []).append(event.text)
                if not self._partial:
                    return
            elif event.name == "model.retry":
                self._said.pop(event.fields.get("agent"), None)
            elif event.name == "step.replied":
                self._answered(event)
            self._line(event.name, {"text": event.text, **event.fields})

    def _answered(self, event: Event) -> None:
        agent = event.fields.get("agent")
        text = "".join(self._said.pop(agent, []))
        if text:
            self._line(
                "answer", {"text": text} if agent is None else {"text": text, "agent": agent}
            )

    def end(self, ended: Mapping[str, Any], /) -> None:
        with self._lock:
            self._line(_ENDS, ended)

    def _line(self, name: str, fields: Mapping[str, Any]) -> None:
        value = {"event": name, "time": round(self._clock.now(), 3)}
        value |= {key: plain_value(field) for key, field in fields.items()}
        put_json(value)


def plain_value(value: Any) -> Any:
    """A value JSON has words for."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if value is None or isinstance(value, str | int | float | bool | Mapping | list | tuple):
        return value  # pyright: ignore[reportUnknownVariableType]
    return str(value)
