"""The settings files of a person and of a workspace, each read once.

What is shown, trusted and used must be the same bytes. A workspace can change while a command
starts, so its files are not read a second time.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from wayfare.errors import ConfigError
from wayfare.settings.keys import as_table
from wayfare.settings.plain_file import read_small

FILE_NAME = "wayfare.toml"
PYPROJECT = "pyproject.toml"
MOST_BYTES = 1 << 20
"""Of a settings file; a larger one was not written by a person."""
MOST_LEVELS = 50
"""Tables within tables: whoever walks a table walks by recursion."""
_LONG_KEY: Final = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*)"""
    f"{{{MOST_LEVELS}}}"
)
"""A key of so many parts nests as many tables, and the parser takes minutes for one of 80 KB."""


@dataclass(frozen=True, kw_only=True)
class FileText:
    """A settings file as it was read.

    Attributes:
        path: Where it stands.
        content: Its bytes; empty where it could not be read.
        error: Why it could not be read; None: it was.
    """

    path: Path
    content: bytes = b""
    error: OSError | None = None

    @classmethod
    def read(cls, path: Path) -> FileText | None:
        """The file now; None when there is none."""
        try:
            return cls(path=path, content=read_small(path, MOST_BYTES))
        except FileNotFoundError:
            return None
        except OSError as error:
            return cls(path=path, error=error)

    def table(self) -> Mapping[str, Any]:
        """What it says.

        Raises:
            ConfigError: it could not be read, is not UTF-8 or no TOML.
        """
        return self._table

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        file = self.path
        if self.error is not None:
            text = f"{file} cannot be read: {self.error.strerror}"
            raise ConfigError(text, setting=str(file)) from self.error
        too_deep = f"{file} nests more than {MOST_LEVELS} tables and lists"
        try:
            text = self.content.decode("utf-8")
            if _LONG_KEY.search(text):
                raise ConfigError(too_deep, setting=str(file))
            table = tomllib.loads(text)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file} is not UTF-8: {error.reason}", setting=str(file)) from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file} is not TOML: {error}", setting=str(file)) from error
        if _deeper_than(table, MOST_LEVELS):
            raise ConfigError(too_deep, setting=str(file))
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFiles:
    """The settings files of a workspace as they were read.

    Attributes:
        own: `wayfare.toml`; None: there is none.
        pyproject: `pyproject.toml`; None: there is none.
    """

    own: FileText | None = None
    pyproject: FileText | None = None

    @classmethod
    def read(cls, workspace: Path) -> WorkspaceFiles:
        """The files now."""
        return cls(
            own=FileText.read(workspace / FILE_NAME),
            pyproject=FileText.read(workspace / PYPROJECT),
        )

    @property
    def used(self) -> FileText | None:
        """The one whose settings count: `wayfare.toml`, or else a `pyproject.toml` with a table
        `[tool.wayfare]`; None: the workspace has no settings."""
        if self.own is not None:
            return self.own
        project = self.pyproject
        return project if project is not None and b"tool.wayfare" in project.content else None

    def table(self) -> Mapping[str, Any]:
        """The settings of the workspace; empty when it has none.

        Raises:
            ConfigError: the file cannot be read, or is no TOML.
        """
        used = self.used
        if used is None:
            return {}
        return inner(used.table()) if used is self.pyproject else used.table()

    def folder(self, name: str) -> str:
        """The folder that these settings name under `[folders]`, whether or not they hold; empty
        for none, and where they cannot be read."""
        try:
            found = as_table(self.table().get("folders")) or {}
        except ConfigError:
            return ""
        folder: object = found.get(name)
        return folder if isinstance(folder, str) else ""


def inner(table: Mapping[str, Any]) -> dict[str, Any]:
    """`[tool.wayfare]` of a whole `pyproject.toml`."""
    tool = as_table(table.get("tool")) or {}
    return as_table(tool.get("wayfare")) or {}


def _deeper_than(table: object, most: int) -> bool:
    held = [table]
    for _ in range(most):
        inside: list[object] = []
        for value in held:
            if isinstance(value, dict):
                inside += cast("dict[str, object]", value).values()
            elif isinstance(value, list):
                inside += cast("list[object]", value)
        if not inside:
            return False
        held = inside
    return True


def user_file() -> Path:
    """The settings file of this person on this machine; it need not be there."""
    import platformdirs

    return Path(platformdirs.user_config_dir("wayfare")) / FILE_NAME


def project_file(workspace: Path) -> Path | None:
    """The settings file of a workspace: `wayfare.toml`, or else a `pyproject.toml` with a table
    `[tool.wayfare]`; None when it has neither."""
    used = WorkspaceFiles.read(workspace).used
    return None if used is None else used.path
