"""Where a path that a tool was given leads, and how it is shown."""

from __future__ import annotations

import difflib
import os
import stat
from pathlib import Path
from typing import BinaryIO

from wayfare.agent.guarded_paths import locate
from wayfare.agent.tools import ToolContext

_LISTED_NAMES = 2_000
"""Names of a folder looked at for one that is near; more would be slow on network disks."""


class OutOfReach(Exception):
    """A path that cannot be used as asked; its text says so to the model."""


def reach(context: ToolContext, path: str, *, write: bool = False) -> Path:
    """The absolute place a path leads to, every link followed.

    Args:
        write: The place is about to be changed. It must then be where it was when the call was
            allowed or, for a call nobody judged, in the workspace.

    Raises:
        OutOfReach: it leads nowhere, or elsewhere than when the call was allowed.
    """
    place = locate(path, base=context.workspace, home=Path.home())
    if not place.known:
        raise OutOfReach(f"{path} leads nowhere: links in a circle, or no path at all")
    judged = context.judged.get(path)
    if judged is None:
        if write and not place.inside(os.path.realpath(context.workspace)):
            raise OutOfReach(f"{path} leads out of the workspace, to {place.path}")
    elif judged != place.path:
        raise OutOfReach(
            f"{path} leads to {place.path} now, and led to {judged} when the call was allowed: "
            "nothing was done. Find out what changed the link."
        )
    return Path(place.path)


def open_file(place: Path) -> BinaryIO:
    """Open a plain file for reading; what no file is does not hold the call up.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read, or is no plain file; `strerror` says which.
    """
    # A pipe without a partner would wait for one.
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(None, "it is a folder")
    raise OSError(None, "it is a device, a pipe or a socket, not a file")


def shown(context: ToolContext, place: Path) -> str:
    """A place as the model and people see it: from the workspace's root, if it is below."""
    root = Path(os.path.realpath(context.workspace))
    if place == root:
        return "."
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)


def missing(context: ToolContext, path: str, place: Path) -> str:
    """What is said about a file that is not there: what exists, and names that are near."""
    folder = place.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    if folder != place.parent:
        return f"{path} does not exist, nor does its folder; {shown(context, folder)} does"
    try:
        names = sorted(os.listdir(folder))[:_LISTED_NAMES]
    except OSError:
        names = []
    near = difflib.get_close_matches(place.name, names, n=3, cutoff=0.6)
    # A name that only lacks its ending, or has another case, is nearer than its spelling says.
    stem = place.name.casefold()
    near += [n for n in names if n.casefold().startswith(stem + ".") and n not in near][:3]
    if not near:
        return f"{path} does not exist; find it with glob"
    listed = ", ".join(shown(context, folder / name) for name in near)
    return f"{path} does not exist. Did you mean {listed}?"
