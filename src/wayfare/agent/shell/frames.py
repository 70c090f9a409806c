"""How a command found in a line is taken apart and handed on, and where the shell stands after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from wayfare.agent.shell.names import Names
from wayfare.agent.shell.unwrapping import Opaque, Runs, RunsAll, RunsCode
from wayfare.agent.shell.values import (
    Assignment,
    Command,
    Places,
    Unparsable,
    Word,
    plain,
    shown,
    unknown,
)
from wayfare.agent.shell.wrappers import unwrap

UNKNOWN_PLACE: tuple[Word, ...] = (unknown("…"),)
"""A folder that cannot be told."""
_MAX_PLACES = 8
_MAY_MOVE_ANYWHERE = frozenset({"source", ".", "pushd", "popd"})


_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "in",
        "{",
        "}",
        "!",
        "[[",
        "]]",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a piece of code inherits from the command that runs it."""

    places: Places = ((),)
    assignments: tuple[Assignment, ...] = ()
    wrappers: tuple[str, ...] = ()
    elevated: bool = False
    outer: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """Where the shell may stand after a node: when it succeeded, and in any case."""

    success: Places
    always: Places


class Reader(Protocol):
    """Who collects commands, and reads code found inside them."""

    names: Names

    def read(self, code: str, frame: Frame) -> After: ...

    def add(self, command: Command) -> None: ...


def either(*places: Places) -> Places:
    """All the places of both, once each; when they are too many, an unknown one."""
    merged = tuple(dict.fromkeys(chain for some in places for chain in some))
    return merged if len(merged) <= _MAX_PLACES else (UNKNOWN_PLACE,)


def emit(reader: Reader, command: Command, frame: Frame, *, stdin_code: str | None = None) -> After:
    """Hands `command` to the reader with its wrappers taken off.

    Args:
        reader: Who collects the commands.
        command: As written, in the places it may run in.
        frame: The code it stands in.
        stdin_code: The here-document that feeds it, when that is known text.

    Raises:
        Unparsable: when it hands code to a shell and that code cannot be read.
    """
    return _Emission(reader, frame, command.words, stdin_code).take(command)


class _Emission:
    """One written command on its way to the reader; `written` keeps it for rules that name it."""

    def __init__(
        self, reader: Reader, frame: Frame, written: Sequence[Word], stdin_code: str | None
    ) -> None:
        self.reader = reader
        self.frame = frame
        self.written = written
        self.stdin_code = stdin_code

    def take(self, command: Command) -> After:
        if not command.words:
            self.reader.add(command)
            return After(success=command.places, always=command.places)
        name = command.words[0]
        if name.text in _KEYWORDS:
            raise Unparsable(f"a {name.text} where a command should stand")
        if not name.literal or name.obscured or not name.text or "=" in name.text:
            return self._dynamic(command)
        inside = unwrap(command.words, self.stdin_code)
        if isinstance(inside, Runs) and not inside.words and command.name != "exec":
            inside = None
        if isinstance(inside, Opaque):
            return self._dynamic(replace(command, elevated=command.elevated or inside.elevated))
        if isinstance(inside, Runs):
            return self._runs(command, inside)
        if isinstance(inside, RunsAll):
            for part in inside.parts:
                self._runs(command, part)
                command = replace(command, redirects=(), assignments=self.frame.assignments)
            return After(success=command.places, always=command.places)
        if isinstance(inside, RunsCode):
            return self._code(command, inside)
        self._add(command)
        return self._moved(command)

    def _runs(self, command: Command, inside: Runs) -> After:
        if inside.itself:
            self._add(replace(command, words=inside.itself, redirects=()))
        assigned = tuple(Assignment(name=name, value=value) for name, value in inside.assigned)
        places = command.places
        if inside.directory is not None:
            places = tuple((*chain, inside.directory) for chain in places)
        same_program = inside.words[:1] == command.words[:1]
        inner = replace(
            command,
            words=inside.words,
            assignments=(*command.assignments, *assigned),
            elevated=command.elevated or inside.elevated,
            wrappers=command.wrappers if same_program else (*command.wrappers, command.name),
            places=places,
        )
        after = self.take(inner)
        if inside.in_shell:
            return after
        return After(success=command.places, always=command.places)

    def _code(self, command: Command, inside: RunsCode) -> After:
        if inside.itself:
            self._add(replace(command, words=inside.itself))
        if command.redirects and not inside.itself:
            self.reader.add(replace(command, words=(), assignments=()))
        written = shown(self.written)
        if inside.code == self.stdin_code:
            written += " <<< " + plain(inside.code).shown
        outer = self.frame.outer or written
        after = self.reader.read(
            inside.code,
            replace(
                self.frame,
                places=command.places,
                assignments=command.assignments,
                wrappers=(*command.wrappers, command.name),
                elevated=command.elevated or inside.elevated,
                outer=outer,
                depth=self.frame.depth + 1,
            ),
        )
        if inside.in_shell:
            return after
        return After(success=command.places, always=command.places)

    def _dynamic(self, command: Command) -> After:
        self._add(replace(command, dynamic=True))
        places = either(command.places, (UNKNOWN_PLACE,))
        return After(success=places, always=places)

    def _add(self, command: Command) -> None:
        if self.frame.outer:
            outer, named_chars = self.frame.outer, len(self.frame.outer)
        else:
            outer = shown(self.written)
            at = next((i for i, w in enumerate(self.written) if w is command.words[0]), None)
            named = self.written if at is None else self.written[: at + 1]
            named_chars = len(shown(named))
        self.reader.add(replace(command, outer=outer, outer_named_chars=named_chars))

    def _moved(self, command: Command) -> After:
        """Where the shell stands after a command that is not taken apart further."""
        places = command.places
        if command.name in _MAY_MOVE_ANYWHERE or command.name in self.reader.names.defined:
            places = either(places, (UNKNOWN_PLACE,))
            return After(success=places, always=places)
        if command.name != "cd":
            return After(success=places, always=places)
        target = _cd_target(command.words[1:])
        success = tuple((*chain, target) for chain in places)
        return After(success=success, always=either(places, success))


def _cd_target(arguments: Sequence[Word]) -> Word:
    rest = [w for w in arguments if w.text not in ("-P", "-L", "-e", "-@", "--")]
    if not rest:
        return Word(text="~", stem="~", tilde=True)
    return rest[0] if len(rest) == 1 and rest[0].text != "-" else unknown("…")
