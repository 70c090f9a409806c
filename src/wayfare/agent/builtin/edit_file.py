"""`edit_file`: one exact text of a file replaced by another."""

from __future__ import annotations

import anyio.to_thread

from wayfare.agent.builtin.changing import CannotChange, changed, present
from wayfare.agent.builtin.nearest import explain
from wayfare.agent.builtin.reach import OutOfReach, missing, reach
from wayfare.agent.builtin.text_file import TextFile, decoded, lone_surrogate, with_newline
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ToolContext, ToolOutput, WritePath, failure

_LISTED = 10


@tool(kind="edit", main_argument="path")
async def edit_file(
    path: WritePath,
    old_string: str,
    new_string: str,
    replace_all: bool = False,
    *,
    context: ToolContext,
) -> ToolOutput:
    """Replace one exact piece of text in a file that was read before.

    old_string must be exactly what the file has, indentation included and without line numbers,
    and must stand in it once: take in lines around it until it does, or set replace_all.

    Args:
        path: The file, relative to the workspace or absolute.
        old_string: The text to be replaced.
        new_string: What takes its place.
        replace_all: Replace every occurrence.
    """
    return await anyio.to_thread.run_sync(
        _edit, context, path, (old_string, new_string), replace_all
    )


def _edit(
    context: ToolContext, path: str, strings: tuple[str, str], replace_all: bool
) -> ToolOutput:
    old, new = strings
    if old == new:
        return failure("old_string and new_string are the same: nothing would change")
    if lone_surrogate(new) is not None:
        return failure("new_string has half of a surrogate pair")
    try:
        place = reach(context, path, write=True)
        found = present(context, path, place)
    except (OutOfReach, CannotChange) as error:
        return failure(str(error))
    if found is None:
        return failure(f"{missing(context, path, place)} A new file is made with write_file.")
    if not old:
        return failure("old_string is empty: name the text to be replaced, or use write_file")
    file = decoded(found.content)
    edit = _fitting(file, old, new)
    if edit is None:
        return failure(f"old_string is not in {path}. {explain(file.text, old, new)}")
    old, new = edit
    count = file.text.count(old)
    if count > 1 and not replace_all:
        return failure(_several(path, file.text, old, count))
    text = file.text.replace(old, new) if replace_all else file.text.replace(old, new, 1)
    try:
        raw = file.encoded(text)
    except ValueError as error:
        return failure(f"{path} cannot hold the new text: {error}")
    what = "edited" if count == 1 else f"{count} places edited"
    return changed(context, path, file.text, text, raw, what)


def _fitting(file: TextFile, old: str, new: str) -> tuple[str, str] | None:
    """The texts with the line ends the file has at that place; None when it is not there."""
    usual = file.newline
    for newline in dict.fromkeys((usual, "\n", "\r\n")):
        own = with_newline(old, newline)
        if own in file.text:
            return own, with_newline(new, newline if "\n" in old else usual)
    return None


def _several(path: str, text: str, old: str, count: int) -> str:
    lines: list[str] = []
    at = -1
    for _ in range(min(count, _LISTED)):
        at = text.index(old, at + 1)
        lines.append(f"{text.count(chr(10), 0, at) + 1:,}")
    more = f" and {count - _LISTED} more" if count > _LISTED else ""
    return (
        f"old_string stands {count} times in {path}, at lines {', '.join(lines)}{more}: take in "
        "more of the lines around it, or set replace_all"
    )
