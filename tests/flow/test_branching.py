"""Branches, undo and preview over several compactions: the earlier request, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.flow.test_compaction import RULE, read_file, reads, small, summarizer

from wayfare import json_text
from wayfare.errors import NotFound
from wayfare.formats import codec
from wayfare.messages import Message
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio
TASKS = (RULE, "and the next five", "and five more")


def wire(messages: tuple[Message, ...]) -> bytes:
    """What goes out."""
    return json_text.dumps(codec("anthropic").encode(messages))


async def compacted_thrice(tmp_path: Path) -> tuple[str, list[bytes], list[int]]:
    """A session, its requests just before each compaction, the entry each of these began with."""
    script = [turn for at in range(3) for turn in (*reads(5, at * 5), "part done")]
    requests: list[bytes] = []
    async with small(tmp_path, script).open(tools=[read_file], side_model=summarizer()) as session:
        for task in TASKS:
            await session.run(task)
            requests.append(wire(session.messages))
            assert await session.compact()
        entries = [e async for e in session.governor.transcript.entries()]
        batches = [e.batch for e in entries if isinstance(e, EditEntry) and e.by == "summary"]
        return session.name, requests, batches


async def test_a_branch_from_before_any_compaction_shows_the_request_of_then(
    tmp_path: Path,
) -> None:
    name, requests, batches = await compacted_thrice(tmp_path)
    for request, before in zip(requests, batches, strict=True):
        async with small(tmp_path, []).open(session=name, tools=[read_file]) as session:
            branch = await session.branch(before)
        watching = small(tmp_path, ["another way"])
        async with watching.open(session=branch, tools=[read_file]) as session:
            shown = wire(session.messages).replace(branch.encode(), name.encode())
            assert shown == request
            earlier = session.messages
            await session.run("try it another way")
        (sent,) = watching.model.requests
        assert sent.messages[:-1] == earlier
        assert sent.messages[-1].text == "try it another way"
    async with small(tmp_path, []).open(session=name, tools=[read_file]) as session:
        assert "## Decisions" in wire(session.messages).decode(), "the first session is as it was"


async def test_a_branch_is_taken_from_before_the_newest_compaction_by_itself(
    tmp_path: Path,
) -> None:
    name, requests, _ = await compacted_thrice(tmp_path)
    async with small(tmp_path, []).open(session=name, tools=[read_file]) as session:
        branch = await session.branch()
        with pytest.raises(NotFound, match="no entry"):
            await session.branch(9_999)
    async with small(tmp_path, []).open(session=branch, tools=[read_file]) as session:
        assert wire(session.messages).replace(branch.encode(), name.encode()) == requests[-1]


async def test_a_session_without_compaction_has_nothing_to_branch_from(tmp_path: Path) -> None:
    async with small(tmp_path, ["done"]).open(tools=[read_file]) as session:
        await session.run(RULE)
        with pytest.raises(NotFound, match="no compaction"):
            await session.branch()


async def test_preview_changes_nothing_and_undo_goes_back_request_by_request(
    tmp_path: Path,
) -> None:
    name, requests, _ = await compacted_thrice(tmp_path)
    async with small(tmp_path, []).open(session=name, tools=[read_file]) as session:
        for request in reversed(requests):
            shown = wire(session.messages)
            entries = session.governor.transcript.last_id
            told = session.governor.preview()
            assert told["after_tokens"] <= told["before_tokens"]
            assert wire(session.messages) == shown
            assert session.governor.transcript.last_id == entries
            await session.undo()
            # What was said after a compaction stays behind what it took back.
            assert wire(session.messages).startswith(request[:-1])
        with pytest.raises(NotFound):
            await session.undo()
