"""What `write_file` and `edit_file` have in common: the file as it is, and how a change ends."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from wayfare.agent.builtin.diffs import change
from wayfare.agent.builtin.files_read import FilesRead
from wayfare.agent.builtin.reach import OutOfReach, open_file, reach, shown
from wayfare.agent.builtin.read_file import HELD_BYTES
from wayfare.agent.builtin.writing import replace_file
from wayfare.agent.tools import ToolContext, ToolOutput, failure


class CannotChange(Exception):
    """Why a file is not changed and what to do about it, for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A file that is there: its content as bytes."""

    content: bytes
    stat: os.stat_result


def present(context: ToolContext, path: str, place: Path) -> Present | None:
    """The file as it is, when the model knows it; None when there is none.

    Raises:
        CannotChange: it was not read yet, changed since then, is no plain file or is huge.
    """
    try:
        with open_file(place) as stream:
            found = os.fstat(stream.fileno())
            if found.st_size > HELD_BYTES:
                raise CannotChange(
                    f"{path} has {found.st_size:,} bytes, more than {HELD_BYTES:,}: change it "
                    "with a shell command"
                )
            content = stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotChange(f"{path} cannot be changed: {error.strerror}") from None
    files = context.kept.of(FilesRead)
    if not files.was_read(place):
        raise CannotChange(f"{path} exists and was not read in this session: read it first")
    if files.changed(place, found, content):
        raise CannotChange(
            f"{path} changed since you read it, by a command or by somebody else: read it again"
        )
    return Present(content=content, stat=found)


def changed(
    context: ToolContext, path: str, old: str | None, new: str, content: bytes, what: str
) -> ToolOutput:
    """Write the content and report the change; `what` says what was done, for the report."""
    try:
        # Again, at the moment of writing: links may have changed since the call was allowed.
        place = reach(context, path, write=True)
        found = replace_file(place, content, clock=context.clock)
    except OutOfReach as error:
        return failure(str(error))
    except OSError as error:
        return failure(f"{path} cannot be written: {error.strerror or error}")
    context.kept.of(FilesRead).note(place, found, content)
    name = shown(context, place)
    if old is None:
        lines = len(new.splitlines())
        text = f"{name}: {what}, {lines:,} lines, {len(content):,} bytes"
        return ToolOutput(text=text, brief=text)
    differs = change(old, new)
    text = f"{name}: {what}, {differs.counts} lines"
    return ToolOutput(text=f"{text}\n{differs.diff}".rstrip(), brief=text)
