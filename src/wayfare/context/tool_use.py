"""What a tool call is about, read from its name and input: its kind, its file, one argument.

Tools of wayfare declare themselves (`Traits`); those of other loops and of recordings are
recognised by the words agents commonly use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from wayfare.messages import ToolCall

Kind = Literal["read", "write", "edit", "shell", "search", "fetch", "other"]

_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("edit", re.compile(r"edit|replace|patch|insert|update_file|modify", re.I)),
    ("write", re.compile(r"write|create|save_file|new_file", re.I)),
    ("shell", re.compile(r"bash|shell|exec|terminal|command|run_|execute|python|powershell", re.I)),
    ("search", re.compile(r"grep|search|glob|find|^ls$|list_(dir|files)", re.I)),
    ("fetch", re.compile(r"fetch|browse|http|web|url|download", re.I)),
    ("read", re.compile(r"read|view|open|cat|show|get_file|notebook", re.I)),
)
_EDITOR_KINDS: Final[dict[str, Kind]] = {"view": "read", "create": "write"}
_PATH_KEYS: Final = (
    "file_path", "path", "filename", "file", "notebook_path", "filepath", "target_file", "uri",
)  # fmt: skip
_MAIN_KEYS: Final = (*_PATH_KEYS, "command", "cmd", "pattern", "query", "q", "url", "description")
_MAIN_CHARS: Final = 80
_PATCH_FILE: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a tool declares about itself: its kind, whether old results may be shortened, which
    argument names it best."""

    kind: Kind = "other"
    compactable: bool = True
    main_argument: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One use of a tool: `path` is the file it is about ("" for none), `main` one short line."""

    name: str
    kind: Kind
    path: str
    main: str
    compactable: bool = True


Declared = Mapping[str, Traits]


def tool_use(call: ToolCall, declared: Declared | None = None) -> ToolUse:
    """What `call` is about; `declared` are tools that say it themselves."""
    traits = (declared or {}).get(call.name)
    path = _path(call)
    if traits is not None:
        main = call.input.get(traits.main_argument) if traits.main_argument else None
        return ToolUse(
            name=call.name,
            kind=traits.kind,
            path=path,
            main=_line(main if main is not None else _main(call)),
            compactable=traits.compactable,
        )
    return ToolUse(name=call.name, kind=_kind(call), path=path, main=_line(_main(call)))


def _kind(call: ToolCall) -> Kind:
    command = call.input.get("command")
    if call.name == "str_replace_editor" and isinstance(command, str):
        return _EDITOR_KINDS.get(command, "edit")
    for kind, words in _KINDS:
        if words.search(call.name):
            return kind
    return "other"


def _path(call: ToolCall) -> str:
    for key in _PATH_KEYS:
        value = call.input.get(key)
        if isinstance(value, str) and value:
            return value
    for value in call.input.values():
        if isinstance(value, str) and "*** " in value:
            found = _PATCH_FILE.search(value)
            if found:
                return found[1].strip()
    return ""


def _main(call: ToolCall) -> Any:
    for key in _MAIN_KEYS:
        value = call.input.get(key)
        if value not in (None, "", [], {}):
            if call.name == "str_replace_editor" and key == "path":
                return f"{call.input.get('command', '')} {value}"
            return value
    return next((v for v in call.input.values() if isinstance(v, str)), call.arguments or "")


def _line(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(str(word) for word in cast("list[object]", value))
    line = " ".join(str(value).split())
    return line if len(line) <= _MAIN_CHARS else line[: _MAIN_CHARS - 1] + "…"
