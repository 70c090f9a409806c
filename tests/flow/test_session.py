"""Sessions: compaction, refusals, sub-agents, resuming, other models, many at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.flow.opened import Watching, answers, asked

from wayfare import Agent, Session, ToolContext, tool
from wayfare.agent.builtin import builtin_tools
from wayfare.agent.hooks import Hook
from wayfare.backends import OsDisk
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.invariants import violations
from wayfare.errors import CannotFit, ModelRateLimited, NotFound, OutputTooLarge, PromptTooLong
from wayfare.messages import assistant, user
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import Places, read_address, session_names
from wayfare.session.memory_wanted import MemoryWanted
from wayfare.testing.read_only_disk import ReadOnlyDisk
from wayfare.transcript import EditEntry

pytestmark = pytest.mark.anyio
LONG = "a line of some length that says little\n" * 200


@tool(read_only=True, kind="read")
async def look(path: str) -> str:
    """Look at a path."""
    return f"{path}: {LONG}"


@tool
async def compact(focus: str = "", *, context: ToolContext) -> str:
    """Compact the context after this batch."""
    context.compaction.ask(focus)
    return "it will be compacted"


def reading(steps: int) -> list[Any]:
    """A script that reads so many paths, one a step."""
    return [asked("look", f"c{n}", path=f"src/part{n}.py") for n in range(steps)]


async def test_the_model_may_ask_for_a_compaction_and_every_call_has_its_result(
    tmp_path: Path,
) -> None:
    batch = [asked("compact", "k", focus="the parser"), asked("look", "l", path="late.py")]
    watching = Watching(tmp_path, [*reading(12), batch, "went on"])
    seen: list[Any] = []

    async def before(payload: Any) -> None:
        seen.append((payload["hook_event_name"], payload["custom_instructions"]))

    async def after(payload: Any) -> None:
        seen.append((payload["hook_event_name"], payload["summary"][:11]))

    hooks = [Hook(event="PreCompact", run=before), Hook(event="PostCompact", run=after)]
    async with watching.open(tools=[look, compact], hooks=hooks) as session:
        ended = await session.run("read all of it")
        assert ended.text == "went on"
        request = watching.model.requests[-1]
        found = answers(request.messages)
        assert [id for id, _, _ in found][-2:] == ["k", "l"]
        text = "\n".join(m.text for m in request.messages)
        assert "[Compacted]" in text
        assert "read all of it" in text
        assert len(request.messages) < 10
        assert not violations(session.governor.view)
        undone = await session.undo()
        assert undone.undoes
        assert len(session.messages) > 25
    assert seen == [("PreCompact", "the parser"), ("PostCompact", "[Compacted]")]


async def test_a_hook_may_stop_a_compaction(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [*reading(12), "done"])
    hook = Hook(event="PreCompact", run=lambda payload: {"decision": "block", "reason": "not now"})
    async with watching.open(tools=[look], hooks=[hook]) as session:
        await session.run("go")
        before = session.messages
        assert await session.compact() == ()
        assert session.messages == before
    assert "not now" in watching.told("compaction.stopped")[0].text


async def test_a_compaction_with_nothing_to_gain_says_so(tmp_path: Path) -> None:
    watching = Watching(tmp_path, ["hello"])
    async with watching.open() as session:
        await session.run("hi")
        assert await session.compact() == ()
    assert watching.told("compaction.nothing")


async def test_a_refused_request_is_shrunk_and_the_window_it_named_is_remembered(
    tmp_path: Path,
) -> None:
    model: dict[str, Any] = {"window_tokens": 9_000, "max_output_tokens": 1_000, "refuses": True}
    watching = Watching(tmp_path, [*reading(20), "done"], model=model)
    # We believe in a window of 200,000; the model knows better.
    budget = Budget.window(200_000, max_output_tokens=1_000)
    async with watching.open(tools=[look], budget=budget) as session:
        ended = await session.run("read everything")
        assert ended.how == "done"
        assert session.governor.budget.window_tokens == 9_000
        name = session.name
    rungs = [e.fields["rung"] for e in watching.told("context.rung")]
    assert rungs[0] == "reactive compaction"
    # Once the window is known, the governor keeps within it by itself.
    assert len(rungs) <= 2
    again = Watching(tmp_path, ["still here"], model=model)
    async with again.open(tools=[look], budget=budget, session=name) as session:
        assert session.governor.budget.window_tokens == 9_000
        assert (await session.run("go on")).text == "still here"
    assert not again.told("context.rung")


async def test_a_model_that_refuses_everything_ends_in_one_error_with_the_shares(
    tmp_path: Path,
) -> None:
    refusal = PromptTooLong("too long")
    watching = Watching(tmp_path, reading(10), model={"always": refusal})
    async with watching.open(tools=[look], role="You are an agent. " * 50) as session:
        with pytest.raises(CannotFit) as caught:
            await session.run("go")
        assert len(watching.model.requests) <= 10 + session.governor.budget.sends_a_call
        sent = watching.model.requests[10:]
        sizes = [
            sum(len(m.text) + sum(len(r.text) for r in m.results) for m in r.messages) for r in sent
        ]
        assert sizes == sorted(sizes, reverse=True)
        assert len(set(sizes)) == len(sizes)
        assert set(caught.value.by_part) >= {"system prompt", "tools", "newest message"}
        assert sum(caught.value.by_part.values()) == pytest.approx(session.governor.tokens, rel=0.1)
        assert not violations(session.governor.view)
        watching.model.extend(["well again"])


async def test_too_much_output_is_asked_for_less_and_nothing_is_compacted(tmp_path: Path) -> None:
    script = [OutputTooLarge("max_tokens: 16384 > 4096", output_limit_tokens=4_096), "ok", "ok"]
    watching = Watching(tmp_path, script)
    async with watching.open() as session:
        await session.run("go")
        await session.run("again")
        assert not [
            e async for e in session.governor.transcript.entries() if isinstance(e, EditEntry)
        ]
    assert [r.max_output_tokens for r in watching.model.requests] == [16_384, 4_096, 4_096]


async def test_output_that_does_not_fit_beside_this_input_is_lowered_for_this_call(
    tmp_path: Path,
) -> None:
    error = OutputTooLarge(
        "190,000 + 16,384 > 200,000", output_limit_tokens=9_000, sent_tokens=190_000,
        limit_tokens=200_000,
    )  # fmt: skip
    watching = Watching(tmp_path, [error, "ok", "ok"])
    async with watching.open() as session:
        await session.run("go")
        await session.run("again")
    assert [r.max_output_tokens for r in watching.model.requests] == [16_384, 9_000, 16_384]


async def test_a_rate_limit_is_waited_for_without_touching_the_context(tmp_path: Path) -> None:
    script = [ModelRateLimited("slow down", retry_after_seconds=7.0), "ok"]
    watching = Watching(tmp_path, script)
    async with watching.open() as session:
        began = watching.clock.now()
        assert (await session.run("go")).text == "ok"
    assert watching.clock.now() - began >= 7
    first, second = watching.model.requests
    assert first.messages == second.messages


async def test_a_sub_agent_has_a_log_of_its_own_and_reports(tmp_path: Path) -> None:
    @tool(name="task")
    async def reporting(prompt: str, *, context: ToolContext) -> str:
        """Let a sub-agent work."""
        report = await context.subagents.run(prompt)
        return f"{report.ended}: {report.text} (see {report.transcript})"

    script = [
        asked("task", prompt="count the files"),
        asked("look", "s1", path="files"),
        "there are three",
        "three, it says",
    ]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=[look, reporting]) as session:
        ended = await session.run("how many?")
        assert ended.text == "three, it says"
        ((_, said, _),) = answers(session.messages)
        assert said.startswith("done: there are three")
        address = said.partition("see ")[2].rstrip(")")
        assert session.totals.calls == 4
        name = session.name
    inner = watching.model.requests[1]
    assert "count the files" in inner.messages[0].text
    assert [spec.name for spec in inner.tools] == ["look"]
    places = Places(workspace=tmp_path)
    assert b"files: a line" in await read_address(places, f"{address}#4")
    assert session_names(places) == [name]


@tool
async def task(prompt: str, *, context: ToolContext) -> str:
    """Let a sub-agent work."""
    return (await context.subagents.run(prompt)).text


async def test_a_sub_agent_has_the_model_and_the_tools_of_now(tmp_path: Path) -> None:
    watching = Watching(tmp_path, ["hello"])
    async with watching.open(tools=[task]) as session:
        await session.run("hi")
        replies = [asked("task", prompt="look"), asked("look", path="a"), "looked", "it looked"]
        newer = ScriptedModel(replies, name="newer")
        await session.change_model(newer)
        session.add_tools(look)
        assert (await session.run("again")).text == "it looked"
    assert len(watching.model.requests) == 1
    assert [spec.name for spec in newer.requests[1].tools] == ["look"]
    assert answers(newer.requests[2].messages)[0][2] is False


async def test_a_sub_agent_is_judged_by_the_rules_of_now(tmp_path: Path) -> None:
    done: list[str] = []

    @tool
    async def change(path: str) -> str:
        """Change something; somebody then makes the session read-only."""
        done.append(path)
        session.consent.change_mode("read-only")
        return "changed"

    script = [
        asked("task", prompt="change both"),
        asked("change", "s1", path="a"),
        asked("change", "s2", path="b"),
        "one of them",
        "one of them, it says",
        "yes",
    ]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=[task, change]) as session:
        await session.run("go")
    assert done == ["a"]
    ((_, said, failed),) = answers(watching.model.requests[3].messages)[1:]
    assert failed
    assert said.startswith("denied")


async def test_a_session_cut_off_between_calls_and_results_goes_on_without_running_them_again(
    tmp_path: Path,
) -> None:
    watching = Watching(tmp_path, ["unused"])
    async with watching.open(tools=[look]) as session:
        call = assistant("", asked("look", "x", path="a"), asked("look", "y", path="b"))
        await session.governor.add([user("go"), call])
        name = session.name
    after = Watching(tmp_path, ["on we go"])
    async with after.open(tools=[look], session=name) as session:
        assert session.unfinished == "crashed"
        assert (await session.go_on()).text == "on we go"
    found = answers(after.model.requests[0].messages)
    assert [(id, said[:13], failed) for id, said, failed in found] == [
        ("x", "[interrupted]", True),
        ("y", "[interrupted]", True),
    ]
    assert not after.told("tool.begun")


async def test_eight_sessions_at_once_do_not_mix(tmp_path: Path) -> None:
    async def one(n: int) -> None:
        @tool(read_only=True)
        async def mine(k: int) -> str:
            """Say whose it is."""
            await anyio.lowlevel.checkpoint()
            return f"result {n}/{k} " + LONG

        script = [asked("mine", f"c{k}", k=k) for k in range(6)]
        watching = Watching(tmp_path, [*script, f"answer {n}"], clock=clock)
        async with watching.open(tools=[mine]) as session:
            ended = await session.run(f"question {n}")
            assert ended.text == f"answer {n}"
            texts = [text for _, text, _ in answers(session.messages)]
            assert len(texts) == 6
            own = (f"result {n}/", f"saved at .transcripts/{session.name}/")
            assert all(text.startswith(own[0]) or own[1] in text for text in texts), texts
            assert session.messages[0].text == f"question {n}"
        names.append(session.name)

    names: list[str] = []
    clock = MovableClock()
    async with anyio.create_task_group() as tasks:
        for n in range(8):
            tasks.start_soon(one, n)
    assert sorted(session_names(Places(workspace=tmp_path))) == sorted(set(names))
    assert len(set(names)) == 8


async def test_a_workspace_that_cannot_be_written_goes_on_in_memory(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [asked("look", path="a"), "fine"])
    async with watching.open(tools=[look], disk=ReadOnlyDisk(OsDisk())) as session:
        assert session.how == "unsaved"
        assert (await session.run("go")).text == "fine"
    assert watching.told("session.write_failed")
    assert not list(tmp_path.iterdir())


async def test_a_smaller_model_is_fitted_before_the_switch_or_refused(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [*reading(20), "done"])
    async with watching.open(tools=[look]) as session:
        await session.run("go")
        tiny = ScriptedModel(
            ["tiny says hi"], window_tokens=4_000, max_output_tokens=500, name="tiny"
        )
        await session.change_model(tiny)
        assert session.model.name == "tiny"
        assert (await session.run("hi")).text == "tiny says hi"
        assert len(tiny.requests) == 1


async def test_another_model_keeps_the_numbers_that_were_set(tmp_path: Path) -> None:
    own = {"preview_chars": 321, "keep_steps": 3, "buffer_tokens": 1_234, "limit_chars": 77_000}
    budget = Budget.window(200_000, max_output_tokens=16_384).with_(**own)
    small = ScriptedModel([], window_tokens=50_000, max_output_tokens=2_000, name="small")
    large = ScriptedModel([], window_tokens=400_000, max_output_tokens=30_000, name="large")
    async with Watching(tmp_path, []).open(budget=budget) as session:
        for model, reserve_tokens in ((small, 2_000), (large, 20_000)):
            await session.change_model(model)
            now = session.governor.budget
            assert {name: getattr(now, name) for name in own} == own
            assert now.window_tokens == model.window_tokens
            assert now.reserve_tokens == reserve_tokens


async def test_the_model_is_not_changed_under_a_running_turn(tmp_path: Path) -> None:
    @tool
    async def switch() -> str:
        """Try to change the model."""
        await session.change_model(ScriptedModel([]))
        return "changed"

    watching = Watching(tmp_path, [asked("switch"), "so be it", "so be it"])
    async with watching.open(tools=[switch]) as session:
        await session.run("go")
        ((_, said, is_error),) = answers(session.messages)
    assert is_error
    assert "a turn is under way" in said


async def test_tools_may_join_later(tmp_path: Path) -> None:
    watching = Watching(tmp_path, ["one", asked("look", path="a"), "two"])
    async with watching.open() as session:
        await session.run("a")
        session.add_tools(look)
        await session.run("b")
        assert session.governor.fixed_tokens == sum(session.kit.fixed.values())
    assert [len(r.tools) for r in watching.model.requests] == [0, 1, 1]


@tool(read_only=True, max_result_chars=500)
async def brief(n: int) -> str:
    """Say much, of which little is needed."""
    return f"{n}: " + "many words of a report " * 100


@tool(read_only=True, max_result_chars=90_000)
async def full(n: int) -> str:
    """Say much, all of which is needed."""
    return f"{n}: " + "many words of a report " * 3_000


async def test_a_tool_says_from_where_its_results_are_offloaded(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [[asked("brief", "b", n=1), asked("full", "f", n=2)], "done"])
    async with watching.open(tools=[brief]) as session:
        # One that joins later says so, too.
        session.add_tools(full)
        await session.run("go")
        (_, short, _), (_, whole, _) = answers(session.messages)
        assert session.governor.budget.single_chars < 69_000
    assert len(short) < 1_100
    assert short.count("many words") < 30
    assert whole.count("many words") == 3_000
    saved = short.partition("Full output: ")[2].split()[0]
    text = await read_address(Places(workspace=tmp_path), saved)
    assert text.count(b"many words") == 100


async def test_nothing_to_undo(tmp_path: Path) -> None:
    async with Watching(tmp_path, []).open() as session:
        with pytest.raises(NotFound):
            await session.undo()


async def test_what_tools_keep_is_closed_with_the_session(tmp_path: Path) -> None:
    closed: list[str] = []

    class Processes:
        async def aclose(self) -> None:
            closed.append("processes")

    @tool
    async def start(context: ToolContext) -> str:
        """Start something."""
        context.kept.of(Processes)
        return "started"

    ended: list[str] = []
    hook = Hook(event="SessionEnd", run=lambda payload: ended.append(payload["reason"]))
    watching = Watching(tmp_path, [asked("start"), "ok"])
    async with watching.open(tools=[start], hooks=[hook]) as session:
        await session.run("go")
        assert closed == []
    assert (closed, ended) == (["processes"], ["closed"])


async def test_what_a_hook_says_at_the_start_stands_before_the_model(tmp_path: Path) -> None:
    sources: list[str] = []

    def start(payload: Any) -> Any:
        sources.append(payload["source"])
        return {"additionalContext": "the build is red"}

    hook = Hook(event="SessionStart", run=start)
    watching = Watching(tmp_path, ["I see"])
    async with watching.open(hooks=[hook]) as session:
        await session.run("hi")
        name = session.name
    (request,) = watching.model.requests
    assert [m.text for m in request.messages] == ["the build is red", "hi"]
    async with Watching(tmp_path, []).open(hooks=[hook], session=name):
        pass
    assert sources == ["startup", "resume"]


async def test_an_error_in_the_body_stays_that_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Watching(tmp_path, []).open():
            raise ZeroDivisionError


def test_an_agent_is_three_lines(tmp_path: Path) -> None:
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    model = ScriptedModel([asked("double", n=21), "42", "yes, 42"])
    agent = Agent(model, tools=[double], workspace=tmp_path)
    assert agent.run("what is twice 21?").text == "42"
    assert agent.run("sure?").text == "yes, 42"
    assert answers(model.requests[-1].messages) == [("c1", "42", False)]


def test_public_names_come_when_asked_for() -> None:
    import wayfare

    assert wayfare.Session is Session
    assert set(wayfare.__all__) >= {"Agent", "Session", "Governor", "Budget", "MemoryStore", "tool"}
    for name in wayfare.__all__:
        assert getattr(wayfare, name) is not None
    with pytest.raises(AttributeError, match="Sessoin"):
        _ = wayfare.Sessoin  # pyright: ignore


@pytest.mark.parametrize(
    ("window_tokens", "left_out"),
    [(8_192, ["task", "grep", "glob", "todo_write"]), (32_000, []), (200_000, [])],
)
async def test_a_small_window_is_offered_fewer_tools_and_the_person_is_told(
    window_tokens: int, left_out: list[str], tmp_path: Path
) -> None:
    model = {"window_tokens": window_tokens, "max_output_tokens": 4_096}
    watching = Watching(tmp_path, ["Hello."], model=model)
    memory = MemoryWanted.of(tmp_path, user=str(tmp_path / "user"), asks_model=False)
    async with watching.open(tools=None, role="", memory=memory) as session:
        assert (await session.run("Hi.")).how == "done"
        kit = session.kit
        taken, limit = sum(kit.fixed.values()), session.governor.budget.limit_tokens
    request = next(sent for sent in watching.model.requests if sent.tools)
    offered = {spec.name for spec in request.tools}
    assert {"bash", "read_file", "edit_file", "write_file", "search_history"} < offered
    assert {"task", "grep", "glob", "todo_write"} - offered == set(left_out)
    assert ("task list" in request.system) == ("todo_write" in offered)
    assert taken < limit * 0.65
    told = [event.fields["left_out"] for event in watching.told("context.fixed")]
    assert told == ([left_out] if left_out else [])


async def test_tools_that_somebody_named_are_offered_in_any_window(tmp_path: Path) -> None:
    watching = Watching(tmp_path, ["Hello."], model={"window_tokens": 8_192})
    async with watching.open(tools=builtin_tools()) as session:
        assert set(session.kit.tools) == set(builtin_tools())
