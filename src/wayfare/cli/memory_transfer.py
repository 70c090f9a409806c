"""`wayfare memory import` and `export`."""

from __future__ import annotations

import json
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

_KINDS = ("memory", "export", "bullets", "mem0", "basic-memory")
_LARGEST_BYTES = 20_000_000
"""A larger file is no memory of anybody's."""


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
        files = list(path.rglob("*.md"))[:50]
        notes = sum(b"permalink:" in file.read_bytes()[:2_000] for file in files)
        return "basic-memory" if notes * 2 > len(files) else "memory"
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
        if kind == "memory":
            return from_memory_folder({p.name: _content(p) for p in sorted(path.glob("*.md"))})
        files = {p.relative_to(path).as_posix(): _content(p) for p in sorted(path.rglob("*.md"))}
        return from_basic_memory(files)
    except (json.JSONDecodeError, ValueError) as error:
        text = f"{path} is no {kind} export: {error}"
        raise ConfigError(text, setting="path", value=str(path)) from error


def _text(path: Path) -> str:
    return _content(path).decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")


def _content(path: Path) -> bytes:
    size = path.stat().st_size
    if size > _LARGEST_BYTES:
        text = f"{path} has {size:,} bytes, more than the {_LARGEST_BYTES:,} that are read"
        raise ConfigError(text, setting="path", value=str(path))
    return path.read_bytes()
