"""The page of all settings: name, default, unit, what it does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

from docs.generate.wording import Wording, head, row
from wayfare.context.budget import Budget
from wayfare.settings import all_keys
from wayfare.settings.groups import McpServer
from wayfare.settings.keys import Key, group_classes

_UNITS: Final = (
    ("_tokens", "tokens"),
    ("_chars", "characters"),
    ("_seconds", "seconds"),
    ("_minutes", "minutes"),
    ("_hours", "hours"),
    ("_bytes", "bytes"),
    ("_lines", "lines"),
    ("_share", "share, 0 to 1"),
    ("_messages", "messages"),
    ("_results", "results"),
    ("_records", "records"),
    ("_steps", "steps"),
    ("_turns", "turns"),
)
_WINDOW_TOKENS: Final = 200_000
_HEAD: Final = """\
Written by `python -m docs.generate` from the code; a test compares them.

A setting has one name in all five places, in rising order: defaults, your own file
(`wayfare config` prints its path), `wayfare.toml` or `[tool.wayfare]` in `pyproject.toml` of the
workspace, environment variables, `--set NAME=VALUE`. The variable of `limits.steps_per_turn` is
`WAYFARE_LIMITS_STEPS_PER_TURN`. A number that may be absent is written `"none"` in a file. A
workspace you have not trusted can only narrow what is set: [security](../security.md)."""
_PRESETS: Final = (
    "Every number is `preset` unless you set it; the columns show what the two presets say for a "
    "window of 200,000 tokens."
)


def page(say: Wording) -> str:
    """The whole page."""
    parts = [f"# {say('Settings')}", say(_HEAD)]
    groups = {**group_classes(), "mcp.NAME": McpServer}
    for group, cls in groups.items():
        own = [key for key in all_keys() if key.name.rpartition(".")[0] == group]
        text = (inspect.getdoc(cls) or "").split("\n\n")[0]
        parts.append(f"## `{group}`\n\n{say(' '.join(text.split()))}")
        rows = _budget(own, say) if group == "context" else _rows(own, say)
        parts.append("\n".join(rows))
    hooks = next(key for key in all_keys() if key.name == "hooks")
    parts.append(f"## `hooks`\n\n{say(hooks.text)}")
    return "\n\n".join(parts) + "\n"


def _rows(keys: list[Key], say: Wording) -> Iterator[str]:
    yield head(say("setting"), say("default"), say("unit"), say("what"))
    for key in keys:
        name = key.name.rpartition(".")[2]
        yield row(f"`{name}`", say(shown(key.default)), say(unit(key.name)), say(key.text))


def _budget(keys: list[Key], say: Wording) -> Iterator[str]:
    presets = (Budget.window(_WINDOW_TOKENS), Budget.classic(_WINDOW_TOKENS))
    numbers = [key for key in keys if key.default == "preset"]
    yield from _rows([key for key in keys if key.default != "preset"], say)
    yield ""
    yield say(_PRESETS)
    yield ""
    yield head(say("setting"), "`window`", "`classic`", say("unit"), say("what"))
    for key in numbers:
        name = key.name.rpartition(".")[2]
        values = (say(shown(getattr(preset, name))) for preset in presets)
        yield row(f"`{name}`", *values, say(unit(key.name)), say(key.text))


def unit(name: str) -> str:
    """What a setting is counted in, by the end of its name; empty for what is no number."""
    return next((unit for end, unit in _UNITS if name.endswith(end)), "")


def shown(value: Any) -> str:
    """A default, for people."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case int() if value >= 10**9 and value % 10**9 == 0:
            return "no limit"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,g}"
        case str():
            return f"`{value}`" if value else "empty"
        case _:
            return "none" if not value else f"`{value}`"
