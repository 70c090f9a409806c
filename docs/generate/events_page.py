"""The list of all events, as the code tells them: name, fields, where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import wayfare
from docs.generate.wording import Wording, head, row

_SOURCE: Final = Path(wayfare.__file__).parent
_NAME: Final = re.compile(r"(?!response\.)[a-z]+\.[a-z_]+")
_TELLERS: Final = frozenset({"Event", "tell", "say", "_say", "_tell", "told", "_event"})
_HEAD: Final = """\
Written by `python -m docs.generate` from the code; a test compares them.

Every event that is told under a name of its own, with the fields that stand in its call. What they
mean is on [the page of events](events.md)."""


def page(say: Wording) -> str:
    """The whole page."""
    rows = [
        row(f"`{name}`", ", ".join(f"`{f}`" for f in sorted(fields)))
        for name, fields in sorted(events().items())
    ]
    table = "\n".join([head(say("event"), say("fields")), *rows])
    return f"# {say('All events')}\n\n{say(_HEAD)}\n\n{table}\n"


def events() -> Mapping[str, set[str]]:
    """The fields of each event by its name, as they stand in the calls that tell it."""
    found: dict[str, set[str]] = {}
    for file in sorted(_SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and (name := _told(node)):
                found.setdefault(name, set()).update(_fields(node))
    return found


def _told(node: ast.Call) -> str:
    """The event's name, when a call tells one."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    if called not in _TELLERS:
        return ""
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "name")]
    names = (a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str))
    return next((name for name in names if _NAME.fullmatch(name)), "")


def _fields(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg == "fields" and isinstance(keyword.value, ast.Dict):
            keys = keyword.value.keys
            yield from (str(k.value) for k in keys if isinstance(k, ast.Constant))
        elif keyword.arg not in ("name", "text", "fields", None):
            yield keyword.arg
