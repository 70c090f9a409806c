"""Workspace trust: what somebody else put into a folder does nothing until the person says so.

A workspace can ship settings, hooks, memory records and transcripts, and each of them steers the
agent. Until the person trusts it, once, its rules may only narrow, its hooks and its memories are
off. What was trusted is kept with a digest of its settings and hooks: when they change, the person
is asked again. Records and transcripts change in everyday use, so of them only the presence counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from wayfare.agent.policy import CLOSED_FOLDERS, narrow
from wayfare.errors import WriteFailed
from wayfare.settings.loading import MOST_BYTES
from wayfare.settings.plain_file import read_small

__all__ = ["KINDS", "Kind", "Shipped", "TrustStore", "narrow", "shipped", "state_folder"]

Kind: TypeAlias = Literal["settings", "hooks", "records", "transcripts"]
KINDS: tuple[Kind, ...] = ("settings", "hooks", "records", "transcripts")
SETTINGS_FILE = "wayfare.toml"
_VERSION = 1
_LOCK_SECONDS = 10.0
_NOTHING = frozenset({".gitignore", ".gitkeep"})
"""What an empty folder is kept with."""
_Entries: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """What a workspace brings along.

    Attributes:
        workspace: The folder, links followed.
        kinds: Which of `KINDS` were found, in that order.
        digest: Of settings and hooks and of the workspace's files that hook commands name.
    """

    workspace: str
    kinds: tuple[Kind, ...]
    digest: str

    @property
    def empty(self) -> bool:
        """True when there is nothing to trust."""
        return not self.kinds


def state_folder() -> Path:
    """Where the trust of this person on this machine is kept."""
    import platformdirs

    return Path(platformdirs.user_state_dir("wayfare"))


def shipped(
    workspace: Path,
    *,
    records: Sequence[str] = CLOSED_FOLDERS[:1],
    transcripts: Sequence[str] = CLOSED_FOLDERS[1:2],
) -> Shipped:
    """Looks at what a workspace brings along, without using any of it.

    Args:
        workspace: The folder.
        records: Where its memory records may be, relative to it.
        transcripts: Where its transcripts may be, relative to it.
    """
    root = Path(os.path.realpath(workspace))
    settings = _settings(root)
    hook_commands = tuple(_hook_commands(settings.get("hooks")))
    kinds: list[Kind] = ["settings"] if settings else []
    if settings.get("hooks"):
        kinds.append("hooks")
    if any(_holds(root / folder) for folder in records):
        kinds.append("records")
    if any(_holds(root / folder) for folder in transcripts):
        kinds.append("transcripts")
    parts = [json.dumps(settings, sort_keys=True, default=str, ensure_ascii=False)]
    if hook_commands:
        parts += [_file_digest(path) for path in _named_files(hook_commands, root)]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Shipped(workspace=str(root), kinds=tuple(kinds), digest=digest)


def _settings(root: Path) -> dict[str, Any]:
    """The settings of the workspace; a file that cannot be read stands for itself, by its bytes."""
    found: dict[str, Any] = {}
    own = _read(root / SETTINGS_FILE)
    if own is not None:
        found = _toml(own, ())
    project = _read(root / "pyproject.toml")
    if project is not None and b"wayfare" in project:
        found = {**_toml(project, ("tool", "wayfare")), **found}
    return found


def _read(path: Path) -> bytes | None:
    try:
        return read_small(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"unreadable: {error}".encode()


def _toml(text: bytes, keys: tuple[str, ...]) -> dict[str, Any]:
    try:
        value: Any = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {"unreadable": hashlib.sha256(text).hexdigest()}
    for key in keys:
        value = cast(Mapping[str, Any], value).get(key) if isinstance(value, Mapping) else None
    return dict(cast(Mapping[str, Any], value)) if isinstance(value, Mapping) else {}


def _hook_commands(hooks: object) -> Iterable[str]:
    """Every text under `hooks` that may be a command, in whatever shape it is written."""
    if isinstance(hooks, str):
        yield hooks
    elif isinstance(hooks, Mapping):
        for value in cast(Mapping[str, object], hooks).values():
            yield from _hook_commands(value)
    elif isinstance(hooks, list | tuple):
        for value in cast(Iterable[object], hooks):
            yield from _hook_commands(value)


def _named_files(hook_commands: Iterable[str], root: Path) -> Iterable[Path]:
    """Files of the workspace that hook commands run: their text is what is trusted, too."""
    # Read when there are hooks alone: every session looks whether its workspace is trusted.
    from wayfare.agent.shell.values import Unparsed
    from wayfare.agent.shell_commands import commands

    for line in hook_commands:
        found = commands(line)
        if isinstance(found, Unparsed):
            words = line.split()
        else:
            words = [word.text for command in found for word in command.words]
        for word in words:
            for variable in ("$WAYFARE_PROJECT_DIR/", "$CLAUDE_PROJECT_DIR/"):
                word = word.removeprefix(variable)
            path = root / word
            if path.is_file() and Path(os.path.realpath(path)).is_relative_to(root):
                yield path


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        return f"{path.name}: unreadable: {error}"


def _holds(folder: Path) -> bool:
    """Whether there is anything in it: a journal without records makes records, and a link to a
    folder is as good as the folder."""
    return any(
        name not in _NOTHING or os.path.islink(os.path.join(at, name))
        for at, folders, names in os.walk(folder)
        for name in (*names, *(f for f in folders if os.path.islink(os.path.join(at, f))))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustStore:
    """What the person trusts on this machine, as one small file.

    Attributes:
        folder: Where it is; `state_folder()` for a real person.
    """

    folder: Path

    @property
    def path(self) -> Path:
        """The file itself."""
        return self.folder / "trust.json"

    def trusts(self, found: Shipped) -> bool:
        """True when there is nothing to trust, or the person trusted just this.

        A file that is damaged, or that others could write, trusts nothing.
        """
        if found.empty:
            return True
        entry = self._entries().get(found.workspace)
        return entry is not None and entry.get("digest") == found.digest

    def changed(self, found: Shipped) -> bool:
        """True when the workspace was trusted before and brings other settings or hooks now."""
        entry = self._entries().get(found.workspace)
        return entry is not None and entry.get("digest") != found.digest

    def trust(self, found: Shipped, *, at_seconds: float) -> None:
        """Notes that the person trusts this; call it also for a workspace that brings nothing.

        Noting an empty workspace makes what wayfare itself writes there later (records,
        transcripts) the person's own, so that nobody is asked about it.

        Args:
            found: What is trusted.
            at_seconds: Unix time, from the clock.

        Raises:
            WriteFailed: when the file cannot be written.
        """
        entry: dict[str, Any] = {
            "digest": found.digest,
            "kinds": list(found.kinds),
            "trusted_at_seconds": at_seconds,
        }
        self._write(lambda entries: {**entries, found.workspace: entry})

    def forget(self, workspace: Path) -> None:
        """Takes trust back; unknown workspaces are no error.

        Raises:
            WriteFailed: when the file cannot be written.
        """
        root = os.path.realpath(workspace)
        self._write(lambda entries: {k: v for k, v in entries.items() if k != root})

    def _entries(self) -> _Entries:
        try:
            found = self.path.stat()
            if found.st_mode & 0o022 or found.st_uid != os.geteuid():
                return {}
            value: Any = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(value, dict):
            return {}
        table = cast(dict[str, Any], value)
        entries = table.get("workspaces")
        if table.get("version") != _VERSION or not isinstance(entries, dict):
            return {}
        known = cast(dict[str, Any], entries)
        return {k: cast(dict[str, Any], v) for k, v in known.items() if isinstance(v, dict)}

    def _write(self, change: Callable[[_Entries], _Entries]) -> None:
        from filelock import FileLock

        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(str(self.path) + ".lock", timeout=_LOCK_SECONDS, mode=0o600):
                value = {"version": _VERSION, "workspaces": change(self._entries())}
                _replace(self.path, json.dumps(value, indent=1, ensure_ascii=False).encode())
        except OSError as error:
            raise WriteFailed(
                f"trust could not be written to {self.path}: {error}",
                path=str(self.path),
                reason=str(error),
            ) from error


def _replace(path: Path, text: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".trust-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
