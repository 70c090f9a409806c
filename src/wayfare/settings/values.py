"""Checking one value against what its setting may hold, and reading one from plain text."""

from __future__ import annotations

import difflib
import tomllib
from typing import Any, Final

from wayfare.errors import ConfigError
from wayfare.settings.keys import Key, as_list, as_table

_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "text",
    "texts": "a list of texts",
    "table": "a table",
    "words": "a table of texts",
    "none": '"none"',
}
_SHARES: Final = ("_share", "_loss")
_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off")
_SHOWN_CHARS: Final = 60


def checked(key: Key, value: object, place: str) -> Any:
    """The value as the setting holds it.

    Raises:
        ConfigError: it is of another type or out of range; names what is valid.
    """
    kind = key.kind
    if isinstance(value, str):
        return _text(key, value, place)
    if isinstance(value, bool):
        fits = "bool" in kind.types
        return value if fits else _refuse(key, value, place)
    if isinstance(value, int | float):
        return _number(key, value, place)
    items = as_list(value)
    if items is not None and "texts" in kind.types and all(isinstance(x, str) for x in items):
        return tuple(items)
    table = as_table(value)
    if table is not None and kind.types & {"table", "words"}:
        texts = all(isinstance(x, str) for x in table.values())
        return table if "table" in kind.types or texts else _refuse(key, value, place)
    if value is None and "none" in kind.types:
        return None
    return _refuse(key, value, place)


def _text(key: Key, value: str, place: str) -> Any:
    kind = key.kind
    if value in kind.choices:
        return value
    if value == "none" and "none" in kind.types:
        return None
    if "text" not in kind.types:
        return _refuse(key, value, place)
    return value


def _number(key: Key, value: float, place: str) -> Any:
    kind = key.kind
    whole = isinstance(value, int)
    if "float" not in kind.types and not ("int" in kind.types and whole):
        return _refuse(key, value, place)
    if not value >= 0:  # also for nan
        raise _wrong(key, value, place, "a number that is not negative")
    if key.name.endswith(_SHARES) and value > 1:
        raise _wrong(key, value, place, "a share between 0 and 1")
    return value if "float" not in kind.types else float(value)


def _refuse(key: Key, value: object, place: str) -> Any:
    kinds = [_WORDS[name] for name in _WORDS if name in key.kind.types]
    if key.kind.choices:
        some = ", ".join(key.kind.choices)
        kinds.insert(0, f"one of {some}" if len(key.kind.choices) > 1 else f'"{some}"')
    raise _wrong(key, value, place, " or ".join(kinds))


def _wrong(key: Key, value: object, place: str, valid: str) -> ConfigError:
    shown = "a table" if as_table(value) is not None else repr(value)
    if len(shown) > _SHOWN_CHARS:
        shown = shown[: _SHOWN_CHARS - 1] + "…"
    text = f"{place}: " if place else ""
    text += f"{key.name} must be {valid}, not {shown}"
    if isinstance(value, str):
        near = difflib.get_close_matches(value, key.kind.choices, n=1)
        text += f"; did you mean {near[0]}?" if near else ""
    return ConfigError(text, setting=key.name, value=value)


def read_text(key: Key, text: str) -> object:
    """A value from an environment variable or a flag: plain text, or written as in TOML."""
    text = text.strip()
    kind = key.kind
    if text in kind.choices or kind.types == frozenset({"text"}):
        return text
    if text.lower() == "none" and "none" in kind.types:
        return None
    if "bool" in kind.types and text.lower() in _YES + _NO:
        return text.lower() in _YES
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    if isinstance(value, str) and "texts" in kind.types:
        return [value] if value else []
    return value
