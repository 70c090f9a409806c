"""How shell commands run: settings, the environment they get, the program that reads them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from wayfare.agent.policy import CLOSED_FOLDERS
from wayfare.agent.sandbox import Confinement, Sandbox, confined, default_read_only

_SECRET_WORDS: Final = frozenset(
    [
        "KEY",
        "KEYS",
        "APIKEY",
        "TOKEN",
        "TOKENS",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "PASS",
        "PAT",
        "CREDENTIAL",
        "CREDENTIALS",
        "COOKIE",
        "BEARER",
        "PGPASSWORD",
        "DSN",
    ]
)
"""Parts of a variable's name that say that its value is nobody's business."""
_SECRET_VALUE: Final = re.compile(
    r"^(?:sk|pk|rk)[-_][\w-]{16,}|^gh[opsur]_\w{20,}|^github_pat_\w{20,}|^xox[abprs]-|^AKIA[0-9A-Z]{16}$"
    r"|^eyJ[\w-]{10,}\.[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|^[a-z][\w+.-]*://[^/\s:@]*:[^/\s@]+@"
)
"""Values that are keys whatever they are called: the published prefixes of OpenAI, Anthropic,
Stripe, GitHub, Slack and AWS, signed web tokens, private keys, addresses with a password."""
_NO_SECRETS: Final = ("SSH_AUTH_SOCK", "XDG_*", "GPG_TTY", "KEYBOARD_*")
_NEVER: Final = ("BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4")
"""What would run other commands than the line that was judged."""
_PLAIN: Final[Mapping[str, str]] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Nobody sits at a terminal: no pagers, editors, prompts and colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """Settings of the shell tools.

    Attributes:
        timeout_seconds: A command may run so long unless its call says otherwise.
        most_timeout_seconds: A call may ask for so much.
        shown_chars: Longer output is shown by its beginning and its end.
        most_output_bytes: A command that prints more is ended, or it would fill the disk.
        grace_seconds: Between asking processes to end and ending them.
        sandbox: Confines commands; None: they run as the person would run them.
        confinement: What a confined command may touch; None: the workspace, but for what only
            wayfare's own tools write.
        keep: Names of environment variables, with `*`, that commands get although their name or
            value looks like a secret.
    """

    timeout_seconds: float = 120.0
    most_timeout_seconds: float = 3_600.0
    shown_chars: int = 16_000
    most_output_bytes: int = 8 << 30
    grace_seconds: float = 2.0
    sandbox: Sandbox | None = None
    confinement: Confinement | None = None
    keep: tuple[str, ...] = field(default=())

    def argv(self, command: str, workspace: Path) -> tuple[str, ...]:
        """The program and arguments that run a line."""
        program = shutil.which("bash") or "/bin/sh"
        options = ("--noprofile", "--norc") if program.endswith("bash") else ()
        argv = (program, *options, "-c", command)
        if self.sandbox is None:
            return argv
        own = Confinement(
            workspace=workspace, read_only=default_read_only(workspace, CLOSED_FOLDERS)
        )
        return confined(self.sandbox, argv, self.confinement or own)

    def environment(self, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """What commands find in their environment: what `given` (the process's own) holds, less
        keys and passwords and what would change the meaning of commands."""
        given = os.environ if given is None else given
        kept = {
            name: value
            for name, value in given.items()
            if not _covered(name, _NEVER)
            and (_covered(name, self.keep) or not looks_secret(name, value))
        }
        return {**kept, **_PLAIN}


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable of the environment holds a key or a password, by its name and value."""
    if _covered(name, _NO_SECRETS):
        return False
    words = re.split(r"[^A-Z]+", name.upper())
    return bool(_SECRET_WORDS.intersection(words)) or _SECRET_VALUE.search(value) is not None


def _covered(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
