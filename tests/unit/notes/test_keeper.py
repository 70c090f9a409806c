"""When notes are written, by whom, and what a failure leaves."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.unit.context.governed_session import Governed

from wayfare.backends import FileDocs
from wayfare.clock import MovableClock
from wayfare.errors import ModelUnreachable
from wayfare.messages import user
from wayfare.notes.keeper import NAME, Keeper
from wayfare.notes.template import HEADINGS, parsed
from wayfare.providers.script import Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.testing import FaultyDisk
from wayfare.transcript import UsageEntry

pytestmark = pytest.mark.anyio
REPLY = "# Current State\nparsing dates\n# Learnings\n- the tests import parse_date"
FOLDER = Path("/w/.transcripts/s")


class Kept:
    """A session with a keeper over a disk in memory."""

    def __init__(self, *script: Turn, always: Turn | None = None, code_alone: bool = False) -> None:
        self.session = Governed(window_tokens=100_000)
        self.disk = FaultyDisk(clock=MovableClock())
        self.disk.make_folder(Path("/w"))
        self.model = ScriptedModel(script, always=always)
        self.waiting: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._code_alone = code_alone

    async def open(self, *, background: bool = False) -> Kept:
        await self.session.open()
        docs = FileDocs(
            FOLDER,
            inside=Path("/w"),
            lock_path=FOLDER / ".notes.lock",
            disk=self.disk,
            clock=self.session.clock,
        )
        self.keeper = Keeper(
            governor=self.session.governor,
            docs=docs,
            address=".transcripts/s/notes.md",
            model=None if self._code_alone else self.model,
            watch=self.session.events.append,
            start=self.waiting.append if background else None,
        )
        return self

    def text(self) -> str:
        path = FOLDER / f"{NAME}.md"
        try:
            return self.disk.read(path).decode()
        except FileNotFoundError:
            return ""


async def test_notes_begin_at_ten_thousand_tokens_and_have_all_headings() -> None:
    kept = await Kept(REPLY).open()
    await kept.session.steps(range(4))
    await kept.keeper.before_call()
    assert kept.text() == ""
    await kept.session.steps(range(4, 30))
    await kept.keeper.before_call()
    assert tuple(parsed(kept.text())) == HEADINGS
    assert "parsing dates" in kept.text()
    assert '"Port the date parser' in parsed(kept.text())["Task specification"]


async def test_updates_wait_for_tokens_and_for_calls_or_a_pause() -> None:
    kept = await Kept(always=REPLY).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    assert len(kept.model.requests) == 1
    await kept.session.steps(range(30, 32))
    await kept.keeper.before_call()
    assert len(kept.model.requests) == 1
    await kept.session.governor.add([user("word " * 6_000)])
    await kept.keeper.before_call()
    assert len(kept.model.requests) == 1
    await kept.keeper.after_turn()
    assert len(kept.model.requests) == 2
    sent = kept.model.requests[1].messages[0].text
    assert "src/f31.py" in sent
    assert "reading src/f3.py" not in sent


async def test_within_a_turn_an_update_waits_for_half_the_limit() -> None:
    kept = await Kept(always=REPLY).open()
    half = kept.session.governor.budget.limit_tokens // 2
    began = last = 0
    for step in range(0, 400, 2):
        await kept.session.steps(range(step, step + 2))
        before = len(kept.model.requests)
        await kept.keeper.before_call()
        if len(kept.model.requests) == before:
            continue
        now = kept.session.governor.tokens
        if before:
            assert half <= now - last <= half + 2_000
        began, last = began + 1, now
    assert began >= 3


async def test_an_update_never_blocks_and_there_are_never_two() -> None:
    kept = await Kept(always=REPLY).open(background=True)
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    await kept.session.steps(range(30, 60))
    await kept.keeper.after_turn()
    assert len(kept.waiting) == 1
    assert kept.text() == ""
    await kept.waiting.pop()()
    assert "parsing dates" in kept.text()
    await kept.session.steps(range(60, 90))
    await kept.keeper.after_turn()
    assert len(kept.waiting) == 1


@pytest.mark.parametrize("bad", ["", "no headings here", ModelUnreachable("no route")])
async def test_a_bad_reply_leaves_what_a_model_wrote(bad: Turn) -> None:
    kept = await Kept(REPLY, always=bad).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    await kept.session.steps(range(30, 60))
    await kept.keeper.before_call()
    assert "the tests import parse_date" in kept.text()
    found = await kept.keeper.now()
    assert found is not None
    assert found.covers_entry <= 62


async def test_without_a_model_code_keeps_them_and_they_cover_nothing() -> None:
    kept = await Kept(code_alone=True).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    found = await kept.keeper.now()
    assert found is not None
    assert found.covers_entry == 0
    assert "f29.py" in found.text


async def test_a_full_disk_leaves_the_old_notes_and_says_so() -> None:
    kept = await Kept(always=REPLY).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    before = kept.text()
    kept.disk.inject("full", times=0)
    await kept.session.steps(range(30, 60))
    await kept.keeper.after_turn()
    kept.disk.heal()
    assert kept.text() == before
    assert kept.session.told("notes.failed")


async def test_secrets_never_reach_the_file() -> None:
    key = "ghp_" + "a1B2" * 9
    kept = await Kept(f"# Current State\nlogged in with {key}").open()
    await kept.session.governor.add([user(f"use the token {key} " + "word " * 12_000)])
    await kept.keeper.before_call()
    assert "logged in with [secret: github token]" in kept.text()
    assert key not in kept.text()
    assert key not in kept.model.requests[0].messages[0].text


async def test_a_stale_current_state_says_what_was_done_last() -> None:
    kept = await Kept("# Learnings\n- one").open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    assert "last file read: src/f29.py" in parsed(kept.text())["Current State"]


async def test_usage_is_in_the_log_once_the_loop_comes_by() -> None:
    kept = await Kept(REPLY).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    await kept.keeper.aclose()
    used = [e async for e in kept.session.transcript.entries() if isinstance(e, UsageEntry)]
    assert [e.purpose for e in used] == ["notes"]


async def test_fresh_notes_replace_what_they_cover_without_a_model_call() -> None:
    kept = await Kept(REPLY).open()
    session = kept.session
    await session.steps(range(130))
    await kept.keeper.before_call()
    await session.steps(range(130, 170))
    summarizer = session.summarizer(notes=kept.keeper.now)
    edits = await summarizer(session.governor, trigger="auto")
    assert [edit.by for edit in edits] == ["notes"]
    assert session.model is not None
    assert session.model.requests == []
    shown = "\n".join(session.texts)
    assert "the tests import parse_date" in shown
    assert "reading src/f129.py" not in shown
    assert "reading src/f130.py" in shown
    assert "Port the date parser" in shown


async def test_notes_that_cover_too_little_are_not_used() -> None:
    kept = await Kept(REPLY).open()
    session = kept.session
    await session.steps(range(3))
    await kept.keeper.update()
    await session.steps(range(3, 170))
    summarizer = session.summarizer(notes=kept.keeper.now, always="nothing")
    edits = await summarizer(session.governor, trigger="auto")
    assert "notes" not in [edit.by for edit in edits]


class CountedReads:
    """A transcript that notes from where and up to where it was read."""

    def __init__(self, transcript: Any) -> None:
        self._transcript = transcript
        self.first: list[int] = []
        self.last: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transcript, name)

    def entries(self, first: int = 1, last: int | None = None) -> Any:
        self.first.append(first)
        self.last.append(last or 0)
        return self._transcript.entries(first, last)


async def test_an_update_reads_only_what_no_notes_were_written_of() -> None:
    kept = await Kept(always=REPLY).open()
    reads = kept.session.governor.transcript = CountedReads(kept.session.transcript)  # type: ignore[assignment]
    for begin in range(0, 120, 30):
        await kept.session.steps(range(begin, begin + 30))
        await kept.keeper.after_turn()
    assert len(kept.model.requests) == 4
    # Each update also notes its usage, an entry of its own.
    assert reads.first == [1, 63, 124, 185]


async def test_updates_that_fail_become_rarer_and_read_what_one_request_can_hold() -> None:
    kept = Kept(always="no headings here")
    kept.model = ScriptedModel(always="no headings here", window_tokens=12_000)
    await kept.open()
    reads = kept.session.governor.transcript = CountedReads(kept.session.transcript)  # type: ignore[assignment]
    asked_at: list[int] = []
    for step in range(0, 300, 5):
        await kept.session.steps(range(step, step + 5))
        before = len(kept.model.requests)
        await kept.keeper.after_turn()
        if len(kept.model.requests) > before:
            asked_at.append(step)
    gaps = [later - earlier for earlier, later in zip(asked_at, asked_at[1:], strict=False)]
    assert len(gaps) >= 3
    assert gaps[1] > 1.5 * gaps[0]
    assert reads.first[0] == 1
    # All that was said since then is 500 entries and more.
    assert max(b - a for a, b in zip(reads.first, reads.last, strict=True)) < 130
    last = kept.model.requests[-1].messages[0].text
    assert f"reading src/f{asked_at[-1]}.py" in last
