"""The sub-agent of the notes: its one tool, what it may not do, models without tools."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.notes.test_keeper import REPLY, Kept

from wayfare.errors import ModelRefused, PromptTooLong
from wayfare.messages import ToolCall
from wayfare.notes.editing import EDIT, STEPS
from wayfare.notes.template import HEADINGS, parsed
from wayfare.providers.script import Scripted, Turn
from wayfare.transcript import UsageEntry

pytestmark = pytest.mark.anyio


def edit(id: str, section: Any, text: Any) -> ToolCall:
    return ToolCall(id=id, name="edit_notes", input={"section": section, "text": text})


async def kept_after(*script: Turn, always: Turn | None = None) -> Kept:
    kept = await Kept(*script, always=always).open()
    await kept.session.steps(range(30))
    await kept.keeper.before_call()
    return kept


async def test_it_has_one_tool_and_its_edits_are_the_notes() -> None:
    edits = (edit("e1", "Current State", "half way"), edit("e2", "Learnings", "- cache it"))
    kept = await kept_after(Scripted(calls=edits), "done")
    first, second = kept.model.requests
    assert first.tools == (EDIT,)
    assert [r.is_error for r in second.messages[-1].results] == [False, False]
    assert parsed(kept.text())["Current State"] == "half way"
    assert "- cache it" in parsed(kept.text())["Learnings"]
    found = await kept.keeper.now()
    assert found is not None
    assert found.covers_entry == kept.session.governor.view[-1].entry


async def test_a_wrong_edit_is_said_to_it_and_changes_nothing() -> None:
    wrong = (
        edit("e1", "Secrets", "x"),
        edit("e2", "Workflow", ""),
        edit("e3", "Workflow", 7),
        ToolCall(id="e4", name="bash", input={"command": "rm -rf /"}),
    )
    right = edit("e5", "workflow", "make test")
    kept = await kept_after(Scripted(calls=wrong), Scripted(calls=(right,)), "done")
    answers = kept.model.requests[1].messages[-1].results
    assert [r.is_error for r in answers] == [True] * 4
    assert "edit_notes alone" in answers[3].text
    assert parsed(kept.text())["Workflow"] == "make test"


async def test_no_text_of_an_edit_breaks_the_headings() -> None:
    text = "fine\n# Worklog\nsmuggled\n## current state"
    kept = await kept_after(Scripted(calls=(edit("e1", "Learnings", text),)), "done")
    assert tuple(parsed(kept.text())) == HEADINGS
    assert parsed(kept.text())["Learnings"] == "fine\nsmuggled"


async def test_one_that_never_ends_is_stopped_and_what_it_wrote_stays() -> None:
    again = Scripted(calls=(edit("e", "Current State", "still at it"),))
    kept = await kept_after(always=again)
    assert 1 < len(kept.model.requests) <= STEPS
    assert parsed(kept.text())["Current State"] == "still at it"


async def test_a_provider_that_takes_no_tools_is_asked_without_them() -> None:
    kept = await kept_after(ModelRefused("tools are not supported"), REPLY)
    assert [len(r.tools) for r in kept.model.requests] == [1, 0]
    assert "parsing dates" in kept.text()


async def test_every_call_of_an_update_is_in_the_log() -> None:
    edits = Scripted(calls=(edit("e1", "Current State", "half way"),))
    kept = await kept_after(edits, "done")
    await kept.keeper.aclose()
    entries = [e async for e in kept.session.transcript.entries()]
    assert [e.purpose for e in entries if isinstance(e, UsageEntry)] == ["notes", "notes"]


async def test_a_refused_update_makes_the_next_one_smaller() -> None:
    kept = await kept_after(PromptTooLong("too long", limit_tokens=6_000), REPLY)
    assert kept.session.told("notes.failed")
    await kept.session.steps(range(30, 60))
    await kept.keeper.before_call()
    first, second = (len(request.messages[0].text) for request in kept.model.requests)
    assert second < first
    assert "parsing dates" in kept.text()
