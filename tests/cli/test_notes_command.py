"""`wayfare notes`: where was I, from the file or from the log."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from wayfare.cli.app import run
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.messages import assistant, user
from wayfare.notes.template import rendered
from wayfare.session import Places, open_session


def worked(root: Path) -> str:
    """A session of a few messages; its name."""

    async def work() -> str:
        begun = await open_session(
            Places(workspace=root), budget=Budget.window(), clock=MovableClock()
        )
        await begun.governor.add([user("Port the parser."), assistant("Half of it is ported.")])
        await begun.governor.transcript.close()
        return begun.session

    return anyio.run(work)


def test_without_a_file_the_notes_are_made_from_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worked(tmp_path)
    assert run(["notes", "--root", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "# Task specification" in told.out
    assert "Port the parser." in told.out
    assert "Half of it is ported." in told.out
    assert "no notes yet" in told.out + told.err
    assert not list(tmp_path.rglob("notes.md"))


def test_a_file_is_shown_as_it_is_with_what_it_covers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = worked(tmp_path)
    folder = Places(workspace=tmp_path).folder(name)
    (folder / "notes.md").write_text(rendered({"Current State": "half ported"}, 3))
    assert run(["notes", name, "--root", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("# Current State\nhalf ported")
    assert "up to entry 3 of 3" in told.out + told.err


def test_a_session_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worked(tmp_path)
    assert run(["notes", "nobody", "--root", str(tmp_path)]) == 1
    assert "nobody" in capsys.readouterr().err
