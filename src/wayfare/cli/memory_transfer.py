"""`wayfare memory import` and `export`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import typer

from wayfare.cli.memory_opening import opened
from wayfare.cli.printing import plain, put, put_exact, say
from wayfare.errors import ConfigError
from wayfare.memory.exporting import from_markdown, is_export, to_markdown
from wayfare.memory.importing import (
    Found,
    from_basic_memory,
    from_bullets,
    from_mem0,
    from_memory_folder,
    import_found,
)
from wayfare.session import run_sync
from wayfare.settings.plain_file import read_plain, read_small

_KINDS = ("memory", "export", "bullets", "mem0", "basic-memory")
_LARGEST_BYTES = 20_000_000
"""A larger file is no memory of anybody's."""
_ARCHIVES = (
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"7z\xbc\xaf",
    b"\x28\xb5\x2f\xfd",
)
"""How archives and packed files begin: none is unpacked here, where its paths would have to be
trusted."""
_TAR = b"ustar"
_TAR_AT = 257


def import_from(root: Path, path: Path, *, kind: str, user: bool) -> int:
    """Bring what a folder or file holds to the gate; exit status 1 when nothing was let in.

    Raises:
        ConfigError: it cannot be read as what it is said to be.
        BadParameter: no such kind.
    """
    if kind and kind not in _KINDS:
        raise typer.BadParameter(f"{kind} is none of {', '.join(_KINDS)}", param_hint="--kind")
    found = _read(path, kind or _guessed(path))

    async def work() -> int:
        async with opened(root, user=user) as memory:
            await memory.search.sync()
            offered = await import_found(memory.store, found, origin=path.name)
        for where, why in found.skipped:
            say(f"wayfare: left out {where}: {why}")
        for verdict in offered.verdicts:
            if verdict.outcome in ("reject", "quarantine") or verdict.proposal:
                name = verdict.candidate.name
                say(f"wayfare: {name}: {verdict.detail} ({verdict.reason or verdict.outcome})")
        same = sum(v.outcome == "duplicate" for v in offered.verdicts)
        nothing = f"memory: no record found in {plain(path.name)}"
        told = f"{offered}{f', {same} there already' if same else ''}"
        put(f"{told if offered.verdicts else nothing}\n")
        return (
            0
            if not offered.verdicts
            or any(v.writes or v.outcome == "duplicate" or v.proposal for v in offered.verdicts)
            else 1
        )

    return run_sync(work)


def export(root: Path, to: Path | None, *, user: bool) -> None:
    """All records as one Markdown text.

    Raises:
        NotFound: a record cannot be read.
    """

    async def work() -> None:
        async with opened(root, user=user) as memory:
            text = await to_markdown(memory.store)
        if to is None:
            put_exact(text)
        else:
            to.write_text(text, encoding="utf-8")
            put(f"written: {plain(str(to))}\n")

    run_sync(work)


def _guessed(path: Path) -> str:
    if path.is_dir():
        found = [*islice(_plain_files(path, deep=True), 50)]
        notes = sum(b"permalink:" in read_plain(file, 2_000) for file in found)
        return "basic-memory" if notes * 2 > len(found) else "memory"
    if path.suffix == ".json":
        return "mem0"
    return "export" if is_export(_text(path)) else "bullets"


def _read(path: Path, kind: str) -> Found:
    try:
        if kind == "mem0":
            return from_mem0(_text(path))
        if kind == "bullets":
            return from_bullets(path.name, _text(path))
        if kind == "export":
            return from_markdown(path.name, _text(path))
        if not path.is_dir():
            raise ConfigError(f"{path} is no folder", setting="path", value=str(path))
        deep = kind == "basic-memory"
        files = {p.relative_to(path).as_posix(): _content(p) for p in _plain_files(path, deep=deep)}
        found = from_basic_memory(files) if deep else from_memory_folder(files)
        return replace(found, skipped=(*_left_out(path, deep=deep), *found.skipped))
    except (ValueError, RecursionError) as error:
        text = f"{path} is no {kind} export: {error}"
        raise ConfigError(text, setting="path", value=str(path)) from error


def _markdown_files(folder: Path, *, deep: bool) -> Iterator[Path]:
    """Whatever bears a Markdown name in a folder, and with `deep` in those below; no folder that is
    a link is gone into."""
    for at, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(at, name) for name in sorted(names) if name.endswith(".md"))
        if not deep:
            return


def _plain_files(folder: Path, *, deep: bool) -> Iterator[Path]:
    """Those of them that are files themselves: a link could fetch any text of this machine into
    the memory, and a pipe would be waited for."""
    for path in _markdown_files(folder, deep=deep):
        if stat.S_ISREG(path.lstat().st_mode):
            yield path


def _left_out(folder: Path, *, deep: bool) -> Iterator[tuple[str, str]]:
    for path in _markdown_files(folder, deep=deep):
        if not stat.S_ISREG(mode := path.lstat().st_mode):
            what = "a link" if stat.S_ISLNK(mode) else "no plain file"
            yield path.relative_to(folder).as_posix(), f"it is {what}"


def _text(path: Path) -> str:
    return _content(path).decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")


def _content(path: Path) -> bytes:
    try:
        content = read_small(path, _LARGEST_BYTES)
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror}"
        raise ConfigError(text, setting="path", value=str(path)) from error
    if content.startswith(_ARCHIVES) or content[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        text = f"{path} is an archive; unpack it and name the folder"
        raise ConfigError(text, setting="path", value=str(path))
    return content
