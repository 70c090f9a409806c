"""Workspace trust: what somebody else put into a folder does nothing until the person says so.

A workspace can ship settings, hooks, memory records and transcripts, and each of them steers the
agent. Until the person trusts it, once, its rules may only narrow, its hooks and its memories are
off. What was trusted is kept with a digest of its settings and of the files its hooks and MCP servers
run: when they change, the person is asked again. Records and transcripts change in everyday use, so of them only the presence counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from wayfare.agent.policy import CLOSED_FOLDERS, narrow
from wayfare.errors import ConfigError, WriteFailed
from wayfare.settings.files import FileText, WorkspaceFiles, inner

__all__ = ["KINDS", "Kind", "Shipped", "TrustStore", "held_in", "narrow", "shipped", "state_folder"]

Kind: TypeAlias = Literal["settings", "hooks", "records", "transcripts"]
KINDS: tuple[Kind, ...] = ("settings", "hooks", "records", "transcripts")
_VERSION = 1
_LOCK_SECONDS = 10.0
_UNREADABLE = "unreadable"
_NOTHING = frozenset({".gitignore", ".gitkeep"})
"""What an empty folder is kept with."""
_Entries: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """What a workspace brings along.

    Attributes:
        workspace: The folder, links followed.
        kinds: Which of `KINDS` were found, in that order.
        digest: Of settings and hooks and of the workspace's files that hook commands and MCP
            servers name.
        records: The folders its records were found in, as they are set.
        transcripts: The same of its transcripts.
        runs: The command lines that its hooks and MCP servers run.
    """

    workspace: str
    kinds: tuple[Kind, ...]
    digest: str
    records: tuple[str, ...] = ()
    transcripts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

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
    files: WorkspaceFiles | None = None,
) -> Shipped:
    """Looks at what a workspace brings along, without using any of it.

    Records and transcripts are looked for in the folders its own settings name as well: those are
    used once it is trusted.

    Args:
        workspace: The folder.
        records: Where its memory records may be: relative to it, or absolute.
        transcripts: Where its transcripts may be, likewise.
        files: Its settings files as they were read; None: read now.
    """
    root = Path(os.path.realpath(workspace))
    files = WorkspaceFiles.read(root) if files is None else files
    settings = _settings(files)
    held = _holding(root, (*records, files.folder("memory")))
    told = _holding(root, (*transcripts, files.folder("transcripts")))
    there: dict[Kind, bool] = {
        "settings": bool(settings),
        "hooks": bool(settings.get("hooks")),
        "records": bool(held),
        "transcripts": bool(told),
    }
    parts = [json.dumps(settings, sort_keys=True, default=str, ensure_ascii=False)]
    if lines := [*_hook_commands(settings.get("hooks")), *_server_words(settings.get("mcp"))]:
        parts += [_file_digest(path) for path in _named_files(lines, root)]
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return Shipped(
        workspace=str(root),
        kinds=tuple(kind for kind in KINDS if there[kind]),
        digest=digest,
        records=held,
        transcripts=told,
        runs=tuple(_run_lines(settings)),
    )


def _holding(root: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Those of the folders that hold anything, each once."""
    return tuple(f for f in dict.fromkeys(folders) if f and any(True for _ in held_in(root, f)))


def _settings(files: WorkspaceFiles) -> dict[str, Any]:
    """The settings of the workspace; a file that cannot be read stands for itself, by its bytes."""
    found = {} if files.own is None else dict(_table(files.own))
    project = files.pyproject
    if project is not None and (project.error is not None or b"wayfare" in project.content):
        table = _table(project)
        found = {**(table if _UNREADABLE in table else inner(table)), **found}
    return found


def _table(file: FileText) -> Mapping[str, Any]:
    try:
        return file.table()
    except ConfigError as error:
        held = f"unreadable: {error}".encode() if file.error is not None else file.content
        return {_UNREADABLE: hashlib.sha256(held).hexdigest()}


def _server_words(servers: object) -> Iterator[str]:
    """The words of the command lines of MCP servers."""
    for _, server in _tables(servers):
        yield from _hook_commands([server.get("command"), server.get("args")])


def _run_lines(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is run, for a person to read."""
    hooks: object = settings.get("hooks")
    listed = cast("list[object]", hooks) if isinstance(hooks, list) else [hooks]
    for hook in listed:
        words = [*_hook_commands(hook)]
        if words:
            yield f"hook {' '.join(words)}"
    for name, server in _tables(settings.get("mcp")):
        words = [*_hook_commands([server.get("command"), server.get("args"), server.get("url")])]
        yield f"MCP server {name}: {' '.join(words)}"


def _tables(value: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    if isinstance(value, Mapping):
        for name, one in cast("Mapping[str, object]", value).items():
            if isinstance(one, Mapping):
                yield name, cast("Mapping[str, object]", one)


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
    """Files of the workspace that these commands run: their text is what is trusted, too."""
    # Read when there are commands alone: every session looks whether its workspace is trusted.
    from wayfare.agent.shell.values import Unparsed
    from wayfare.agent.shell_commands import commands

    for line in hook_commands:
        found = commands(line)
        if isinstance(found, Unparsed):
            words = line.split()
        else:
            words = [word.text for command in found for word in command.words]
        if line not in words:
            words.append(line)  # an argument of a server may hold blanks
        for word in words:
            for variable in ("$WAYFARE_PROJECT_DIR/", "$CLAUDE_PROJECT_DIR/"):
                word = word.removeprefix(variable)
            path = root / word
            try:
                inside = Path(os.path.realpath(path)).is_relative_to(root)
                if inside and path.is_file():
                    yield path
            except (OSError, ValueError):
                continue  # no name a file can have


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        return f"{path.name}: unreadable: {error}"


def held_in(root: Path, folder: str) -> Iterator[str]:
    """What somebody put under a folder of a workspace, as paths relative to that folder; none of it
    is looked into.

    A journal without records counts, as it makes records, and a link to a folder is as good as
    the folder.
    """
    if "\0" in folder:
        return
    top = root / os.path.expanduser(folder)
    for at, folders, names in os.walk(top):
        folders.sort()
        linked = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in sorted((*names, *linked)):
            path = os.path.join(at, name)
            if name not in _NOTHING or os.path.islink(path):
                yield os.path.relpath(path, top)


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
