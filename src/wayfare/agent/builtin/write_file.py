"""`write_file`: a file as a whole."""

from __future__ import annotations

import anyio.to_thread

from wayfare.agent.builtin.changing import CannotChange, changed, present
from wayfare.agent.builtin.reach import OutOfReach, reach
from wayfare.agent.builtin.text_file import TextFile, decoded, lone_surrogate, with_newline
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ToolContext, ToolOutput, WritePath, failure


@tool(kind="write", main_argument="path")
async def write_file(path: WritePath, content: str, *, context: ToolContext) -> ToolOutput:
    """Create a file, or replace a whole file that was read before; missing folders are made.

    Of a file that exists the mode, the line ends, a byte order mark and a final newline are kept.
    To change parts of a file use edit_file.

    Args:
        path: The file, relative to the workspace or absolute.
        content: All of its new text.
    """
    return await anyio.to_thread.run_sync(_write, context, path, content)


def _write(context: ToolContext, path: str, content: str) -> ToolOutput:
    at = lone_surrogate(content)
    if at is not None:
        return failure(f"character {at + 1} of the content is half of a surrogate pair")
    try:
        place = reach(context, path, write=True)
        old = present(context, path, place)
    except (OutOfReach, CannotChange) as error:
        return failure(str(error))
    if old is None:
        return changed(context, path, None, content, content.encode(), "created")
    before = decoded(old.content)
    text = _as_before(before, content)
    raw = before.encoded(text)
    if raw == old.content:
        return ToolOutput(text=f"{path} already has exactly this content; nothing was written")
    return changed(context, path, before.text, text, raw, "replaced")


def _as_before(before: TextFile, content: str) -> str:
    """The new text with the line ends and the final newline of the old one."""
    newline = before.newline
    if before.text.endswith(("\n", "\r")) and content and not content.endswith(("\n", "\r")):
        content += "\n"
    return with_newline(content.removeprefix("\ufeff") if before.mark else content, newline)
