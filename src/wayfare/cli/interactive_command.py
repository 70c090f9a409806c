"""`wayfare` and `wayfare resume`: a session in the terminal."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.cli.heap import hold_to_one_heap
from wayfare.cli.model_choice import known_choice
from wayfare.cli.options import Options
from wayfare.cli.printing import say, told, unread, write
from wayfare.cli.screen.spans import Line, cut, joined, one_line
from wayfare.cli.screen.terminal import is_dumb, shows_color, size
from wayfare.cli.settings_files import Read, left_out_line, read_settings, trust_found
from wayfare.errors import WayfareError, WriteFailed

if TYPE_CHECKING:
    from wayfare.cli.screen.conversation import Conversation
    from wayfare.settings import Flag


def run(root: Path, flags: list[Flag], session: str = "") -> int:
    """Serve a session until the person leaves.

    Args:
        root: The workspace.
        flags: What the command line sets.
        session: Goes on with that one; empty: a fresh one, opened with the first words.

    Raises:
        ConfigError: a setting that is not valid, or no such model.
        ModelAuthError: no key; says in three lines what to do.
    """
    read = trusted(read_settings(root, flags), root, flags)
    try:
        asyncio.run(_serve(read, session))
    except BaseExceptionGroup as group:
        # Tasks wrap what ends them; a single cause is told as itself.
        if group.subgroup(BrokenPipeError) is not None:
            return unread()
        raise group.exceptions[0] if len(group.exceptions) == 1 else group from None
    except BrokenPipeError:
        return unread()
    return 0


def run_told(options: Options) -> int:
    """The same with errors as lines."""
    try:
        return run(options.root, options.flags())
    except WayfareError as error:
        return told(error)


def trusted(read: Read, root: Path, flags: list[Flag]) -> Read:
    """Ask once whether what the workspace brings along may do what it says."""
    line = left_out_line(read)
    if not line:
        return read
    say(line)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return read
    sys.stderr.write("Do you trust it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return read
    assert read.brings is not None
    try:
        trust_found(read.brings)
    except WriteFailed as error:
        say(str(error))
        return read
    return read_settings(root, flags)


async def _serve(read: Read, session: str) -> None:
    hold_to_one_heap()
    from wayfare.cli.screen.conversation import Conversation

    known = known_choice(read.settings)
    if sys.stdin.isatty() and sys.stdout.isatty() and not is_dumb():
        from wayfare.cli.screen.prompt_screen import PromptScreen

        color = shows_color(sys.stdout, wanted=read.settings.terminal.color)
        screen = PromptScreen(read.settings.terminal, color=color)
        can_ask = True
    else:
        from wayfare.cli.screen.line_reader import LineReader
        from wayfare.cli.screen.plain_screen import PlainScreen

        color, can_ask = False, sys.stdin.isatty()
        typed = LineReader(sys.stdin.fileno())
        screen = PlainScreen(read.settings.terminal, typed=typed, prompts=can_ask)
    talk = Conversation(read, known, screen, session=session, can_ask=can_ask)
    write(joined(_greeting(read, talk), color=color), sys.stdout)
    await screen.run(talk)
    _farewell(talk)


def _greeting(read: Read, talk: Conversation) -> list[Line]:
    from wayfare import __version__

    columns, _ = size()
    home = str(Path.home())
    where = str(read.workspace)
    where = "~" + where.removeprefix(home) if where.startswith(home + "/") else where
    first = cut(f"wayfare {__version__} · {talk.status.model} · {one_line(where)}", columns)
    hint = "/help for commands, @ for files, q to leave"
    return [(("bold", first),), (("dim", cut(hint, columns)),)]


def _farewell(talk: Conversation) -> None:
    """How to go on another day."""
    if talk.served:
        columns, _ = size()
        say(cut(f"go on with: wayfare resume {talk.served}", columns))
