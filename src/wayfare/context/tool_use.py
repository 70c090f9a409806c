"""What a tool call is about, read from its name and input: its kind, its file, one argument.

Tools of wayfare declare themselves (`Traits`); those of other loops and of recordings are
recognised by the words agents commonly use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from wayfare.context.exit_status import one_is_an_answer
from wayfare.context.unicode_text import valid
from wayfare.messages import ToolCall

Kind = Literal["read", "write", "edit", "shell", "search", "fetch", "other"]

_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("shell", re.compile(r"bash|shell|exec|terminal|command|run_|stdin|powershell", re.I)),
    ("fetch", re.compile(r"fetch|browse|http|web|url|download", re.I)),
    ("edit", re.compile(r"edit|replace|patch|insert|update_file|modify", re.I)),
    ("write", re.compile(r"write|create|save_file|new_file", re.I)),
    ("search", re.compile(r"grep|search|glob|find|^ls$|list_(dir|files)", re.I)),
    ("read", re.compile(r"read|view|open|(?<![a-z])cat(?![a-z])|show|get_file|notebook", re.I)),
    ("shell", re.compile(r"python", re.I)),
)
_EDITOR_KINDS: Final[dict[str, Kind]] = {"view": "read", "create": "write"}
_PATH_KEYS: Final = (
    "file_path", "path", "filename", "file", "notebook_path", "filepath", "target_file", "uri",
)  # fmt: skip
_COMMAND_KEYS: Final = ("command", "cmd")
_MAIN_KEYS: Final = (*_PATH_KEYS, *_COMMAND_KEYS, "pattern", "query", "q", "url", "description")
_MAIN_CHARS: Final = 80
_LOOKED_AT_CHARS: Final = 2_000
_PATCH_FILE: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.M)
_SHOWS_FILES: Final = re.compile(
    r"(?:^|[;&(\n\"'])\s*"
    r"(?:cat|bat|nl|sed|head|tail|less|awk|grep|egrep|rg|diff|git (?:show|diff|grep|blame))\s"
)
"""Commands whose output is text of files; behind a pipe they only shorten what another printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a tool declares about itself: its kind, whether old results may be shortened, which
    argument names it best, and from how many characters a result is offloaded (None: the budget
    says)."""

    kind: Kind = "other"
    compactable: bool = True
    main_argument: str = ""
    max_result_chars: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One use of a tool.

    `path` is the file it is about ("" for none), `main` one short line, `shows_files` says that it
    brings text of files into the context: what later edits quote. What a command that builds or
    tests prints is none. `max_result_chars` is what the tool declared, `one_is_an_answer` says of
    a command that exit status 1 is no failure.
    """

    name: str
    kind: Kind
    path: str
    main: str
    compactable: bool = True
    shows_files: bool = False
    one_is_an_answer: bool = False
    max_result_chars: int | None = None


Declared = Mapping[str, Traits]


def tool_use(call: ToolCall, declared: Declared | None = None) -> ToolUse:
    """What `call` is about; `declared` are tools that say it themselves."""
    traits = (declared or {}).get(call.name)
    path = _path(call)
    kind = traits.kind if traits is not None else _kind(call, path)
    main = None
    if traits is not None and traits.main_argument:
        main = call.input.get(traits.main_argument)
    return ToolUse(
        name=call.name,
        kind=kind,
        path=path,
        main=_line(main if main is not None else _main(call)),
        compactable=traits is None or traits.compactable,
        shows_files=_shows_files(call, kind),
        one_is_an_answer=kind == "shell" and one_is_an_answer(_command(call)),
        max_result_chars=None if traits is None else traits.max_result_chars,
    )


def _kind(call: ToolCall, path: str) -> Kind:
    command = call.input.get("command")
    if call.name == "str_replace_editor" and isinstance(command, str):
        return _EDITOR_KINDS.get(command, "edit")
    for kind, words in _KINDS:
        if words.search(call.name):
            # A todo list and a task are written and created too, but are no files.
            return kind if path or kind != "write" else "other"
    return "other"


def _shows_files(call: ToolCall, kind: Kind) -> bool:
    if kind == "shell":
        return bool(_SHOWS_FILES.search(_command(call)[:_LOOKED_AT_CHARS]))
    return kind in ("read", "search", "edit", "write")


def _command(call: ToolCall) -> str:
    return _joined(next((call.input[key] for key in _COMMAND_KEYS if key in call.input), ""))


def _path(call: ToolCall) -> str:
    for key in _PATH_KEYS:
        value = call.input.get(key)
        if isinstance(value, str) and value:
            return value
    for value in (*call.input.values(), call.arguments):
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


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(word) for word in cast("list[object]", value))
    return str(value)


def _line(value: Any) -> str:
    line = valid(" ".join(_joined(value)[:_LOOKED_AT_CHARS].split()))
    return line if len(line) <= _MAIN_CHARS else line[: _MAIN_CHARS - 1] + "…"
