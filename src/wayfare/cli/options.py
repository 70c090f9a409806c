"""Options every session takes, and reading them when there is no command.

A session in the terminal is what people start most, and the library behind the commands takes more
time to read five options than everything else takes to start. So a line without a command is read
here; whatever is not plain is left to that library, which knows better what to say about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wayfare.errors import ConfigError

if TYPE_CHECKING:
    from wayfare.settings import Flag

ROOT: Final = ("--root", "-C")
MODEL: Final = ("--model", "-m")
MODE: Final = ("--mode",)
YES: Final = ("--yes", "-y")
SET: Final = ("--set",)


@dataclass(slots=True, kw_only=True)
class Options:
    """What the options say."""

    root: Path = field(default_factory=Path)
    model: str = ""
    mode: str = ""
    yes: bool = False
    others: list[str] = field(default_factory=list[str])

    def flags(self) -> list[Flag]:
        """The settings they stand for.

        Raises:
            ConfigError: an option that is not valid.
        """
        from wayfare.settings import Flag

        found: list[Flag] = []
        for text in self.others:
            key, sign, value = text.partition("=")
            if not sign:
                raise ConfigError(f"--set {text}: write --set NAME=VALUE", setting=text)
            found.append(Flag(key=key.strip(), value=value, flag="--set"))
        if self.model:
            found.append(Flag(key="model.name", value=self.model, flag="--model"))
        if self.yes and self.mode not in ("", "full"):
            text = f"--yes is --mode full, and --mode {self.mode} was given as well"
            raise ConfigError(text, setting="permissions.mode", value=self.mode)
        if self.mode or self.yes:
            flag = "--mode" if self.mode else "--yes"
            found.append(Flag(key="permissions.mode", value=self.mode or "full", flag=flag))
        return found


def plain_options(arguments: Sequence[str]) -> Options | None:
    """The options of a line without a command; None for any other line."""
    found = Options()
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, sign, value = word.partition("=")
        if not name.startswith("--"):
            name, sign, value = word[:2], "", ""
            if word != name:
                return None
        if name in YES and not sign:
            found.yes = True
            continue
        if name not in (*ROOT, *MODEL, *MODE, *SET):
            return None
        if not sign:
            if not left or left[0].startswith("-"):
                return None
            value = left.pop(0)
        if name in ROOT:
            found.root = Path(value)
        elif name in MODEL:
            found.model = value
        elif name in MODE:
            found.mode = value
        else:
            found.others.append(value)
    return found


def behind_the_command(arguments: Sequence[str], groups: Sequence[str]) -> list[str]:
    """The line with options that stand before the command moved behind it, where they count; as
    it was when none do. A command that does not take one of them says so.

    Args:
        arguments: The line.
        groups: Commands that are followed by a second one.
    """
    left = list(arguments)
    while left and left[0].startswith("-"):
        takes_next = left[0] in (*ROOT, *MODEL, *MODE, *SET)
        if plain_options(left[: 1 + takes_next]) is None:
            return list(arguments)
        left = left[1 + takes_next :]
    ahead = list(arguments[: len(arguments) - len(left)])
    words = 2 if left and left[0] in groups else 1
    command = left[:words]
    if len(command) < words or any(word.startswith("-") for word in command):
        return list(arguments)
    return [*command, *ahead, *left[words:]]


def modes() -> list[str]:
    """The permission modes, for completion."""
    from wayfare.agent.policy import MODES

    return list(MODES)


def sessions() -> list[str]:
    """The sessions of the folder one is in, the newest first, for completion."""
    from wayfare.session import Places, session_names

    return [*reversed(session_names(Places(workspace=Path.cwd())))]
