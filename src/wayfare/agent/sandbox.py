"""A kernel sandbox for shell commands, where the machine has one: bubblewrap.

Inside it the workspace can be written, the rest of the machine can only be read, `/tmp` is private
and there is no network. What no tool may write (`.memory/`, transcripts, hooks of git) stays
read-only there too, which holds even for commands whose effects cannot be told from their text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio

PROBE_SECONDS = 5.0
"""How long `find_sandbox` waits for bubblewrap to prove that it works; it takes milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """bubblewrap, found and tried.

    Attributes:
        program: Where it is.
    """

    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSandbox:
    """Commands cannot be confined on this machine.

    Attributes:
        reason: Why, and what would help, for a person.
    """

    reason: str


Found: TypeAlias = Sandbox | NoSandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a command may touch.

    Attributes:
        workspace: Writable, all of it but `read_only`.
        cwd: Where the command starts; the workspace by default.
        writable: Further folders it may write, such as a cache of a package tool.
        read_only: Paths below writable folders that stay as they are; missing ones are left out.
        hidden: Folders it sees empty, such as `~/.ssh`; missing ones are left out.
        network: True to let it reach the network.
    """

    workspace: Path
    cwd: Path | None = None
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: bool = False


async def find_sandbox(which: Callable[[str], str | None] = shutil.which) -> Found:
    """Looks for bubblewrap and runs it once: many machines have it and forbid what it needs.

    Args:
        which: Finds programs by name.
    """
    program = which("bwrap")
    if program is None:
        return NoSandbox(
            reason="bubblewrap (bwrap) is not installed; your system's packages have it"
        )
    probe = [*_namespaces(network=False), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        with anyio.fail_after(PROBE_SECONDS):
            tried = await anyio.run_process([program, *probe, "true"], check=False)
    except (OSError, TimeoutError) as error:
        return NoSandbox(reason=f"bubblewrap at {program} does not run: {error or 'no answer'}")
    if tried.returncode != 0:
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        detail = said[-1] if said else f"exit code {tried.returncode}"
        return NoSandbox(reason=f"bubblewrap does not work on this machine: {detail}")
    return Sandbox(program=program)


def confined(sandbox: Sandbox, argv: Sequence[str], limits: Confinement) -> tuple[str, ...]:
    """The argument list that runs `argv` inside the sandbox.

    The process that starts it must live as long as the command: bubblewrap ends with the thread
    that started it (`--die-with-parent`), and the command ends with bubblewrap.
    """
    workspace = limits.workspace.resolve()
    cwd = workspace if limits.cwd is None else limits.cwd.resolve()
    return (
        sandbox.program,
        *_namespaces(network=limits.network),
        *("--ro-bind", "/", "/"),
        *("--dev", "/dev"),
        *("--proc", "/proc"),
        *("--tmpfs", "/tmp"),
        # After /tmp, so that a workspace below it is still there.
        *_mounts("--bind", (workspace, *limits.writable)),
        *_mounts("--ro-bind", limits.read_only),
        *(word for path in _existing(limits.hidden, folders=True) for word in ("--tmpfs", path)),
        *("--chdir", str(cwd)),
        "--",
        *argv,
    )


def default_read_only(workspace: Path, closed: Iterable[str]) -> tuple[Path, ...]:
    """What stays read-only in a workspace: the closed folders, and what decides what runs later."""
    guarded = (*closed, ".git/hooks", ".git/config", ".git/modules", "wayfare.toml", ".envrc")
    return tuple(workspace / name for name in guarded)


def _namespaces(*, network: bool) -> tuple[str, ...]:
    own = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    return (
        "--die-with-parent",
        "--new-session",
        *own,
        *(() if network else ("--unshare-net",)),
    )


def _existing(paths: Iterable[Path], *, folders: bool = False) -> tuple[str, ...]:
    """Links followed: bubblewrap mounts on places, not on names."""
    there = (path.resolve() for path in paths)
    return tuple(str(path) for path in there if (path.is_dir() if folders else path.exists()))


def _mounts(option: str, paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(word for path in _existing(paths) for word in (option, path, path))
