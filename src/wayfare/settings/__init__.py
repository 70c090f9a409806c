"""Settings: frozen, with their units in their names, from five sources in rising order.

Defaults, the user's file, `wayfare.toml` (or `[tool.wayfare]` in `pyproject.toml`) of the workspace,
environment variables `WAYFARE_…`, flags. Reading is plain and fast: no event loop, no heavy import.
"""

from wayfare.settings.context_group import ContextSettings
from wayfare.settings.files import (
    FILE_NAME,
    FileText,
    WorkspaceFiles,
    project_file,
    user_file,
)
from wayfare.settings.groups import (
    FolderSettings,
    LimitSettings,
    McpServer,
    ModelChoice,
    PermissionSettings,
    PromptSettings,
    RetrySettings,
    Settings,
    ShellSettings,
    TerminalSettings,
)
from wayfare.settings.keys import JOINED, Key, all_keys, nearest
from wayfare.settings.loading import Flag, LeftOut, Loaded, Source, load
from wayfare.settings.memory_group import MemorySettings

__all__ = [
    "FILE_NAME",
    "JOINED",
    "ContextSettings",
    "FileText",
    "Flag",
    "FolderSettings",
    "Key",
    "LeftOut",
    "LimitSettings",
    "Loaded",
    "McpServer",
    "MemorySettings",
    "ModelChoice",
    "PermissionSettings",
    "PromptSettings",
    "RetrySettings",
    "Settings",
    "ShellSettings",
    "Source",
    "TerminalSettings",
    "WorkspaceFiles",
    "all_keys",
    "load",
    "nearest",
    "project_file",
    "user_file",
]
