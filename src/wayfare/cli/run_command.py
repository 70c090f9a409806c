"""`wayfare run`: one turn, for scripts and for pipes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import typer

from wayfare.agent.turn import Ended
from wayfare.cli.heap import hold_to_one_heap
from wayfare.cli.model_choice import open_model
from wayfare.cli.printers import JsonLines, Lines, Printer
from wayfare.cli.printing import say, unread
from wayfare.cli.screen.terminal import shows_color
from wayfare.cli.session_list import named_session
from wayfare.cli.session_setup import made_ready, places_of, session_options
from wayfare.cli.settings_files import (
    Read,
    is_strangers,
    left_out_line,
    own_workspace,
    read_settings,
    refuse_newest,
)
from wayfare.clock import Clock, SystemClock
from wayfare.errors import WayfareError
from wayfare.events import Event
from wayfare.session import run_sync
from wayfare.session.session import Session
from wayfare.settings import Flag

DONE: Final = 0
ERROR: Final = 1
LIMIT: Final = 3
INTERRUPTED: Final = 130
_STATUS: Final[Mapping[str, int]] = {
    "done": DONE,
    "error": ERROR,
    "hook": ERROR,
    "interrupted": INTERRUPTED,
}
"""By how a turn ended; whatever else ended it is a limit."""
NEWEST: Final = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be done: the task (`-`: from standard input), in which session, told how."""

    task: str
    session: str = ""
    json: bool = False
    partial: bool = False
    quiet: bool = False


def run(root: Path, wanted: Wanted, flags: list[Flag]) -> int:
    """Run one turn; returns the exit status.

    Raises:
        BadParameter: there is nothing to do.
        ConfigError: a setting that is not valid.
        WayfareError: the session cannot be opened.
    """
    task = sys.stdin.read() if wanted.task == "-" else wanted.task
    if not task.strip():
        raise typer.BadParameter("the task is empty", param_hint="TASK")
    read = read_settings(root, flags)
    strange = bool(wanted.session) and is_strangers(read)
    if (line := left_out_line(read)) and (strange or not wanted.quiet):
        say(f"wayfare: {line}")
    try:
        return run_sync(_run, read, wanted, task)
    except BrokenPipeError:
        return unread()
    except BaseExceptionGroup as group:  # something beside the turn had a line to tell
        if group.subgroup(BrokenPipeError) is None:
            raise
        return unread()


async def _run(read: Read, wanted: Wanted, task: str) -> int:
    hold_to_one_heap()
    clock = SystemClock()
    printer = _printer(read, wanted, clock)
    own_workspace(read)
    model = open_model(read.settings, clock=clock, watch=printer.tell)
    session = _session(read, wanted.session)
    options = await session_options(read, model, watch=printer.tell, ask=None, session=session)
    try:
        async with Session.open(**options) as opened:
            _tell_opened(printer, opened)
            await made_ready(opened, read, watch=printer.tell)
            ended = await _turn(opened, task)
    except WayfareError as error:
        printer.end(
            {
                "ended": "error",
                "text": str(error),
                "error": type(error).__name__,
                "exit_status": ERROR,
            }
        )
        return ERROR
    finally:
        close = getattr(model, "close", None)
        if close is not None:
            await close()
    status = _STATUS.get(ended.how, LIMIT)
    printer.end(
        {
            "ended": ended.how,
            "text": ended.text,
            "exit_status": status,
            "session": opened.name,
            "steps": ended.steps,
            "usage": asdict(ended.usage),
            "cost": ended.cost,
            "currency": model.prices.currency,
        }
    )
    return status


def _printer(read: Read, wanted: Wanted, clock: Clock) -> Printer:
    if wanted.json:
        return JsonLines(clock=clock, partial=wanted.partial)
    color = read.settings.terminal.color
    return Lines(
        clock=clock,
        quiet=wanted.quiet,
        color=(shows_color(sys.stdout, wanted=color), shows_color(sys.stderr, wanted=color)),
        streaming=sys.stdout.isatty(),
        thinking=read.settings.terminal.thinking,
    )


def _session(read: Read, wanted: str) -> str:
    if not wanted:
        return ""
    if wanted == NEWEST:
        refuse_newest(read)
    return named_session(places_of(read), "" if wanted == NEWEST else wanted)


def _tell_opened(printer: Printer, session: Session) -> None:
    fields: dict[str, Any] = {
        "session": session.name,
        "how": session.how,
        "model": session.model.name,
        "window_tokens": session.governor.budget.window_tokens,
        "mode": session.consent.policy.mode,
    }
    text = f"session {session.name} ({session.how}), {session.model.name}"
    printer.tell(Event(name="session.opened", text=text, fields=fields))


async def _turn(session: Session, task: str) -> Ended:
    """The turn; Ctrl-C ends it cleanly."""
    ended: list[Ended] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as tasks:

        async def listen() -> None:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for _ in signals:
                    if not session.running:
                        return
                    session.interrupt()

        tasks.start_soon(listen)
        try:
            ended.append(await session.run(task))
        except Exception as error:
            failed.append(error)  # raised outside the group, which would wrap it
        finally:
            tasks.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return ended[0]
