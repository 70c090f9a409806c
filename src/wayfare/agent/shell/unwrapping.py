"""What a wrapper runs, as a value, and how its own options are taken off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from wayfare.agent.shell.values import Word, plain

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The wrapper runs these words as a command.

    Attributes:
        words: Name and arguments of what is run; empty when the wrapper runs nothing.
        assigned: Environment variables set for it.
        elevated: It runs with more rights, or on another machine.
        in_shell: It runs in the calling shell itself, so that `cd` has an effect.
        directory: The folder it is run in, when the wrapper changes it.
        itself: The wrapper's own words without what it runs, when they must be judged too.
    """

    words: tuple[Word, ...]
    assigned: tuple[tuple[str, Word], ...] = ()
    elevated: bool = False
    in_shell: bool = False
    directory: Word | None = None
    itself: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAll:
    """The wrapper runs several commands."""

    parts: tuple[Runs, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsCode:
    """The wrapper hands this text to a shell."""

    code: str
    elevated: bool = False
    in_shell: bool = False
    itself: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """What the wrapper runs cannot be told."""

    elevated: bool = False


Unwrapped: TypeAlias = Runs | RunsAll | RunsCode | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapperSpec:
    """How a wrapper's own words end: letters without and with a value, long options the same."""

    flags: str = ""
    valued: str = ""
    long: tuple[str, ...] = ()
    long_valued: tuple[str, ...] = ()
    operands: int = 0
    assignments: bool = False
    elevated: bool = False
    in_shell: bool = False
    directory: tuple[str, ...] = ()
    number_options: bool = False


def strip(words: Sequence[Word], spec: WrapperSpec) -> Runs | Opaque:
    """Takes a wrapper's own options, assignments and operands off the words after its name."""
    rest = list(words)
    directory: Word | None = None
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        if not option.literal or option.text == "-":
            return Opaque(elevated=spec.elevated)
        if option.text == "--":
            break
        taken = _option(option.text, rest, spec)
        if taken is None:
            return Opaque(elevated=spec.elevated)
        name, value = taken
        if name in spec.directory:
            directory = value
    assigned: list[tuple[str, Word]] = []
    while spec.assignments and rest and (match := _ASSIGNMENT.match(rest[0].stem)):
        word = rest.pop(0)
        value_text = word.text[match.end() :]
        value = replace(word, text=value_text, stem=word.stem[match.end() :], tilde=False)
        assigned.append((match[1], value))
    if any(not word.literal for word in rest[: spec.operands]):
        return Opaque(elevated=spec.elevated)
    return Runs(
        words=tuple(rest[spec.operands :]),
        assigned=tuple(assigned),
        elevated=spec.elevated,
        in_shell=spec.in_shell,
        directory=directory,
    )


def _option(text: str, rest: list[Word], spec: WrapperSpec) -> tuple[str, Word | None] | None:
    """Takes one option, and its value off `rest`; None when the option is not known."""
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        if name in spec.long:
            return name, None
        if name not in spec.long_valued:
            return None
        return (name, plain(value)) if equals else _value(name, rest)
    if spec.number_options and re.fullmatch(r"--?\d+|-[+]\d+", text):
        return "number", None
    letters = text[1:]
    for at, letter in enumerate(letters):
        if letter in spec.flags:
            continue
        if letter not in spec.valued:
            return None
        attached = letters[at + 1 :]
        return (letter, plain(attached)) if attached else _value(letter, rest)
    return letters[-1], None


def _value(name: str, rest: list[Word]) -> tuple[str, Word | None] | None:
    if not rest or not rest[0].literal:
        return None
    return name, rest.pop(0)
