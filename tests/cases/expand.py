"""The shorthand inside cases: `$rep`, `$cat`, `$lines`, `$each`, `$files`."""

from __future__ import annotations

from typing import Any

FILE_VALUES = ("$bytes", "$link", "$dir")
"""Left as they are: they describe entries of a file system and are read where files are made."""


def expand(value: Any) -> Any:
    """`value` with every shorthand written out; nothing handed in is changed."""
    if isinstance(value, list):
        return [item for part in value for item in _items(part)]
    if not isinstance(value, dict):
        return value
    if "$rep" in value:
        text, times = value["$rep"]
        return expand(text) * times
    if "$cat" in value:
        return "".join(expand(part) for part in value["$cat"])
    if "$lines" in value:
        lines = value["$lines"]
        each = lines["each"]
        return "\n".join(each.replace("{i}", str(i)) for i in range(1, lines["n"] + 1))
    if any(key in value for key in FILE_VALUES):
        return value
    made: dict[str, Any] = {}
    for key, inner in value.items():
        if key == "$files":
            made.update(_files(inner))
        else:
            made[key] = expand(inner)
    return made


def _items(part: Any) -> list[Any]:
    if isinstance(part, dict) and "$each" in part:
        each = part["$each"]
        return [
            item
            for number in range(1, each["n"] + 1)
            for item in expand([numbered(one, number) for one in each["item"]])
        ]
    return [expand(part)]


def numbered(value: Any, number: int) -> Any:
    """`value` with `{i}` in every text replaced."""
    if isinstance(value, str):
        return value.replace("{i}", str(number))
    if isinstance(value, list):
        return [numbered(inner, number) for inner in value]
    if isinstance(value, dict):
        return {numbered(k, number): numbered(v, number) for k, v in value.items()}
    return value


def _files(spec: dict[str, Any]) -> dict[str, Any]:
    """`$files`: N files; where a step is given, later ones are newer by that many seconds."""
    step = spec.get("mtime_step_seconds", 0)
    made: dict[str, Any] = {}
    for number in range(1, spec["n"] + 1):
        name = numbered(spec["name"], number)
        text = expand(numbered(spec["text"], number))
        made[name] = {"$text": text, "$mtime": number * step} if step else text
    return made
