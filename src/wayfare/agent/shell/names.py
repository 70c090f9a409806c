"""Names a line of bash sets, and what they change about the commands that use them.

Followed without regard to order: a variable may hold any value the line ever gives it. That errs
towards asking, and it is enough to read `for f in src/*.py; do head "$f"; done`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from wayfare.agent.shell.values import Command, Redirect, Unparsable, Word

_NUMBER = re.compile(r"-?[0-9]*")
_SPLIT_OR_MATCHED = re.compile(r"[\s*?\[\]\\]")
_ALWAYS_NUMBERS = frozenset({"#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "PPID"})


@dataclass(slots=True)
class Names:
    """What one line assigns, computes with and defines; filled while reading it.

    Attributes:
        values: For each variable the words it is set to; None for one set in an unreadable way.
        computed_with: Variables whose value bash evaluates as arithmetic, where text can run code.
        defined: Functions, which take the place of programs.
    """

    values: dict[str, list[Word] | None] = field(default_factory=dict[str, "list[Word] | None"])
    computed_with: set[str] = field(default_factory=set[str])
    defined: set[str] = field(default_factory=set[str])

    def assign(self, name: str, word: Word | None) -> None:
        """Notes one more value; None when it cannot be read."""
        known = self.values.setdefault(name, [])
        if word is None or known is None:
            self.values[name] = None
        else:
            known.append(word)


def finish(found: Iterable[Command], names: Names) -> tuple[Command, ...]:
    """The commands with loop variables filled in and redefined names marked dynamic.

    Raises:
        Unparsable: when text that the line controls is evaluated as arithmetic.
    """
    for name in names.computed_with:
        if name not in _ALWAYS_NUMBERS and not _is_number(name, names):
            raise Unparsable(f"it computes with ${name}, whose text could run a command")
    return tuple(_finished(command, names) for command in found)


def _is_number(name: str, names: Names) -> bool:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name == "_":
        return False
    values = names.values.get(name, [])
    return values is not None and all(w.literal and _NUMBER.fullmatch(w.text) for w in values)


def _finished(command: Command, names: Names) -> Command:
    redefined = {command.name, *command.wrappers} & names.defined
    words = (*command.words[:1], *(w for old in command.words[1:] for w in _filled(old, names)))
    redirects = tuple(
        Redirect(path=word, write=redirect.write)
        for redirect in command.redirects
        for word in _filled(redirect.path, names)
    )
    return replace(
        command,
        words=words,
        redirects=redirects,
        dynamic=command.dynamic or bool(redefined),
    )


def _filled(word: Word, names: Names) -> tuple[Word, ...]:
    name = word.sole_variable
    # Capitals are left alone: the environment may hold a value the line does not show.
    if name is None or name.isupper() or "IFS" in names.values:
        return (word,)
    values = names.values.get(name)
    if not values or not all(_safe(value) for value in values):
        return (word,)
    return tuple(replace(value, variables=(name,)) for value in values)


def _safe(value: Word) -> bool:
    return value.glob or (value.literal and not _SPLIT_OR_MATCHED.search(value.text))
