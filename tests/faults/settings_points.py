"""Settings and trust, broken: files cut anywhere, of other bytes, without room, writers killed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.faults.breaking import chosen

from wayfare.agent.trust import TrustStore, shipped
from wayfare.errors import ConfigError, WriteFailed
from wayfare.settings import load

Point = tuple[str, str]
"""What was done, and what was found wrong; empty when all was well."""
_TEXT: Final = """\
[context]
budget = "window"
[permissions]
mode = "ask"
deny = ["bash(curl:*)", "read_file(secrets/**)"]
[memory]
enabled = false
"""
_KILLS: Final = 12


def settings_points(share: int) -> Iterator[Point]:
    """A settings file cut at each byte, or with other bytes in it, is read or refused by name;
    whatever of it is read, it is never read as something that allows more."""
    raw = _TEXT.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wayfare.toml"
        for at in chosen(len(raw), share):
            for way, content in (
                ("cut", raw[:at]),
                ("bytes put in", raw[:at] + b"\0\xff" + raw[at:]),
                ("a byte lost", raw[: at - 1] + raw[at:]),
                ("a bit turned", raw[: at - 1] + bytes([raw[at - 1] ^ 1]) + raw[at:]),
            ):
                path.write_bytes(content)
                yield way, _loaded(Path(folder), f"byte {at}")
        path.unlink()
        path.mkdir()
        yield "no file", _loaded(Path(folder), "a folder", refused=True)
        path.rmdir()
        os.mkfifo(path)
        yield "no file", _loaded(Path(folder), "a pipe", refused=True)
        path.unlink()
        path.symlink_to("/dev/zero")
        yield "no file", _loaded(Path(folder), "a device", refused=True)
        path.unlink()
        path.symlink_to(path)
        yield "no file", _loaded(Path(folder), "a link to itself")


def _loaded(folder: Path, point: str, *, refused: bool = False) -> str:
    try:
        found = load(workspace=folder, user=None, environ={}, trusted=True).settings
    except ConfigError as error:
        return "" if str(error) else f"{point}: refused without a word"
    except Exception as error:
        return f"{point}: {type(error).__name__}: {error}"
    if refused:
        return f"{point}: was read"
    allows = found.permissions.allow or found.permissions.mode not in ("ask", "read-only")
    return f"{point}: allows more" if allows else ""


def trust_points(share: int, store: TrustStore | None = None) -> Iterator[Point]:
    """The file of trusted workspaces: changed anywhere it trusts nothing it did not, without room
    the old one stays, and a writer killed at any moment leaves the old one or the new one."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        mine, other = root / "mine", root / "other"
        for workspace, model in ((mine, "a"), (other, "b")):
            workspace.mkdir()
            (workspace / "wayfare.toml").write_text(f'[model]\nname = "{model}"\n')
        store = store or TrustStore(folder=root / "state")
        store.trust(shipped(mine), at_seconds=1.0)
        yield from _changed(store, mine, other, share)
        yield from _without_room(store, mine, other, share)
        yield from _killed_writers(root, mine, other, max(_KILLS // share, 2))
        blocked = TrustStore(folder=mine / "wayfare.toml")
        try:
            blocked.trust(shipped(mine), at_seconds=1.0)
        except WriteFailed:
            yield "no folder", "it trusts" if blocked.trusts(shipped(mine)) else ""
        else:
            yield "no folder", "the write was not refused"


def _changed(store: TrustStore, mine: Path, other: Path, share: int) -> Iterator[Point]:
    raw = store.path.read_bytes()
    for at in chosen(len(raw), share):
        for way, content in (
            ("cut", raw[:at]),
            ("a bit turned", raw[: at - 1] + bytes([raw[at - 1] ^ 1]) + raw[at:]),
        ):
            store.path.write_bytes(content)
            store.path.chmod(0o600)
            try:
                wrong = store.trusts(shipped(other))
                store.trust(shipped(mine), at_seconds=1.0)
                wrong = wrong or not store.trusts(shipped(mine)) or store.trusts(shipped(other))
            except Exception as error:
                yield way, f"byte {at}: {type(error).__name__}: {error}"
                continue
            yield way, f"byte {at}: trusts wrongly" if wrong else ""


def _without_room(store: TrustStore, mine: Path, other: Path, share: int) -> Iterator[Point]:
    store.path.unlink()
    store.trust(shipped(mine), at_seconds=1.0)
    raw, names = store.path.read_bytes(), sorted(os.listdir(store.folder))
    for at in chosen(len(raw), share):
        wrong = ""
        try:
            with _room_for(at - 1):
                store.trust(shipped(other), at_seconds=2.0)
        except WriteFailed:
            if store.path.read_bytes() != raw:
                wrong = f"byte {at}: the old file is gone"
            elif sorted(os.listdir(store.folder)) != names:
                wrong = f"byte {at}: something was left behind"
        except Exception as error:
            wrong = f"byte {at}: {type(error).__name__}: {error}"
        else:
            wrong = f"byte {at}: a short write was not noticed"
        yield "no room", wrong


@contextmanager
def _room_for(bytes_: int) -> Generator[None]:
    """Files may not grow beyond so many bytes: the write comes short, then fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _killed_writers(root: Path, mine: Path, other: Path, kills: int) -> Iterator[Point]:
    store = TrustStore(folder=root / "killed")
    store.trust(shipped(mine), at_seconds=1.0)
    program = (
        "import os, sys; from pathlib import Path\n"
        "from wayfare.agent.trust import TrustStore, shipped\n"
        "store = TrustStore(folder=Path(sys.argv[1]))\n"
        "while True:\n"
        "    os.write(1, b'.'); store.trust(shipped(Path(sys.argv[2])), at_seconds=1.0)\n"
    )
    for number in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(store.folder), str(other)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert child.stdout is not None
        # One sign a write: so many are begun, and the last one is cut off wherever it is.
        alive = all(child.stdout.read(1) for _ in range(number + 1))
        child.kill()
        child.wait()
        child.stdout.close()
        wrong = "" if alive else f"kill {number}: the writer ended by itself"
        if not store.trusts(shipped(mine)):
            wrong = f"kill {number}: what was trusted is lost"
        yield "writer killed", wrong
