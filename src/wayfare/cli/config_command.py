"""`wayfare config`: every setting, its value, and where that came from."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast

from wayfare import json_text
from wayfare.cli.printing import columns, put_json, say, write
from wayfare.cli.screen.spans import Line, fitted, joined, one_line
from wayfare.cli.screen.terminal import shows_color
from wayfare.cli.settings_files import Read, left_out_line, names_of_files, read_settings
from wayfare.errors import ConfigError
from wayfare.settings import JOINED, Flag, Key, McpServer, all_keys, nearest

_HIDDEN: Final = ("model.extra_headers", "side_model.extra_headers")
"""Settings that may hold a secret in spite of everything: names are shown, values are not."""
_NAME_COLUMNS: Final = 34
_VALUE_COLUMNS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One setting as it is shown."""

    name: str
    value: Any
    source: str
    place: str
    text: str

    @property
    def is_set(self) -> bool:
        """Whether somebody set it."""
        return self.source not in ("default", "preset")


def run(
    root: Path, *, names: list[str], json: bool, explain: bool, changed: bool, flags: list[Flag]
) -> None:
    """Print settings.

    Raises:
        ConfigError: a settings file is not valid, or a name is no setting and no group.
    """
    read = read_settings(root, flags)
    found = [one for one in shown(read) if one.is_set or not changed]
    if names:
        found = [one for name in names for one in _chosen(found, name, every=list(shown(read)))]
    if json:
        put_json(_value(read, found))
        return
    width = columns(sys.stdout)
    if explain or names:
        write(joined(_explained(found, width or 100), color=shows_color(sys.stdout)), sys.stdout)
    else:
        write(joined(_table(found, width), color=shows_color(sys.stdout)), sys.stdout)
    for line in _remarks(read):
        say(line)


def shown(read: Read) -> Iterator[Shown]:
    """Every setting as it stands; those of MCP servers where there are any."""
    settings, sources = read.settings, read.loaded
    preset = _preset(read)
    for key in all_keys():
        group, _, name = key.name.partition(".")
        if group == "mcp":
            continue
        value = settings.hooks if key.name == "hooks" else getattr(getattr(settings, group), name)
        if value == "preset" and group == "context":
            place = f"{settings.context.budget}, {preset['window_tokens']:,} tokens"
            yield _shown(key, key.name, preset[name], "preset", place)
            continue
        source = sources.source(key.name)
        place = source.place
        if key.name in JOINED:
            place = ", ".join(dict.fromkeys(s.place for s in sources.sources.get(key.name, ())))
        yield _shown(key, key.name, value, source.kind, place)
    servers = {key.name.rpartition(".")[2]: key for key in all_keys() if key.name[:4] == "mcp."}
    for server, one in settings.mcp.items():
        for field in fields(McpServer):
            name = f"mcp.{server}.{field.name}"
            source = sources.source(name)
            if source.kind != "default":
                value = getattr(one, field.name)
                yield _shown(servers[field.name], name, value, source.kind, source.place)


def _shown(key: Key, name: str, value: Any, source: str, place: str) -> Shown:
    if (name in _HIDDEN or name.endswith(".env")) and isinstance(value, Mapping):
        value = {str(part): "…" for part in cast("Mapping[str, Any]", value)}
    return Shown(name=name, value=value, source=source, place=place, text=key.text)


def _preset(read: Read) -> dict[str, Any]:
    """The numbers of the budget preset, for the window of the model that is set."""
    from wayfare.context.budget import Budget
    from wayfare.providers.known_models import known_model

    model = read.settings.model
    provider, _, name = model.name.partition(":")
    window = model.window_tokens or known_model(provider, name).window_tokens
    budget = Budget.named(read.settings.context.budget, window)
    return {field.name: getattr(budget, field.name) for field in fields(Budget)}


def _chosen(found: list[Shown], name: str, *, every: list[Shown]) -> list[Shown]:
    name = {"model": "model."}.get(name, name)
    if any(one.name == name or one.name.startswith(name.rstrip(".") + ".") for one in every):
        start = name.rstrip(".") + "."
        return [one for one in found if one.name == name or one.name.startswith(start)]
    if name.rstrip(".") == "mcp":
        say("wayfare: no MCP server is set; a table [mcp.NAME] in a settings file adds one")
        return []
    near = nearest(name)
    hint = f"; did you mean {near}?" if near else ""
    raise ConfigError(f"{name} is no setting{hint}", setting=name)


def toml(value: Any) -> str:
    """A value as a settings file has it."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k} = {toml(v)}" for k, v in value.items())  # pyright: ignore
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(item) for item in value)}]"  # pyright: ignore
    if isinstance(value, float):
        return f"{value:g}"
    return json_text.dumps(str(value)).decode("utf-8", "replace")


def _table(found: list[Shown], width: int | None) -> list[Line]:
    rows: list[Line] = []
    group = ""
    for one in found:
        own = one.name.rpartition(".")[0]
        if rows and own != group:
            rows.append(())
        group = own
        value = one_line(toml(one.value))
        where = f"{one.source} {one.place}".strip()
        left = f"{one.name:<{_NAME_COLUMNS}} {value:<{_VALUE_COLUMNS}}  "
        row: Line = (
            ("bold" if one.is_set else "", left),
            ("accent" if one.is_set else "dim", where),
        )
        rows.append(row if width is None else fitted(row, width))
    return rows


def _explained(found: list[Shown], width: int) -> list[Line]:
    rows: list[Line] = []
    for one in found:
        where = f"{one.source} {one.place}".strip()
        rows.append(
            (("bold", one.name), ("", f" = {one_line(toml(one.value))}"), ("dim", f"  ({where})"))
        )
        rows += [(("dim", f"    {line}"),) for line in textwrap.wrap(one.text, max(width - 4, 16))]
    return rows


def _remarks(read: Read) -> list[str]:
    remarks = [f"settings files: {', '.join(names_of_files(read))}"]
    for left in read.loaded.left_out:
        remarks.append(f"left out: {left.key} of {left.place}: {left.reason}")
    line = left_out_line(read)
    return [*remarks, line] if line else remarks


def _value(read: Read, found: list[Shown]) -> dict[str, Any]:
    return {
        "files": names_of_files(read),
        "trusted": read.trusted,
        "settings": {
            one.name: {"value": one.value, "source": one.source, "place": one.place}
            for one in found
        },
        "left_out": [
            {"setting": left.key, "place": left.place, "reason": left.reason}
            for left in read.loaded.left_out
        ],
    }
