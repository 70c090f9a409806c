"""Which settings there are: names, what each may hold, what is said about it."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, Final, Literal, cast

from wayfare.errors import ConfigError
from wayfare.settings.groups import McpServer, Settings

JOINED: Final = frozenset({"permissions.allow", "permissions.ask", "permissions.deny", "hooks"})
"""Lists that grow from source to source instead of being replaced."""
SHORT: Final[Mapping[str, str]] = {"model": "model.name", "side_model": "side_model.name"}
"""Groups that may be written as one text, and what it stands for."""
PREFIX: Final = "WAYFARE_"
_FOREIGN_VARIABLES: Final = frozenset({"WAYFARE_PROJECT_DIR"})
"""Set by wayfare itself, for commands of hooks."""
_SECRETS: Final = re.compile(r"(^|[._])(api_?|auth_?|access_?)?(key|token|secret|password)$", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a setting may hold: names of `int`, `float`, `bool`, `text`, `texts`, `table`, `words`
    (a table of texts), `none`; and words that are taken as they are."""

    types: frozenset[str]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting.

    Attributes:
        name: Its dotted name, such as `context.target_share`.
        kind: What it may hold.
        default: What it holds when nobody sets it.
        text: What is said about it.
    """

    name: str
    kind: Kind
    default: Any
    text: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        short = {full: group for group, full in SHORT.items()}.get(self.name, self.name)
        return PREFIX + short.replace(".", "_").upper()


@cache
def group_classes() -> Mapping[str, type[Any]]:
    """The groups by name, in order; without `mcp` and `hooks`, which have names of their own."""
    found = {f.name: f.default_factory for f in fields(Settings)}
    return {name: made for name, made in found.items() if isinstance(made, type)}


def group_keys(group: str) -> Mapping[str, Key]:
    """The settings of a group by their names in it."""
    return _keys_of(group, group_classes()[group])


@cache
def server_keys() -> Mapping[str, Key]:
    """What may be set of an MCP server."""
    return _keys_of("mcp.NAME", McpServer)


def all_keys() -> Iterator[Key]:
    """Every setting, in order; those of MCP servers once, and `hooks`."""
    for group in group_classes():
        yield from group_keys(group).values()
    yield from server_keys().values()
    text = _attributes(Settings)["hooks"]
    yield Key(name="hooks", kind=Kind(types=frozenset({"table"})), default=(), text=text)


@cache
def _keys_of(group: str, cls: type[Any]) -> Mapping[str, Key]:
    hints = typing.get_type_hints(cls)
    texts = _attributes(cls)
    found: dict[str, Key] = {}
    for one in fields(cls):
        default: Any = one.default
        if default is MISSING:
            assert one.default_factory is not MISSING
            default = one.default_factory()
        found[one.name] = Key(
            name=f"{group}.{one.name}",
            kind=_kind(hints[one.name]),
            default=default,
            text=texts.get(one.name, ""),
        )
    return found


def _kind(hint: Any) -> Kind:
    found: set[str] = set()
    choices: list[str] = []
    for part in _parts(hint):
        origin = typing.get_origin(part)
        if origin is Literal:
            choices.extend(typing.get_args(part))
        elif origin is tuple:
            found.add("texts")
        elif origin is not None:
            found.add("words" if typing.get_args(part)[1] is str else "table")
        else:
            found.add({str: "text", types.NoneType: "none"}.get(part) or part.__name__)
    return Kind(types=frozenset(found), choices=tuple(choices))


def _parts(hint: Any) -> Iterator[Any]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        for part in typing.get_args(hint):
            yield from _parts(part)
    else:
        yield hint


_ATTRIBUTE: Final = re.compile(r"^ {4,8}(\w+): (.*)$")


def _attributes(cls: type[Any]) -> Mapping[str, str]:
    """What the docstring of a class says about each of its attributes."""
    found: dict[str, list[str]] = {}
    name, began = "", False
    for line in (cls.__doc__ or "").splitlines():
        if line.strip() == "Attributes:":
            began = True
        elif began and (match := _ATTRIBUTE.match(line)) and not line.startswith(" " * 9):
            name = match[1]
            found[name] = [match[2].strip()]
        elif began and name and line.strip():
            found[name].append(line.strip())
    return {name: " ".join(lines) for name, lines in found.items()}


def find(name: str, place: str) -> Key:
    """The setting of a dotted name.

    Raises:
        ConfigError: there is none; names the nearest.
    """
    name = SHORT.get(name, name)
    group, _, rest = name.partition(".")
    if group in group_classes() and rest in group_keys(group):
        return group_keys(group)[rest]
    server, _, part = rest.partition(".")
    if group == "mcp" and server and part in server_keys():
        return server_keys()[part]
    raise unknown(name, place)


def find_variable(variable: str) -> Key | None:
    """The setting of an environment variable; None for one that is not about settings.

    Raises:
        ConfigError: it looks like one and is none; names the nearest.
    """
    if not variable.startswith(PREFIX) or variable in _FOREIGN_VARIABLES:
        return None
    by_variable = _by_variable()
    if variable in by_variable:
        return by_variable[variable]
    near = difflib.get_close_matches(variable, by_variable, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{variable} is no setting{hint}", setting=variable)


@cache
def _by_variable() -> Mapping[str, Key]:
    found = {key.variable: key for key in all_keys() if ".NAME." not in key.name}
    for full in SHORT.values():
        found[PREFIX + full.replace(".", "_").upper()] = find(full, "")
    return found


def unknown(name: str, place: str) -> ConfigError:
    """The error about a setting that does not exist."""
    if _SECRETS.search(name) and not name.endswith("_variable"):
        text = (
            f"{_in(place)}{name} is no setting: keys are not written into settings; put the key "
            "into an environment variable and its name into model.key_variable"
        )
        return ConfigError(text, setting=name)
    near = nearest(name)
    hint = f"; did you mean {near}?" if near else ""
    return ConfigError(f"{_in(place)}{name} is no setting{hint}", setting=name)


def nearest(name: str) -> str:
    """The setting whose name is nearest; empty when none is near."""
    names = [key.name for key in all_keys()]
    last = name.rpartition(".")[2].lower().replace("-", "_")
    same = [one for one in names if one.rpartition(".")[2] == last]
    if same:
        return same[0]
    group, dot, _ = name.partition(".")
    if not dot:
        tops = [*group_classes(), "mcp", "hooks"]
        close = difflib.get_close_matches(name, tops, n=1, cutoff=0.7)
        if close:
            return close[0]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    if close:
        return close[0]
    own = {one.rpartition(".")[2]: one for one in names if dot and one.startswith(group + ".")}
    every = {one.rpartition(".")[2]: one for one in reversed(names)}
    every |= {one: one for one in group_classes()}
    for words, likeness in ((own, 0.6), (every, 0.75)):
        found = difflib.get_close_matches(last, words, n=1, cutoff=likeness)
        if found:
            return words[found[0]]
    return ""


def _in(place: str) -> str:
    return f"{place}: " if place else ""


def as_list(value: object) -> list[object] | None:
    """A list of a settings file, or None."""
    return list(cast("list[object]", value)) if isinstance(value, list | tuple) else None


def as_table(value: object) -> dict[str, Any] | None:
    """A table of a settings file, or None."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None
