"""What comes back after a compaction: from the live source, within its room, nothing invented."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from wayfare.context.facts import Ledger
from wayfare.context.restore import (
    FILE_TOKENS,
    RecentFiles,
    Restorer,
    lines_source,
    todo_source,
)
from wayfare.messages import assistant, call
from wayfare.tokens import TokenMeter
from wayfare.transcript import Entered

pytestmark = pytest.mark.anyio
METER = TokenMeter()


def ledger(*paths: str) -> Ledger:
    made = Ledger()
    for number, path in enumerate(paths, 1):
        message = assistant("", call("read_file", {"path": path}, id=f"c{number}"))
        made.add(Entered(id=number, time=0.0, message=message))
    return made


async def restored(restorer: Restorer, known: Ledger, room: int = 60_000, shown: str = "") -> str:
    return await restorer.restored(room_tokens=room, ledger=known, meter=METER, shown=shown)


async def test_files_come_from_disk_and_not_from_memory(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("now = 2\n")
    restorer = Restorer()
    restorer.register("files", RecentFiles(tmp_path))
    text = await restored(restorer, ledger("a.py", "gone.py"))
    assert '<file path="a.py">\nnow = 2\n</file>' in text
    assert "gone.py" not in text


async def test_the_five_files_used_last_each_within_its_tokens(tmp_path: Path) -> None:
    names = [f"f{number}.txt" for number in range(7)]
    for name in names:
        (tmp_path / name).write_text(f"start of {name}\n" + "some words here\n" * 4_000)
    restorer = Restorer()
    restorer.register("files", RecentFiles(tmp_path))
    text = await restored(restorer, ledger(*names))
    assert [f"start of {name}" in text for name in names] == [False, False] + [True] * 5
    assert "read f6.txt from there" in text
    for part in text.split("<file ")[1:]:
        assert METER.text(part) <= FILE_TOKENS


async def test_files_outside_binary_ones_and_forbidden_ones_stay_out(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "outside.txt").write_text("OUTSIDE")
    (workspace / "link.txt").symlink_to(tmp_path / "outside.txt")
    (workspace / "b.bin").write_bytes(b"\x00\x01")
    (workspace / "secret.env").write_text("FORBIDDEN")
    restorer = Restorer()
    restorer.register("files", RecentFiles(workspace, open_to=lambda path: path.suffix != ".env"))
    known = ledger("../outside.txt", "link.txt", "b.bin", "secret.env", "\x00")
    assert await restored(restorer, known) == ""


async def test_what_still_stands_in_the_context_is_not_said_twice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    restorer = Restorer()
    restorer.register("files", RecentFiles(tmp_path))
    assert await restored(restorer, ledger("a.py"), shown="the file says\nx = 1\n") == ""


async def test_sources_say_what_is_now_and_silent_ones_add_nothing() -> None:
    running: list[str] = ["b1: make test (runs)"]
    restorer = Restorer()
    restorer.register("todos", todo_source(lambda: [{"status": "pending", "content": "ship"}]))
    restorer.register("commands", lines_source("Commands in the background:", lambda: running))
    restorer.register("sub-agents", lines_source("Sub-agents at work:", list))
    text = await restored(restorer, ledger())
    assert "- [pending] ship" in text
    assert "b1: make test (runs)" in text
    assert "Sub-agents" not in text
    running.clear()
    assert "make test" not in await restored(restorer, ledger())


async def test_an_async_source_is_awaited_and_what_has_no_room_is_named() -> None:
    async def many() -> Sequence[str]:
        return ["word " * 500, "more"]

    restorer = Restorer()
    restorer.register("long list", lines_source("Long:", many))
    assert "word" in await restored(restorer, ledger())
    assert "no room for: long list" in await restored(restorer, ledger(), room=100)
