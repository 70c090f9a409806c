"""The page of all commands: usage, arguments, options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import typer

from docs.generate.wording import Wording, head, row
from wayfare.cli.app import app

_HEAD: Final = """\
Written by `python -m docs.generate` from the code; a test compares them.

`wayfare COMMAND --help` says the same. Options may stand before or after the arguments."""
_HIDDEN: Final = frozenset({"help", "install_completion", "show_completion"})


def page(say: Wording) -> str:
    """The whole page."""
    parts = [f"# {say('Commands')}", say(_HEAD)]
    parts.extend(_section(command, path, say) for path, command in commands())
    return "\n\n".join(parts) + "\n"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it, groups before what is in them."""
    yield from _walk("wayfare", typer.main.get_command(app))


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if getattr(command, "hidden", False):
        return
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _walk(f"{path} {name}", below)


def _section(command: Any, path: str, say: Wording) -> str:
    parts = [f"## `{path}`", "\n".join(_paragraphs(command.help or "", say))]
    shown = [p for p in command.params if p.name not in _HIDDEN and not getattr(p, "hidden", False)]
    names = [_argument(p) for p in shown if p.param_type_name == "argument"]
    has_options = any(p.param_type_name == "option" for p in shown)
    usage = [path, *(["[OPTIONS]"] if has_options else []), *names]
    if hasattr(command, "commands"):
        usage.append("COMMAND …")
    parts.append(f"```text\n{' '.join(usage)}\n```")
    if shown:
        rows = [row(f"`{_name(p)}`", say(getattr(p, "help", "") or "")) for p in shown]
        parts.append("\n".join([head(say("option"), say("what")), *rows]))
    return "\n\n".join(parts)


def _paragraphs(text: str, say: Wording) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield say(" ".join(paragraph.split()))


def _argument(parameter: Any) -> str:
    name = parameter.name.rstrip("_").upper()
    shown = f"{name}…" if parameter.nargs == -1 else name
    return shown if parameter.required else f"[{shown}]"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _argument(parameter)
    names = ", ".join(sorted(parameter.opts, key=len, reverse=True))
    return names if parameter.is_flag else f"{names} VALUE"
