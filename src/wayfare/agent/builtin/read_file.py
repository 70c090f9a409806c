"""`read_file`: a page of a file, or of anything that has an address."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import anyio.to_thread

from wayfare.agent.builtin.files_read import FilesRead
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.pages import LINE_CHARS, Page, page, piece
from wayfare.agent.builtin.pictures import MOST_BYTES, picture
from wayfare.agent.builtin.reach import OutOfReach, missing, open_file, reach, shown
from wayfare.agent.builtin.text_file import decoded, looks_binary
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ReadPath, Tool, ToolContext, ToolOutput, failure
from wayfare.errors import StoreError
from wayfare.messages import Media
from wayfare.store import Ref

LINES = 2_000
"""Lines of a page unless the call says otherwise."""
HELD_BYTES = 50_000_000
"""Larger files are not held in memory: their pages are streamed, and `edit_file` refuses them."""
_FOLDER_NAMES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a call wants to see."""

    path: str
    offset: int
    limit: int
    column: int
    most_chars: int

    @property
    def range(self) -> tuple[int, int, int]:
        return (self.offset, self.limit, self.column)


def read_file_tool(result_chars: int) -> Tool:
    """`read_file`; no page of it is longer than `result_chars`."""

    @tool(read_only=True, kind="read", main_argument="path")
    async def read_file(
        path: ReadPath,
        offset: int = 1,
        limit: int = LINES,
        column: int = 1,
        *,
        context: ToolContext,
    ) -> ToolOutput:
        """Read a text file or look at a picture (PNG, JPEG, GIF, WebP); also reads addresses such
        as `.task_outputs/tool-results/…` and `.transcripts/…#57`.

        Lines come with their numbers and a tab in front; neither belongs to the file. A page ends
        after `limit` lines or when it is long, and says how to go on. Reading again what still
        stands in the context, unchanged, gives one line that says so.

        Args:
            path: The file, relative to the workspace or absolute, or an address.
            offset: The first line; negative counts from the end (-100: the last 100 lines).
            limit: So many lines at most.
            column: For one very long line: show line `offset` from this character on.
        """
        asked = _Asked(
            path=path, offset=offset, limit=max(limit, 1), column=column, most_chars=result_chars
        )
        try:
            place = reach(context, path)
        except OutOfReach as error:
            return failure(str(error))
        ref = Ref.parse(path)
        if not os.path.lexists(place):
            found = await _archived(context, ref)
            if found is None:
                return failure(missing(context, path, place))
            return _answer(context, asked, str(ref), _page_of(io.BytesIO(found), asked))
        return await anyio.to_thread.run_sync(_read, context, asked, place, abandon_on_cancel=True)

    return read_file


async def _archived(context: ToolContext, ref: Ref) -> bytes | None:
    """The bytes behind an address that is no file; None when it is no address."""
    try:
        return await context.history.read(ref)
    except StoreError:
        return None


def _read(context: ToolContext, asked: _Asked, place: Path) -> ToolOutput:
    try:
        with open_file(place) as stream:
            return _file(context, asked, place, stream)
    except IsADirectoryError:
        return failure(_folder(context, asked, place))
    except OSError as error:
        return failure(f"{asked.path} cannot be read: {error.strerror}")


def _folder(context: ToolContext, asked: _Asked, place: Path) -> str:
    names = sorted(os.listdir(place))
    listed = ", ".join(f"{n}/" if (place / n).is_dir() else n for n in names[:_FOLDER_NAMES])
    more = f", … {len(names) - _FOLDER_NAMES} more" if len(names) > _FOLDER_NAMES else ""
    said = f"It holds: {listed}{more}" if names else "It is empty"
    return f"{asked.path} is a folder; use glob to list it. {said}"


def _file(context: ToolContext, asked: _Asked, place: Path, stream: BinaryIO) -> ToolOutput:
    files = context.kept.of(FilesRead)
    found = os.fstat(stream.fileno())
    huge = found.st_size > HELD_BYTES
    beginning = stream.read(1 << 16)
    stream.seek(0)
    content = None if huge else stream.read()
    seen = picture(beginning)
    if seen is not None:
        files.note(place, found, content)
        return _picture(asked, content, f"{shown(context, place)}: {seen}", seen.media_type)
    if looks_binary(beginning):
        files.note(place, found, content)
        return ToolOutput(text=_binary(context, place, found.st_size, beginning))
    source: BinaryIO = stream
    if content is not None:
        text = decoded(content)
        utf8 = content if text.encoding == "utf-8" else text.text.encode("utf-8", "replace")
        source = io.BytesIO(utf8)
    output = _answer(context, asked, str(place), _page_of(source, asked))
    if not output.is_error:
        files.note(place, found, content)
    return output


def _picture(asked: _Asked, content: bytes | None, line: str, media_type: str) -> ToolOutput:
    if content is None or len(content) > MOST_BYTES:
        size = f"over {MOST_BYTES:,} bytes"
        return failure(f"{line} is too large to be shown ({size}): make a smaller copy and read it")
    encoded = base64.b64encode(content).decode()
    block = Media(kind="image", media_type=media_type, content=encoded)
    return ToolOutput(text=f"{line}, {len(content):,} bytes", blocks=(block,))


def _binary(context: ToolContext, place: Path, size: int, beginning: bytes) -> str:
    first = beginning[:16].hex(" ")
    return (
        f"{shown(context, place)} is a binary file of {size:,} bytes that begins {first}. "
        "Look into it with a shell command made for its kind (file, xxd, pdftotext, unzip -l)."
    )


def _page_of(stream: BinaryIO, asked: _Asked) -> Page:
    if asked.column > 1:
        return piece(
            stream, line=max(asked.offset, 1), column=asked.column, most_chars=asked.most_chars
        )
    return page(stream, first=asked.offset, count=asked.limit, most_chars=asked.most_chars)


def _answer(context: ToolContext, asked: _Asked, place: str, found: Page) -> ToolOutput:
    """A page as the model sees it: its lines, then what to know to go on."""
    if not found.first:
        if not found.lines:
            return ToolOutput(text=f"{asked.path} is empty")
        return failure(
            f"{asked.path} has {found.lines:,} lines; line {asked.offset} is beyond them"
        )
    files = context.kept.of(FilesRead)
    before = files.still_shown(place, asked.range, found.text, context.sight)
    brief = f"{asked.path} lines {found.first:,}–{found.last:,} of {found.lines:,}"
    if before is not None:
        return ToolOutput(
            text=f"[{brief}: unchanged since the call {before}, whose result still stands above]",
            brief=f"{brief}, unchanged",
        )
    files.show(place, asked.range, found.text, context.call_id)
    return ToolOutput(text=noted(found.text, _notes(asked, found)), brief=brief)


def _notes(asked: _Asked, found: Page) -> list[str]:
    if asked.column > 1:
        if not found.left_chars:
            return [f"line {found.first} ends here"]
        after = asked.column + len(found.text)
        return [
            f"{found.left_chars:,} characters of line {found.first} follow; go on with "
            f"offset={found.first} column={after}"
        ]
    notes: list[str] = []
    if "\ufffd" in found.text:
        notes.append("\ufffd stands for bytes that are no UTF-8")
    if found.cut_lines:
        line, after = found.cut_lines[0], min(LINE_CHARS, asked.most_chars) + 1
        notes.append(f"long lines are cut; read on in one with offset={line} column={after}")
    if found.last < found.lines:
        notes.append(
            f"lines {found.first:,}–{found.last:,} of {found.lines:,}; go on with "
            f"offset={found.last + 1}"
        )
    return notes
