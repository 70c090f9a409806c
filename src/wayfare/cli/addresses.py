"""Addresses as people give them, and the transcript behind one, opened for reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wayfare.clock import SystemClock
from wayfare.errors import NotFound
from wayfare.events import Event
from wayfare.session import Places, file_transcript, session_names
from wayfare.store import Ref
from wayfare.transcript import Resumed, Transcript

_WRAPPING: Final = " \t\r\n[]()<>\"'`,;"
"""What stands around an address in a text it was copied from."""
_LISTED: Final = 8


def workspace_address(address: str, workspace: Path) -> Ref:
    """An address relative to the workspace's root, from that or from an absolute path in it.

    Raises:
        NotFound: it is empty, or a path outside of the workspace.
    """
    ref = Ref.parse(address.strip(_WRAPPING))
    path = Path(ref.path)
    if path.is_absolute():
        for root in (workspace, workspace.resolve()):
            if path.is_relative_to(root):
                path = path.relative_to(root)
                break
        else:
            raise NotFound(f"{ref.path} is outside of the workspace {workspace}", ref=str(ref))
    if not ref.path or path == Path():
        raise NotFound(f"{address!r} is no address", ref=address)
    return Ref(path=path.as_posix(), first=ref.first, last=ref.last)


class Losses:
    """Archived results that were looked for and are gone."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}

    def __call__(self, event: Event, /) -> None:
        """Take note; see `wayfare.events.Watched`."""
        if event.name == "archive.missing":
            self.paths.update(dict.fromkeys(str(path) for path in event.fields["paths"]))

    def told(self) -> str:
        """One line about them; empty when nothing is gone."""
        return lost_line(tuple(self.paths))


def lost_line(paths: Sequence[str]) -> str:
    """One line about archived results that are gone; empty for none."""
    if not paths:
        return ""
    what = f"the archived result {paths[0]} is"
    if len(paths) > 1:
        what = f"{len(paths):,} archived results, such as {paths[0]}, are"
    return f"wayfare: {what} missing; a note stands in the place of each"


async def opened(places: Places, session: str, losses: Losses) -> tuple[Transcript, Resumed]:
    """A session's transcript, for reading only: no lock, nothing written."""
    transcript = file_transcript(places, session, clock=SystemClock(), watch=losses)
    return transcript, await transcript.look()


def chosen_session(places: Places, session: str) -> str:
    """The session that is meant: the named one, else the one written last.

    Raises:
        NotFound: there is no such session; names those there are.
    """
    if session and places.log(session).is_file():
        return session
    names = session_names(places)
    if not names:
        raise NotFound(
            f"no session under {places.workspace} (it has no {places.transcripts}/); "
            "name another root with --root",
            ref=session,
        )
    if session:
        raise NotFound(
            f"no session {session!r} under {places.workspace}; there are: {_listed(names)}",
            ref=session,
        )
    return names[-1]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[-_LISTED:])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
