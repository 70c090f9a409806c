"""What reading a line of bash yields: words, assignments, redirections, commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
"""Folders only an administrator writes: a program named through them is the program itself."""
_NEEDS_QUOTES = re.compile(r"[\s|&;<>()$`\"'\\*?\[\]#!]")


class Unparsable(Exception):
    """The line cannot be read with certainty; the message says why, for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word after quote removal.

    Attributes:
        text: The value; pieces known only at run time stand in it as they were written.
        literal: True when bash passes exactly `text` (with `~` filled in when `tilde`).
        stem: The beginning of the value that is certain; equals `text` when `literal`.
        glob: Not literal, but only because of filename patterns (`*`, `?`, `[…]`).
        tilde: Begins with the home folder (unquoted `~`, `$HOME`), written here as `~`.
        obscured: Spelled with escapes, quotes in the middle or `$'…'`: nobody writes a command
            name like that who wants it to be read.
        variables: Names of the variables the value depends on.
        below: Not literal, but certainly a file below `stem`, without `..` and without links.
        sole_variable: The one variable that is the whole word, else None.
    """

    text: str
    literal: bool = True
    stem: str = ""
    glob: bool = False
    tilde: bool = False
    below: bool = False
    obscured: bool = False
    variables: tuple[str, ...] = ()
    sole_variable: str | None = None

    @property
    def may_be_option(self) -> bool:
        """True unless the word certainly does not begin with a dash."""
        return self.stem.startswith("-") or (not self.literal and not self.stem)

    @property
    def shown(self) -> str:
        """The word in one canonical spelling, quoted only where a reader needs it."""
        if not self.literal:
            return self.text
        if self.text and not _NEEDS_QUOTES.search(self.text):
            return self.text
        return "'" + self.text.replace("'", "'\\''") + "'"


def plain(text: str) -> Word:
    """A word known exactly, as if written without any quoting."""
    return Word(text=text, stem=text)


def unknown(text: str, *, stem: str = "") -> Word:
    """A word of which only the beginning `stem` is certain."""
    return Word(text=text, literal=False, stem=stem)


def program(word: Word) -> str:
    """The name by which a command is known: system folders are left off, other folders stay."""
    for folder in SYSTEM_FOLDERS:
        if word.text.startswith(folder) and "/" not in word.text[len(folder) :]:
            return word.text[len(folder) :]
    return word.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """`name=value` before a command, on its own, or through `env` and `export`."""

    name: str
    value: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A file that a redirection reads or (`>`, `>>`, `>|`, `&>`) writes."""

    path: Word
    write: bool


Places: TypeAlias = tuple[tuple[Word, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command.

    Attributes:
        words: Name and arguments, wrappers taken off; empty for a lone assignment or redirection.
        assignments: Variables it sets.
        redirects: Files its redirections touch.
        dynamic: What runs cannot be told from the text: a computed or disguised name, a name that
            the line itself defines, code on standard input. Never matches an allow rule.
        elevated: Runs with more rights or elsewhere (`sudo`, `ssh`).
        wrappers: Names of what was taken off, outermost first.
        outer: The command with its wrappers, as rules that name the wrapper see it.
        outer_named_chars: So many characters of `outer` name what runs; a rule must spell them out.
        fed_by: Variables that stand in the text it is fed (`<<`, `<<<`).
        places: Each way of `cd` that may have happened before it, as the folders gone through.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    dynamic: bool = False
    elevated: bool = False
    wrappers: tuple[str, ...] = ()
    outer: str = ""
    outer_named_chars: int = 0
    fed_by: tuple[str, ...] = ()
    places: Places = ((),)

    @property
    def name(self) -> str:
        """The program's name, system folders left off; empty when there is none."""
        return program(self.words[0]) if self.words else ""

    @property
    def text(self) -> str:
        """The words in one canonical spelling, joined by single blanks."""
        return shown(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """The line cannot be read with certainty."""

    reason: str


def shown(words: Sequence[Word]) -> str:
    """Words in one canonical spelling, joined by single blanks."""
    return " ".join(word.shown for word in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """A command that only reads.

    Attributes:
        files: Words it reads as files or folders.
        repositories: Where git looks for the repository, whose settings can name programs to run.
    """

    files: tuple[Word, ...] = ()
    repositories: Places = ()
