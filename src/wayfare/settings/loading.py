"""Reading the settings: defaults, user file, workspace, environment, flags; each over the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from wayfare.errors import ConfigError
from wayfare.settings.files import FileText, WorkspaceFiles
from wayfare.settings.groups import McpServer, Settings
from wayfare.settings.keys import (
    JOINED,
    PREFIX,
    SHORT,
    Key,
    as_list,
    as_table,
    find,
    find_variable,
    group_classes,
    group_keys,
    server_keys,
    unknown,
)
from wayfare.settings.narrowing import narrows
from wayfare.settings.values import checked, read_text

Kind: TypeAlias = Literal["default", "user", "project", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a value came from: the kind of source, and the file, variable or flag."""

    kind: Kind
    place: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.place}".strip()


DEFAULT = Source(kind="default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A setting given on the command line: its dotted name, its value, the flag."""

    key: str
    value: object
    flag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A setting of a workspace that is not trusted, and why it does not hold."""

    key: str
    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings and where they came from.

    Attributes:
        settings: What holds.
        sources: For every setting that somebody set, where from; for lists that grow, one source an
            item.
        left_out: What a workspace wanted and may not have.
    """

    settings: Settings
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict[str, tuple[Source, ...]])
    left_out: tuple[LeftOut, ...] = ()

    def source(self, key: str) -> Source:
        """Where the value of a setting came from; of a list that grows, its last item."""
        return (self.sources.get(key) or (DEFAULT,))[-1]


def load(
    *,
    workspace: Path | WorkspaceFiles | None = None,
    user: Path | FileText | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Iterable[Flag] = (),
    trusted: bool = False,
) -> Loaded:
    """Read all sources and put them together.

    Args:
        workspace: Whose settings file is read, or its files as they were read; None: none.
        user: The user's settings file, or what was read of it; None: none.
        environ: The environment; only names that begin with `WAYFARE_` are looked at.
        flags: What the command line sets.
        trusted: Whether the person trusts the workspace. If not, its settings only narrow.

    Raises:
        ConfigError: a file cannot be read or is no TOML, a setting is unknown (names the nearest)
            or its value is not valid (names what is).
    """
    merge = _Merge()
    if isinstance(user, Path):
        user = FileText.read(user)
    if user is not None:
        merge.table(user.table(), Source(kind="user", place=str(user.path)))
    if isinstance(workspace, Path):
        workspace = WorkspaceFiles.read(workspace)
    if workspace is not None and workspace.used is not None:
        source = Source(kind="project", place=workspace.used.path.name)
        merge.table(workspace.table(), source, narrow=not trusted)
    for variable, text in sorted((environ or {}).items()):
        key = find_variable(variable) if variable.startswith(PREFIX) else None
        if key is not None:
            merge.set(key, read_text(key, text), Source(kind="environment", place=variable))
    for flag in flags:
        key = find(flag.key, flag.flag)
        value = read_text(key, flag.value) if isinstance(flag.value, str) else flag.value
        name = flag.key if flag.key.startswith("mcp.") else key.name
        merge.set(key, value, Source(kind="flag", place=flag.flag), name=name)
    return merge.loaded()


class _Merge:
    """What was read so far."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._sources: dict[str, tuple[Source, ...]] = {}
        self._left_out: list[LeftOut] = []

    def table(self, table: Mapping[str, Any], source: Source, *, narrow: bool = False) -> None:
        """Take in a whole settings file."""
        for key, name, value in _flat(table, source.place):
            self.set(key, value, source, name=name, narrow=narrow)

    def set(
        self, key: Key, value: object, source: Source, *, name: str = "", narrow: bool = False
    ) -> None:
        """Take in one setting."""
        name = name or key.name
        if name == "hooks":
            kept: Any = _hooks(value, source.place)
        else:
            kept = checked(key, value, source.place)
        if narrow and not narrows(name, kept, self._values.get(name, key.default)):
            reason = "the workspace is not trusted, and this would not only narrow"
            self._left_out.append(LeftOut(key=name, place=source.place, reason=reason))
            return
        if name in JOINED:
            before = self._values.get(name, ())
            self._values[name] = (*before, *kept)
            self._sources[name] = (*self._sources.get(name, ()), *[source] * len(kept))
        else:
            self._values[name] = kept
            self._sources[name] = (source,)

    def loaded(self) -> Loaded:
        """The settings."""
        groups = {name: cls(**self._of(name)) for name, cls in group_classes().items()}
        settings = Settings(**groups, mcp=self._servers(), hooks=self._values.get("hooks", ()))
        return Loaded(settings=settings, sources=self._sources, left_out=tuple(self._left_out))

    def _of(self, group: str) -> dict[str, Any]:
        start = group + "."
        return {k.removeprefix(start): v for k, v in self._values.items() if k.startswith(start)}

    def _servers(self) -> dict[str, McpServer]:
        found: dict[str, McpServer] = {}
        for name, value in self._of("mcp").items():
            server, _, part = name.rpartition(".")
            found[server] = replace(found.get(server, McpServer()), **{part: value})
        for server, one in found.items():
            if bool(one.command) == bool(one.url):
                raise ConfigError(
                    f"mcp.{server} needs a command or a url, and not both", setting=f"mcp.{server}"
                )
        return found


def _hooks(value: object, place: str) -> Sequence[Any]:
    """One raw value a source; the hooks themselves are read by who runs them."""
    if as_table(value) is None and as_list(value) is None:
        text = f"{place}: hooks must be a list of tables or a table by event, not {value!r}"
        raise ConfigError(text, setting="hooks", value=value)
    return (value,)


def _flat(table: Mapping[str, Any], place: str) -> Iterator[tuple[Key, str, Any]]:
    """The settings of a file, each with its dotted name."""
    for group, value in table.items():
        if group in SHORT and isinstance(value, str):
            yield find(group, place), SHORT[group], value
            continue
        if group == "hooks":
            yield _HOOKS, "hooks", value
            continue
        inner = as_table(value)
        if group != "mcp" and group not in group_classes():
            first = next(iter(inner)) if inner else ""
            raise unknown(f"{group}.{first}" if first and group not in SHORT else group, place)
        if inner is None:
            raise ConfigError(f"{place}: {group} must be a table, not {value!r}", setting=group)
        if group == "mcp":
            yield from _flat_servers(inner, place)
            continue
        keys = group_keys(group)
        for name, held in inner.items():
            if name not in keys:
                raise unknown(f"{group}.{name}", place)
            yield keys[name], f"{group}.{name}", held


def _flat_servers(servers: Mapping[str, Any], place: str) -> Iterator[tuple[Key, str, Any]]:
    keys = server_keys()
    for server, value in servers.items():
        table = as_table(value)
        if table is None:
            text = f"{place}: mcp.{server} must be a table, not {value!r}"
            raise ConfigError(text, setting=f"mcp.{server}")
        for name, held in table.items():
            if name not in keys:
                raise unknown(f"mcp.{server}.{name}", place)
            yield keys[name], f"mcp.{server}.{name}", held


_HOOKS = Key(name="hooks", kind=next(iter(server_keys().values())).kind, default=(), text="")
