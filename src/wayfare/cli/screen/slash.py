"""Slash commands: which there are, and reading one from a line."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Slash:
    """One slash command: its name, its argument as shown, what it does."""

    name: str
    argument: str = ""
    text: str


COMMANDS: Final = (
    Slash(name="compact", argument="[FOCUS]", text="make the context smaller now"),
    Slash(name="undo", text="take back the newest compaction"),
    Slash(name="context", text="what fills the window"),
    Slash(name="notes", text="the session's working notes"),
    Slash(name="memory", text="what is remembered across sessions"),
    Slash(name="model", argument="[NAME]", text="which model answers; another one"),
    Slash(name="permissions", argument="[MODE]", text="mode and rules; another mode"),
    Slash(name="clear", text="begin a fresh session"),
    Slash(name="resume", argument="[SESSION]", text="go on with another session"),
    Slash(name="help", text="this list"),
    Slash(name="quit", text="leave; so do q and Ctrl-D"),
)
_LEAVING: Final = frozenset({"q", "quit", "exit", ":q"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A slash command as typed; `name` is one of `COMMANDS`, or empty when `text` says why not."""

    name: str
    argument: str = ""
    text: str = ""


def read_slash(line: str) -> Typed | None:
    """The slash command of a line; None for words to the model.

    The beginning of one name alone is enough. A path (`/usr/bin is empty`) is no command; a word
    that is nearly one is refused with the name it may have meant, so that a slip is not sent to
    the model.
    """
    text = line.strip()
    if text in _LEAVING:
        return Typed(name="quit")
    if not text.startswith("/") or "\n" in text:
        return None
    word, _, argument = text[1:].partition(" ")
    names = [one.name for one in COMMANDS]
    if word in names:
        return Typed(name=word, argument=argument.strip())
    if not word.isalpha():
        return None
    begun = [name for name in names if name.startswith(word)]
    if len(begun) == 1:
        return Typed(name=begun[0], argument=argument.strip())
    near = begun or difflib.get_close_matches(word, names, n=1)
    hint = f"did you mean /{near[0]}?" if near else "/help lists what there is"
    return Typed(name="", text=f"/{word} is no command; {hint}")
