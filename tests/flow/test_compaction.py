"""Compaction in whole sessions: at the limit, on request, after a refusal; hooks, restore, undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.flow.opened import Watching, answers, asked
from tests.unit.context.governed_session import good_summary

from wayfare import tool
from wayfare.agent.hooks import Hook
from wayfare.context.compacted import prose_of
from wayfare.errors import ModelUnreachable, PromptTooLong
from wayfare.messages import Message
from wayfare.providers.retry import Retrying
from wayfare.providers.script import Scripted, Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.providers.waiting import sleep_on
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio
RULE = "Port the date parser; never touch the vendor folder."


@tool(read_only=True, kind="read")
async def read_file(path: str) -> str:
    """Read a file."""
    return f"content of {path}\n" + "word " * 400


def reads(count: int, start: int = 0) -> list[Turn]:
    return [
        Scripted(text=f"reading {n}", calls=(asked("read_file", f"c{n}", path=f"src/f{n}.py"),))
        for n in range(start, start + count)
    ]


def summarizer(*script: Turn, always: Turn | None = None) -> ScriptedModel:
    default = good_summary() if not script and always is None else always
    return ScriptedModel(
        script, always=default, window_tokens=8_000, max_output_tokens=2_000, refuses=True
    )


def small(tmp_path: Path, script: list[Turn]) -> Watching:
    return Watching(
        tmp_path,
        script,
        model={"window_tokens": 8_000, "max_output_tokens": 1_000, "refuses": True},
    )


async def test_a_tool_loop_goes_on_over_its_limit_with_summaries(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(40), "done"])
    side = summarizer()
    async with watching.open(tools=[read_file], side_model=side) as session:
        ended = await session.run(RULE)
    assert ended.how == "done"
    done = watching.told("compaction.done")
    assert len(done) >= 2
    assert {event.fields["trigger"] for event in done} == {"auto"}
    assert {event.fields["by"] for event in done} <= {"summary", "notes"}
    assert not watching.told("model.refused")
    for event in done:
        assert event.fields["after_tokens"] < event.fields["before_tokens"]
        assert event.fields["cost"] >= 0
    for request in watching.model.requests:
        assert RULE in "\n".join(m.text for m in request.messages)


async def test_without_a_summary_model_the_same_loop_goes_on_with_digests(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(40), "done"])
    unreachable = summarizer(always=ModelUnreachable("no route"))
    side = Retrying(unreachable, clock=watching.clock, sleep=sleep_on(watching.clock))
    async with watching.open(tools=[read_file], side_model=side) as session:
        ended = await session.run(RULE)
        edits = [e async for e in session.governor.transcript.entries() if isinstance(e, EditEntry)]
    assert ended.how == "done"
    assert "digest" in {e.by for e in edits}
    assert "summary" not in {e.by for e in edits}
    assert not watching.told("model.refused")


async def test_the_first_request_after_it_holds_the_live_state(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/f3.py").write_text("LIVE = 'from disk'\n")
    watching = small(tmp_path, [*reads(4), "ok", "after"])
    side = summarizer()
    async with watching.open(tools=[read_file], side_model=side) as session:
        await session.run(RULE)
        (tmp_path / "AGENTS.md").write_text("Use tabs, as of now.")
        assert await session.compact()
        await session.run("go on")
    shown = "\n".join(m.text for m in watching.model.requests[-1].messages)
    assert "LIVE = 'from disk'" in shown
    assert "Permission mode: full" in shown
    assert "Use tabs, as of now." in shown
    assert "Sub-agents" not in shown
    assert "Commands in the background" not in shown


async def test_hooks_stop_it_or_add_focus_and_see_what_came_of_it(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def before(payload: Any) -> Any:
        seen.append(dict(payload))
        if payload["custom_instructions"] == "stop":
            return {"decision": "block", "reason": "not now"}
        return {"hookSpecificOutput": {"additionalContext": "mind the parser"}}

    def after(payload: Any) -> None:
        seen.append(dict(payload))

    hooks = [Hook(event="PreCompact", run=before), Hook(event="PostCompact", run=after)]
    watching = small(tmp_path, [*reads(5), "ok"])
    side = summarizer()
    async with watching.open(tools=[read_file], side_model=side, hooks=hooks) as session:
        await session.run(RULE)
        before_it = session.messages
        assert await session.compact("stop") == ()
        assert session.messages == before_it
        assert await session.compact("the tests")
    assert "the tests\nmind the parser" in side.requests[-1].messages[0].text
    assert [p["trigger"] for p in seen] == ["manual"] * 3
    assert "## Decisions" in seen[-1]["summary"]


async def test_a_failed_summary_on_request_leaves_every_message(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "ok", "still here"])
    async with watching.open(tools=[read_file], side_model=summarizer(always="no")) as session:
        await session.run(RULE)
        before = session.messages
        assert await session.compact() == ()
        assert session.messages == before
        assert (await session.run("go on")).text == "still here"
    assert watching.told("compaction.failed")


async def test_a_refused_request_is_summarized_and_sent_smaller(tmp_path: Path) -> None:
    refusal = PromptTooLong("prompt is too long", limit_tokens=None)
    watching = Watching(tmp_path, [*reads(8), refusal, "done"])
    side = summarizer()
    async with watching.open(tools=[read_file], side_model=side) as session:
        ended = await session.run(RULE)
        shown = "\n".join(m.text for m in session.messages)
    assert ended.how == "done"
    assert shown.count("[Reactive compact]") == 1
    assert "## Decisions" in shown
    refused, sent = watching.model.requests[-2:]
    assert sum(len(m.text) for m in sent.messages) < sum(
        len(m.text) + sum(len(r.text) for r in m.results) for m in refused.messages
    )
    assert watching.told("context.rung")[0].fields["rung"] == "reactive compaction"


async def test_undo_gives_the_request_before_across_compactions(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "one", *reads(5, 5), "two"])
    requests: list[tuple[Message, ...]] = []
    async with watching.open(tools=[read_file], side_model=summarizer()) as session:
        for task in (RULE, "and the next five"):
            await session.run(task)
            requests.append(session.messages)
            assert await session.compact()
        await session.undo()
        assert session.messages == requests[1]
        await session.undo()
        assert session.messages[: len(requests[0])] == requests[0]


async def test_a_compaction_while_tools_run_waits_for_their_results(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "ok"])
    async with watching.open(tools=[read_file], side_model=summarizer()) as session:

        @tool
        async def typed() -> str:
            """What a person typed while a tool ran."""
            assert await session.compact("now") == ()
            return "typed"

        session.add_tools(typed)
        watching.model._script[5:] = [asked("typed", "t1"), "ok"]  # pyright: ignore
        await session.run(RULE)
        given = answers(session.messages)
        shown = "\n".join(m.text for m in session.messages)
    assert ("t1", "typed", False) in given
    assert "[Compacted]" in shown


async def test_a_resumed_session_goes_on_from_its_summary(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(5), "ok"])
    async with watching.open(tools=[read_file], side_model=summarizer()) as session:
        await session.run(RULE)
        await session.compact()
        name, before = session.name, session.messages
    again = small(tmp_path, ["on"])
    async with again.open(session=name, tools=[read_file], side_model=summarizer()) as session:
        assert session.messages == before
        assert [prose_of(m) for m in session.messages if prose_of(m)]
        await session.run("go on")


async def test_notes_are_kept_beside_a_session_and_made_by_code_alone(tmp_path: Path) -> None:
    watching = small(tmp_path, [*reads(12), "done"])
    async with watching.open(tools=[read_file]) as session:
        await session.run(RULE)
        folder = session.places.folder(session.name)
    text = (folder / "notes.md").read_text()
    assert "# Errors & Corrections" in text
    assert "src/f11.py" in text
    assert RULE in text
    assert oct((folder / "notes.md").stat().st_mode)[-3:] == "600"
