"""The settings of a command: which files, whether the workspace is trusted, which flags."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayfare.settings import (
    FILE_NAME,
    FileText,
    Flag,
    Loaded,
    Settings,
    WorkspaceFiles,
    load,
    user_file,
)

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
        files: The workspace's settings files as they were read.
        trusted: Whether the person trusts what the workspace brings along.
        brings: What it brings along; None: nothing.
    """

    loaded: Loaded
    workspace: Path
    user: Path
    files: WorkspaceFiles
    trusted: bool
    brings: Shipped | None = None

    @property
    def ships(self) -> tuple[str, ...]:
        """Kinds of things it brings along: `settings`, `hooks`, `records`, `transcripts`."""
        return () if self.brings is None else self.brings.kinds

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
    sources = _Sources(
        files=WorkspaceFiles.read(workspace),
        user=FileText.read(user),
        environ=os.environ if environ is None else environ,
        flags=tuple(flags),
    )
    found = _brought_along(workspace, sources)
    trusted = found is None or is_trusted(found)
    return Read(
        loaded=sources.load(trusted=trusted),
        workspace=workspace,
        user=user,
        files=sources.files,
        trusted=trusted,
        brings=found,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """Where settings come from, each read once: what is judged is what is used."""

    files: WorkspaceFiles
    user: FileText | None
    environ: Mapping[str, str]
    flags: tuple[Flag, ...]

    def load(self, *, trusted: bool) -> Loaded:
        return load(
            workspace=self.files,
            user=self.user,
            environ=self.environ,
            flags=self.flags,
            trusted=trusted,
        )


def brought_along(workspace: Path, *, memory: str = "") -> Shipped | None:
    """What a workspace brings along that has to be trusted; None for nothing.

    Trust is about what somebody else put there, so it is looked for under the default names of
    the folders, under those the person set and under those the workspace's own settings name.

    Args:
        workspace: The folder.
        memory: One more folder where its records may be.
    """
    return _brought_along(workspace, _sources(workspace), memory)


def _sources(workspace: Path) -> _Sources:
    files, user = WorkspaceFiles.read(workspace), FileText.read(user_file())
    return _Sources(files=files, user=user, environ=os.environ, flags=())


def _brought_along(workspace: Path, sources: _Sources, memory: str = "") -> Shipped | None:
    names = _folders(workspace, sources, memory)
    # The module that judges is loaded where there is something to judge.
    if sources.files.used is None and not any((workspace / f).is_dir() for f in sum(names, ())):
        return None
    found = _shipped(workspace, sources, names)
    return None if found.empty else found


def _folders(
    workspace: Path, sources: _Sources, memory: str = ""
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where memory and transcripts may stand in a workspace."""
    from wayfare.errors import ConfigError

    own = _DEFAULT
    with suppress(ConfigError):  # told where settings are read to be used
        own = sources.load(trusted=False).settings.folders
    both = ((_DEFAULT.memory, own.memory, memory), (_DEFAULT.transcripts, own.transcripts))
    records, transcripts = (
        tuple(dict.fromkeys(f for f in names if f and (workspace / f).is_relative_to(workspace)))
        for names in both
    )
    return records + _above(workspace, sources.files.folder("memory")), transcripts


def _above(workspace: Path, folder: str) -> tuple[str, ...]:
    """Where the memory folder that a workspace's own settings name is, when that is not in the
    workspace itself: it is looked for from the root of its project on."""
    if not folder or "\0" in folder:
        return ()
    from wayfare.memory import project_memory

    root = project_memory(workspace).parent
    return () if root == workspace else (str(root / os.path.expanduser(folder)),)


def _shipped(
    workspace: Path, sources: _Sources, names: tuple[tuple[str, ...], tuple[str, ...]]
) -> Shipped:
    from wayfare.agent.trust import shipped

    return shipped(workspace, records=names[0], transcripts=names[1], files=sources.files)


def is_trusted(found: Shipped) -> bool:
    """Whether the person trusts just this."""
    from wayfare.agent.trust import TrustStore, state_folder

    return TrustStore(folder=state_folder()).trusts(found)


def trust(workspace: Path) -> Shipped:
    """Note that the person trusts what the workspace brings along now.

    Raises:
        WriteFailed: it could not be noted.
    """
    sources = _sources(workspace)
    found = _shipped(workspace, sources, _folders(workspace, sources))
    trust_found(found)
    return found


def trust_found(found: Shipped) -> None:
    """Note that the person trusts just this, as it was shown: what the workspace brings by now may
    be something else.

    Raises:
        WriteFailed: it could not be noted.
    """
    import time

    from wayfare.agent.trust import TrustStore, state_folder

    TrustStore(folder=state_folder()).trust(found, at_seconds=time.time())


def trust_nothing(workspace: Path, *, memory: str = "") -> bool:
    """Note an empty workspace, so that what wayfare writes there later is the person's own; False
    when it is not empty. `memory` is one more folder where its records may be.

    Raises:
        WriteFailed: it could not be noted.
    """
    sources = _sources(workspace)
    found = _shipped(workspace, sources, _folders(workspace, sources, memory))
    if found.empty:
        trust_found(found)
    return found.empty


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

    if not read.ships:
        with suppress(WriteFailed):  # then the person is asked once wayfare has written here
            trust_nothing(read.workspace)


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
    used = read.files.used
    return [str(read.user), str(read.workspace / FILE_NAME if used is None else used.path)]
