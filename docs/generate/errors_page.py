"""The page of all errors: the tree, what each means, the numbers it carries."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from docs.generate.wording import Wording, head, row
from wayfare import errors
from wayfare.errors import WayfareError

_HEAD: Final = """\
Written by `python -m docs.generate` from the code; a test compares them.

All of them live in `wayfare.errors`, and `except WayfareError` catches every one. A failure the
model can act on is never raised: it is a tool result with `is_error`. The message says what to do;
the attributes carry the numbers."""


def page(say: Wording) -> str:
    """The whole page."""
    tree = "\n".join(_tree(WayfareError, 0))
    parts = [f"# {say('Errors')}", say(_HEAD), f"```text\n{tree}\n```"]
    for family in (WayfareError, *_below(WayfareError)):
        own = [family, *_all_below(family)] if family is not WayfareError else [family]
        parts.append(f"## `{family.__name__}`\n\n" + "\n".join(_rows(own, say)))
    return "\n\n".join(parts) + "\n"


def _rows(classes: list[type[WayfareError]], say: Wording) -> Iterator[str]:
    yield head(say("error"), say("attributes"), say("what"))
    for one in classes:
        text = " ".join((inspect.getdoc(one) or "").split())
        yield row(f"`{one.__name__}`", ", ".join(f"`{a}`" for a in _carried(one)), say(text))


def _carried(one: type[WayfareError]) -> list[str]:
    """The attributes of an error, as its constructor takes them; its parents' where it has none."""
    made = next((c for c in one.__mro__ if c.__init__ is not Exception.__init__), None)
    if made is None or not issubclass(made, WayfareError):
        return []
    parameters = inspect.signature(one.__init__).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def _tree(one: type[WayfareError], depth: int) -> Iterator[str]:
    yield "  " * depth + one.__name__
    for below in _below(one):
        yield from _tree(below, depth + 1)


def _below(one: type[WayfareError]) -> list[type[WayfareError]]:
    """The classes right below, in the order of the file."""
    return [c for c in one.__subclasses__() if c.__module__ == errors.__name__]


def _all_below(one: type[WayfareError]) -> Iterator[type[WayfareError]]:
    for below in _below(one):
        yield below
        yield from _all_below(below)
