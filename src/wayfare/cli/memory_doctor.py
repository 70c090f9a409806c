"""`wayfare memory doctor`: whether folder, journal and index agree; what is derived is mended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wayfare.cli.memory_opening import opened
from wayfare.cli.printing import counted, plain, put, put_json
from wayfare.errors import StoreError
from wayfare.memory import waiting
from wayfare.memory.index import IndexRoom
from wayfare.memory.slug import is_record_file
from wayfare.memory.writer import INDEX_NAME
from wayfare.session import run_sync
from wayfare.session.memory_wanted import OpenMemory

Finding = dict[str, Any]


def run(root: Path, *, user: bool, json: bool) -> int:
    """Print what was found; exit status 1 when something needs a person.

    Raises:
        NotFound: the folder is there and cannot be read, or leads out of its place.
    """

    async def work() -> int:
        async with opened(root, user=user) as memory:
            found = await _findings(memory)
        if json:
            put_json(found)
        else:
            for one in found:
                put(plain(f"{one['state']:5} {one['what']}: {one['text']}") + "\n")
        return 1 if any(one["state"] == "bad" for one in found) else 0

    return run_sync(work)


async def _findings(memory: OpenMemory) -> list[Finding]:
    store = memory.store
    if not memory.folder.is_dir():
        return [_finding("ok", "folder", f"{memory.folder}: nothing is remembered yet")]
    found = [_finding("ok", "folder", f"{memory.folder}, {counted(len(store.entries), 'record')}")]
    if not os.access(memory.folder, os.W_OK):
        found.append(_finding("bad", "folder", "it cannot be written: memory is only read"))
    for entry in store.folder.in_order():
        serious = [code for code in entry.problems if not code.startswith("no_")]
        if serious:
            found.append(
                _finding("note", entry.file, f"read as well as it can be: {', '.join(serious)}")
            )
    found += [_finding("note", name, f"left out: {why}") for name, why in _left_out(memory)]
    damaged = store.state.damaged
    if damaged:
        lines = ", ".join(map(str, damaged[:5]))
        found.append(
            _finding("bad", "journal", f"{counted(len(damaged), 'line')} unreadable: {lines}")
        )
    found.append(_finding("ok", "journal", counted(store.state.lines, "line")))
    found.append(await _index(memory))
    try:
        read = await memory.search.sync()
        found.append(_finding("ok", "search", f"in step, {counted(read, 'record')} read anew"))
    except StoreError as error:
        found.append(_finding("bad", "search", str(error)))
    count = len(await waiting(store.storage))
    if count:
        found.append(
            _finding("note", "review", f"{counted(count, 'record')} wait: wayfare memory review")
        )
    return found


async def _index(memory: OpenMemory) -> Finding:
    """The index, written anew where it does not say what the records say."""
    store = memory.store
    if (memory.folder / "MEMORY.md").is_dir():
        return _finding("bad", "index", "MEMORY.md is a folder; move it away to have an index")
    wanted = store.index()
    try:
        content = await store.storage.index.read(INDEX_NAME)
        if store.entries and content != wanted.text.encode(errors="replace"):
            written = await store.rebuild_index()
            room = _room(written.room)
            return _finding("note", "index", f"was out of step and is written anew, {room}")
    except StoreError as error:
        return _finding("bad", "index", str(error))
    return _finding("ok", "index", _room(wanted.room))


def _room(room: IndexRoom) -> str:
    return str(room).removeprefix("index: ")


def _left_out(memory: OpenMemory) -> list[tuple[str, str]]:
    """What looks like a record and is none, with the reason."""
    found: list[tuple[str, str]] = []
    with os.scandir(memory.folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not is_record_file(entry.name) or entry.name in memory.store.entries:
                continue
            if entry.is_symlink():
                found.append((entry.name, "it is a link; a record is a plain file in the folder"))
            elif not entry.is_file():
                found.append((entry.name, "it is no file"))
            else:
                found.append((entry.name, "no record can have this name; rename it"))
    return found


def _finding(state: str, what: str, text: str) -> Finding:
    return {"state": state, "what": what, "text": text}
