"""Every command in a line of bash, wherever it hides.

`commands` reads a line with tree-sitter and returns each simple command of its pipelines, lists,
groups, substitutions, functions, loops and here-documents, with wrappers taken off, so that each
can be judged on its own. The tree is not trusted alone: text that no node covers, words whose
quoting reads differently and here-documents that end elsewhere make the line `Unparsed`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from wayfare.agent.shell.frames import After, Frame
from wayfare.agent.shell.names import Names, finish
from wayfare.agent.shell.tree import check_text, check_tree
from wayfare.agent.shell.values import (
    Assignment,
    Command,
    Places,
    Redirect,
    Unparsable,
    Unparsed,
    Word,
)
from wayfare.agent.shell.walk import Walk

if TYPE_CHECKING:
    from tree_sitter import Parser

__all__ = [
    "MAX_COMMANDS",
    "MAX_DEPTH",
    "MAX_LINE_CHARS",
    "Assignment",
    "Command",
    "Places",
    "Redirect",
    "Unparsed",
    "Word",
    "commands",
]

MAX_LINE_CHARS = 200_000
"""Longer lines are not parsed: at this size a person cannot read what they would agree to."""
MAX_COMMANDS = 500
"""More commands than this in one line are not judged; lines of real sessions stay below 60."""
MAX_DEPTH = 12
"""Shells started from shells (`bash -c`, `eval`, backticks in backticks)."""

_SETS_VARIABLES = frozenset(
    {"read", "readarray", "mapfile", "getopts", "printf", "let", "unset", "wait"}
)


def commands(line: str) -> tuple[Command, ...] | Unparsed:
    """Every simple command in `line`, in textual order.

    Returns:
        The commands, or `Unparsed` with a reason for a person. An empty line has no commands.
    """
    reader = _Reader()
    try:
        reader.read(line, Frame())
        return finish(reader.found, reader.names)
    except Unparsable as error:
        return Unparsed(reason=str(error))
    except (RecursionError, UnicodeError):
        return Unparsed(reason="it is nested too deeply or is not plain text")


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class _Reader:
    """Collects the commands of one line and of all code that the line hands to further shells."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self.names = Names()

    def read(self, code: str, frame: Frame) -> After:
        """Parses `code`, which runs as `frame` says, and collects its commands.

        Raises:
            Unparsable: when any part cannot be read with certainty.
        """
        if len(code) > MAX_LINE_CHARS:
            raise Unparsable(f"it is longer than {MAX_LINE_CHARS:,} characters")
        if frame.depth > MAX_DEPTH:
            raise Unparsable("it is nested too deeply")
        check_text(code)
        source = code.encode()
        root = _parser().parse(source).root_node
        check_tree(root, source)
        return Walk(self, source, frame).visit(root, frame.places)

    def add(self, command: Command) -> None:
        """Takes one command.

        Raises:
            Unparsable: when there are too many of them to judge.
        """
        if len(self.found) >= MAX_COMMANDS:
            raise Unparsable(f"it has more than {MAX_COMMANDS} commands")
        if command.name in _SETS_VARIABLES:
            for word in command.words[1:]:
                if re.fullmatch(r"[A-Za-z_]\w*", word.text, re.ASCII):
                    self.names.assign(word.text, None)
        self.found.append(command)
