"""Undo, preview and branches over compactions by summary, notes and digest, with live state put
back, give the earlier request byte for byte, in every wire format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.flow.opened import Watching
from tests.flow.test_compaction import RULE, read_file, reads
from tests.unit.context.governed_session import good_summary

from wayfare import json_text
from wayfare.context.passes.notes import Notes
from wayfare.context.summarizer import Summarizer
from wayfare.errors import NotFound
from wayfare.formats import codec
from wayfare.providers.scripted import ScriptedModel
from wayfare.session.session import Session
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio

FORMATS = ("anthropic", "openai-chat", "openai-responses")
KINDS = ("summary", "notes", "digest", "notes", "summary")
BY = {"summary": "summary", "notes": "notes", "digest": "reactive"}
NOTES = "# Current State\nfiles are read\n# Errors & Corrections\nE42 until the lock file went"


def watching(tmp_path: Path, script: Any, format: str) -> Watching:
    model = {"window_tokens": 8_000, "max_output_tokens": 1_000, "format": format}
    return Watching(tmp_path, script, model=model)


def summaries(format: str) -> ScriptedModel:
    return ScriptedModel(
        always=good_summary(), window_tokens=8_000, max_output_tokens=2_000, format=format
    )


def wire(session: Session, format: str) -> bytes:
    """What would go out now."""
    return json_text.dumps(codec(format).encode(session.messages))


async def compacted_as(session: Session, kind: str, format: str) -> None:
    """One compaction of a kind; the next call would make no other."""
    compactor = session.kit.compactor
    assert isinstance(compactor, Summarizer)
    governor = session.governor

    async def now() -> Notes | None:
        if kind != "notes":
            return None
        tokens = governor.meter.text(NOTES)
        return Notes(text=NOTES, tokens=tokens, covers_entry=governor.transcript.last_id)

    compactor.notes = now
    compactor.model = None if kind == "digest" else summaries(format)
    trigger = {"summary": "manual", "notes": "auto", "digest": "reactive"}[kind]
    edits = await compactor(governor, trigger=trigger)
    assert BY[kind] in {edit.by for edit in edits}


async def requests_of(
    session: Session, tmp_path: Path, format: str
) -> tuple[list[bytes], list[bytes], list[int]]:
    """Requests before and after every compaction, and the entry each began with."""
    before: list[bytes] = []
    after: list[bytes] = []
    for number, kind in enumerate(KINDS):
        await session.run(f"{RULE} Part {number}.")
        (tmp_path / "src" / f"f{number * 6 + 5}.py").write_text(f"LIVE = {number}\n")
        before.append(wire(session, format))
        await compacted_as(session, kind, format)
        after.append(wire(session, format))
    entries = [e async for e in session.governor.transcript.entries()]
    by = set(BY.values())
    return before, after, [e.batch for e in entries if isinstance(e, EditEntry) and e.by in by]


def opened(tmp_path: Path, format: str, script: Any, **options: Any) -> Any:
    return watching(tmp_path, script, format).open(
        tools=[read_file], side_model=summaries(format), **options
    )


def script() -> list[Any]:
    return [turn for at in range(len(KINDS)) for turn in (*reads(6, at * 6), "part done")]


@pytest.mark.parametrize("format", FORMATS)
async def test_undo_right_after_gives_the_same_bytes_and_again_the_same_compaction(
    format: str, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    async with opened(tmp_path, format, script()) as session:
        for number, kind in enumerate(KINDS):
            await session.run(f"{RULE} Part {number}.")
            (tmp_path / "src" / f"f{number * 6 + 5}.py").write_text(f"LIVE = {number}\n")
            before = wire(session, format)
            made: list[bytes] = []
            for _ in range(2):
                await compacted_as(session, kind, format)
                made.append(wire(session, format))
                await session.undo()
                assert wire(session, format) == before
            assert made[0] == made[1] != before
            await compacted_as(session, kind, format)
            assert wire(session, format) == made[0]
            assert b"LIVE = " in made[0]


@pytest.mark.parametrize("format", FORMATS)
async def test_undo_goes_back_through_all_of_them_also_in_another_process(
    format: str, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    async with opened(tmp_path, format, script()) as session:
        before, after, _ = await requests_of(session, tmp_path, format)
        name = session.name
    for number in reversed(range(len(KINDS))):
        async with opened(tmp_path, format, [], session=name) as session:
            shown, last = wire(session, format), session.governor.transcript.last_id
            if number == len(KINDS) - 1:
                assert shown == after[-1]
            told = session.governor.preview()
            assert told["after_tokens"] <= told["before_tokens"]
            assert (wire(session, format), session.governor.transcript.last_id) == (shown, last)
            await session.undo()
            # What was said after a compaction stays behind what is back before it.
            assert wire(session, format).startswith(before[number][:-1])
            held = session.messages
        async with opened(tmp_path, format, [], session=name) as session:
            assert session.messages == held
    async with opened(tmp_path, format, [], session=name) as session:
        with pytest.raises(NotFound):
            await session.undo()
        shown = "\n".join(m.text for m in session.messages)
    assert "[Compacted]" not in shown
    assert "LIVE" not in shown


@pytest.mark.parametrize("format", FORMATS)
async def test_a_branch_from_before_each_of_them_shows_the_request_of_then(
    format: str, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    async with opened(tmp_path, format, script()) as session:
        before, after, batches = await requests_of(session, tmp_path, format)
        name = session.name
    assert len(batches) == len(KINDS)
    for request, batch in zip(before, batches, strict=True):
        async with opened(tmp_path, format, [], session=name) as session:
            branch = await session.branch(batch)
            assert wire(session, format) == after[-1], "the first session is as it was"
        async with opened(tmp_path, format, ["another way"], session=branch) as session:
            assert wire(session, format).replace(branch.encode(), name.encode()) == request
            assert (await session.run("try it another way")).text == "another way"
