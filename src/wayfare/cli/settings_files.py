"""The settings of a command: which files, whether the workspace is trusted, which flags."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.settings import FILE_NAME, Flag, Loaded, Settings, load, project_file, user_file

if TYPE_CHECKING:
    from wayfare.agent.trust import Shipped

_DEFAULT = Settings().folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Settings as a command finds them.

    Attributes:
        loaded: What holds, and where it came from.
        workspace: The root.
        user: The user's settings file; it need not be there.
        trusted: Whether the person trusts what the workspace brings along.
        ships: Kinds of things it brings along: `settings`, `hooks`, `records`, `transcripts`.
    """

    loaded: Loaded
    workspace: Path
    user: Path
    trusted: bool
    ships: tuple[str, ...] = ()

    @property
    def settings(self) -> Settings:
        """What holds."""
        return self.loaded.settings


def read_settings(
    root: Path, flags: Iterable[Flag] = (), *, environ: Mapping[str, str] | None = None
) -> Read:
    """Read the settings for a workspace.

    Raises:
        ConfigError: the workspace is no folder, or a setting is not valid; see `settings.load`.
    """
    from wayfare.errors import ConfigError

    workspace = root.resolve()
    if not workspace.is_dir():
        raise ConfigError(f"{root} is no folder", setting="root", value=str(root))
    user = user_file()
    environ = os.environ if environ is None else environ
    flags = tuple(flags)
    found = brought_along(workspace, flags, environ=environ)
    trusted = found is None or is_trusted(found)
    loaded = load(
        workspace=workspace,
        user=user,
        environ=environ,
        flags=flags,
        trusted=trusted,
    )
    ships = () if found is None else found.kinds
    return Read(loaded=loaded, workspace=workspace, user=user, trusted=trusted, ships=ships)


def brought_along(
    workspace: Path, flags: Iterable[Flag] = (), *, environ: Mapping[str, str] | None = None
) -> Shipped | None:
    """What a workspace brings along that has to be trusted; None for nothing.

    Trust is about what somebody else put there, so it is looked for under the default names of
    the folders and under those the person set; the workspace's own settings could hide it.
    """
    names = _folders(workspace, flags, environ)
    if project_file(workspace) is None and not any(
        (workspace / f).is_dir() for f in sum(names, ())
    ):
        return None
    found = _shipped(workspace, names)
    return None if found.empty else found


def _folders(
    workspace: Path, flags: Iterable[Flag], environ: Mapping[str, str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where memory and transcripts may stand in a workspace."""
    from wayfare.errors import ConfigError

    environ = os.environ if environ is None else environ
    own = _DEFAULT
    with suppress(ConfigError):  # told where settings are read to be used
        own = load(
            workspace=workspace, user=user_file(), environ=environ, flags=flags, trusted=False
        ).settings.folders
    both = ((_DEFAULT.memory, own.memory), (_DEFAULT.transcripts, own.transcripts))
    memory, transcripts = (
        tuple(dict.fromkeys(f for f in names if (workspace / f).is_relative_to(workspace)))
        for names in both
    )
    return memory, transcripts


def _shipped(workspace: Path, names: tuple[tuple[str, ...], tuple[str, ...]]) -> Shipped:
    from wayfare.agent.trust import shipped

    return shipped(workspace, records=names[0], transcripts=names[1])


def is_trusted(found: Shipped) -> bool:
    """Whether the person trusts just this."""
    from wayfare.agent.trust import TrustStore, state_folder

    return TrustStore(folder=state_folder()).trusts(found)


def trust(workspace: Path) -> Shipped:
    """Note that the person trusts what the workspace brings along now.

    Raises:
        WriteFailed: it could not be noted.
    """
    import time

    from wayfare.agent.trust import TrustStore, state_folder

    found = _shipped(workspace, _folders(workspace, (), None))
    TrustStore(folder=state_folder()).trust(found, at_seconds=time.time())
    return found


def distrust(workspace: Path) -> None:
    """Take trust back.

    Raises:
        WriteFailed: it could not be noted.
    """
    from wayfare.agent.trust import TrustStore, state_folder

    TrustStore(folder=state_folder()).forget(workspace)


def is_strangers(read: Read) -> bool:
    """Whether sessions here may be somebody else's: they came with a workspace not trusted."""
    return not read.trusted and "transcripts" in read.ships


def refuse_newest(read: Read) -> None:
    """A session that somebody else put here is not gone on with because it is the newest.

    Raises:
        ConfigError: the sessions here may be somebody else's.
    """
    from wayfare.errors import ConfigError

    if is_strangers(read):
        text = (
            "the newest session may be somebody else's: the workspace brings transcripts and is "
            "not trusted. Name the session, or wayfare trust, if the workspace is yours"
        )
        raise ConfigError(text, setting="session")


def own_workspace(read: Read) -> None:
    """Note that what appears in an empty workspace from now on is the person's own."""
    from wayfare.errors import WriteFailed

    if not read.ships and brought_along(read.workspace) is None:
        try:
            trust(read.workspace)
        except WriteFailed:
            return  # then the person is asked once wayfare has written here


def left_out_line(read: Read) -> str:
    """One line for a person about what an untrusted workspace may not do; empty when there is none."""
    if read.trusted or not read.ships:
        return ""
    kinds = " and ".join(
        [", ".join(read.ships[:-1]), read.ships[-1]] if read.ships[1:] else read.ships
    )
    count = len(read.loaded.left_out)
    settings = "1 setting is" if count == 1 else f"{count} settings are"
    some = f"; {settings} left out" if count else ""
    return f"this workspace brings {kinds} and is not trusted{some}: wayfare trust, if it is yours"


def names_of_files(read: Read) -> list[str]:
    """The settings files there are or may be, for people."""
    project = project_file(read.workspace) or read.workspace / FILE_NAME
    return [str(read.user), str(project)]
