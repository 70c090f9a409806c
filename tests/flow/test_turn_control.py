"""What steers a turn from outside: interruption, queued words, limits, hooks, repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.flow.opened import Watching, answers, asked

from wayfare import tool
from wayfare.agent.consent import Decided, Question
from wayfare.agent.hooks import Hook
from wayfare.agent.limits import Limits
from wayfare.agent.run_tools import INTERRUPTED
from wayfare.context.invariants import violations
from wayfare.messages import Message, Origin, user
from wayfare.model import Usage
from wayfare.providers.script import Scripted
from wayfare.transcript import MarkEntry

pytestmark = pytest.mark.anyio


@tool(read_only=True, kind="read")
async def look(path: str) -> str:
    """Look at a path."""
    return f"saw {path}"


async def test_an_interrupted_batch_keeps_what_it_has_and_answers_the_rest(tmp_path: Path) -> None:
    begun = anyio.Event()
    ended: list[str] = []

    @tool
    async def hang() -> str:
        """Hang until cancelled."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cleaned up")
        return "never"

    batch = [asked("look", "a", path="a"), asked("hang", "b"), asked("look", "c", path="c")]
    watching = Watching(tmp_path, [batch, "going on"])
    async with watching.open(tools=[look, hang]) as session:
        async with anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                await begun.wait()
                session.interrupt()

            tasks.start_soon(interrupt)
            how = (await session.run("go")).how
        found = answers(session.messages)
        assert how == "interrupted"
        assert ended == ["cleaned up"]
        assert found == [("a", "saw a", False), ("b", INTERRUPTED, True), ("c", INTERRUPTED, True)]
        assert not violations(session.governor.view)
        assert (await session.go_on()).text == "going on"
        assert watching.model.requests[-1].messages == session.messages[:-1]


async def test_a_turn_interrupted_while_a_person_is_asked_answers_every_call(
    tmp_path: Path,
) -> None:
    @tool
    async def change(path: str) -> str:
        """Change something."""
        return "changed"

    async def ask(question: Question) -> Decided:
        session.interrupt()
        await anyio.sleep_forever()
        return Decided(allow=True)

    batch = [
        asked("look", "a", path="a"),
        asked("change", "b", path="b"),
        asked("change", "c", path="c"),
    ]
    watching = Watching(tmp_path, [batch, "fine"])
    async with watching.open(tools=[look, change], mode="ask", ask=ask) as session:
        assert (await session.run("go")).how == "interrupted"
        found = [(id, said) for id, said, _ in answers(session.messages)]
        assert found == [("a", "saw a"), ("b", INTERRUPTED), ("c", INTERRUPTED)]
        assert (await session.go_on()).text == "fine"


async def test_an_interrupted_model_call_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    def interrupting(request: Any) -> str:
        session.interrupt()
        return "a reply nobody waits for"

    watching = Watching(tmp_path, [interrupting, "now"])
    async with watching.open() as session:
        ended = await session.run("go")
        assert ended.how == "interrupted"
        assert [m.text for m in session.messages] == ["go"]
        assert (await session.run("again")).text == "now"
        assert [m.text for m in session.messages] == ["go", "again", "now"]


async def test_a_cancellation_from_outside_goes_outward_and_leaves_a_valid_log(
    tmp_path: Path,
) -> None:
    """`asyncio.wait_for` cancels a task without asking anyio; the log must not notice."""

    @tool
    async def hang() -> str:
        """Hang until cancelled."""
        task.cancel()
        await anyio.sleep_forever()
        return "never"

    watching = Watching(tmp_path, [asked("hang"), "after"])
    async with watching.open(tools=[hang]) as session:
        task = asyncio.ensure_future(session.run("go"))
        with pytest.raises(asyncio.CancelledError):
            await task
        assert answers(session.messages) == [("c1", INTERRUPTED, True)]
        assert (await session.run("again")).text == "after"
        name = session.name
        there = session.messages
    async with Watching(tmp_path, []).open(tools=[hang], session=name) as session:
        assert session.messages == there


async def test_what_is_typed_meanwhile_comes_after_the_batch(tmp_path: Path) -> None:
    @tool
    async def work() -> str:
        """Work while the person types."""
        session.queue("and mind the tests")
        session.queue("and the docs")
        return "worked"

    watching = Watching(tmp_path, [asked("work"), "both done"])
    async with watching.open(tools=[work]) as session:
        await session.run("go")
    last = watching.model.requests[-1].messages
    assert [m.text for m in last] == ["go", "", "", "and mind the tests", "and the docs"]
    assert [m.origin for m in last[3:]] == [Origin.USER, Origin.USER]


async def test_what_is_typed_before_the_model_stops_keeps_the_turn_going(tmp_path: Path) -> None:
    def typing(request: Any) -> str:
        session.queue("one more thing")
        return "done"

    watching = Watching(tmp_path, [typing, "that, too"])
    async with watching.open() as session:
        ended = await session.run("go")
    assert (ended.text, ended.steps) == ("that, too", 2)


@pytest.mark.parametrize(
    ("limits", "which", "calls"),
    [
        (Limits(steps_per_turn=3), "steps_per_turn", 3),
        (Limits(tokens_per_session=250), "tokens_per_session", 3),
        (Limits(cost_per_session=0.0002), "cost_per_session", 2),
        (Limits(seconds_per_turn=25), "seconds_per_turn", 3),
    ],
)
async def test_a_limit_ends_the_turn_and_it_can_be_gone_on_with(
    tmp_path: Path, limits: Limits, which: str, calls: int
) -> None:
    number = 0

    def calling(request: Any) -> Scripted:
        nonlocal number
        number += 1
        watching.clock.advance(10)
        call = asked("look", f"c{number}", path=f"p{number}")
        return Scripted(calls=(call,), usage=Usage(input_tokens=90, output_tokens=10))

    watching = Watching(tmp_path, [], model={"always": calling})
    async with watching.open(tools=[look], limits=limits) as session:
        ended = await session.run("go")
        assert (ended.how, len(watching.model.requests)) == (which, calls)
        assert which in ended.text
        assert not violations(session.governor.view)
        name = session.name
    async with Watching(tmp_path, ["at last"]).open(tools=[look], session=name) as session:
        assert session.unfinished == which
        assert (await session.go_on()).text == "at last"
        assert session.unfinished == ""


async def test_the_same_call_again_and_again_is_told_and_then_ends_the_turn(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [], model={"always": asked("look", path="a")})
    limits = Limits(repeats_told=3, repeats_ended=5)
    async with watching.open(tools=[look], limits=limits) as session:
        ended = await session.run("go")
        said = [m.text for m in session.messages if m.origin is Origin.SYSTEM]
    assert (ended.how, ended.steps) == ("repeating", 5)
    assert len(said) == 2
    assert "the same result 3 times" in said[0]
    assert "the same result 4 times" in said[1]


async def test_the_same_test_run_between_edits_is_no_loop(tmp_path: Path) -> None:
    @tool
    async def edit(n: int) -> str:
        """Edit."""
        return f"edited {n}"

    @tool
    async def test() -> str:
        """Run the tests, which fail."""
        return "1 failed"

    script: list[Any] = []
    for n in range(8):
        script += [asked("edit", f"e{n}", n=n), asked("test", f"t{n}")]
    watching = Watching(tmp_path, [*script, "given up"])
    limits = Limits(repeats_told=3, repeats_ended=5)
    async with watching.open(tools=[edit, test], limits=limits) as session:
        assert (await session.run("go")).text == "given up"
    assert not watching.told("loop.repeating")


async def test_going_back_and_forth_between_two_calls_is_a_loop(tmp_path: Path) -> None:
    script = [asked("look", f"c{n}", path="ab"[n % 2]) for n in range(20)]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=[look], limits=Limits(repeats_ended=4)) as session:
        ended = await session.run("go")
    assert (ended.how, ended.steps) == ("repeating", 8)


async def test_open_items_and_standing_errors_are_handed_back_once(tmp_path: Path) -> None:
    @tool
    async def todo_write(todos: list[dict[str, str]]) -> str:
        """Write the task list."""
        return "written"

    @tool(kind="shell", main_argument="command")
    async def bash(command: str) -> str:
        """Run a command."""
        return "FAILED tests/test_a.py\nexit code: 1"

    todos = [{"content": "fix a", "status": "completed"}, {"content": "fix b", "status": "pending"}]
    script = [
        [asked("todo_write", "t", todos=todos), asked("bash", "b", command="pytest")],
        "all done!",
        "b is not needed, the failure is known",
    ]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=[todo_write, bash]) as session:
        ended = await session.run("fix a and b")
        assert ended.text == "b is not needed, the failure is known"
        (told,) = [m.text for m in session.messages if m.origin is Origin.SYSTEM]
        assert "fix b" in told
        assert "fix a" not in told
        assert "bash pytest" in told
        watching.model.extend(["fine"])
        await session.run("just chatting")
    assert len(watching.model.requests) == 4


class Heard:
    """A hook that answers always alike, or by the payload, and keeps what it was given."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.payloads: list[Mapping[str, Any]] = []

    async def __call__(self, payload: Mapping[str, Any]) -> Any:
        self.payloads.append(payload)
        return self.reply(payload) if callable(self.reply) else self.reply

    def on(self, event: Any) -> Hook:
        """It, hung onto an event."""
        return Hook(event=event, run=self)


async def test_a_prompt_that_a_hook_keeps_out_reaches_the_model_in_no_form(tmp_path: Path) -> None:
    def reply(payload: Mapping[str, Any]) -> Any:
        bad = "password" in payload["prompt"]
        return {"decision": "block", "reason": "no secrets"} if bad else None

    watching = Watching(tmp_path, ["hello", "compacted"])
    async with watching.open(hooks=[Heard(reply).on("UserPromptSubmit")]) as session:
        ended = await session.run("my password is hunter2")
        assert (ended.how, watching.model.requests) == ("hook", [])
        assert "no secrets" in ended.text
        await session.run("hi")
        marks = [e async for e in session.governor.transcript.entries() if isinstance(e, MarkEntry)]
    sent = " ".join(m.text for r in watching.model.requests for m in r.messages)
    assert "hunter2" not in sent
    assert any(m.detail.get("prompt") == "my password is hunter2" for m in marks)


async def test_context_from_a_hook_stands_beside_the_users_words(tmp_path: Path) -> None:
    hook = Heard({"additionalContext": "it is Monday"}).on("UserPromptSubmit")
    watching = Watching(tmp_path, ["ok"])
    async with watching.open(hooks=[hook]) as session:
        await session.run("hi")
        assert [(m.text, m.origin) for m in session.messages[:2]] == [
            ("hi", Origin.USER),
            ("it is Monday", Origin.SYSTEM),
        ]


async def test_hooks_before_a_tool_deny_rewrite_and_end(tmp_path: Path) -> None:
    def reply(payload: Mapping[str, Any]) -> Any:
        path = payload["tool_input"]["path"]
        if path == "secret":
            return {"decision": "deny", "reason": "not that one"}
        if path == "end":
            return {"continue": False, "stopReason": "enough"}
        return {"hookSpecificOutput": {"updatedInput": {"path": path + "!"}}}

    batch = [
        asked("look", "a", path="secret"),
        asked("look", "b", path="x"),
        asked("look", "c", path="end"),
        asked("nothere", "d"),
    ]
    watching = Watching(tmp_path, [batch])
    async with watching.open(tools=[look], hooks=[Heard(reply).on("PreToolUse")]) as session:
        ended = await session.run("go")
        found = answers(session.messages)
    assert [id for id, _, _ in found] == ["a", "b", "c", "d"]
    assert "not that one" in found[0][1]
    assert found[1][1:] == ("saw x!", False)
    assert found[2][2]
    assert (ended.how, ended.text) == ("hook", "enough")


async def test_a_hook_after_a_tool_speaks_to_the_model_beside_the_result(tmp_path: Path) -> None:
    heard = Heard({"decision": "block", "reason": "run the formatter"})
    watching = Watching(tmp_path, [asked("look", path="a"), "ok"])
    async with watching.open(tools=[look], hooks=[heard.on("PostToolUse")]) as session:
        await session.run("go")
        assert answers(session.messages) == [("c1", "saw a", False)]
        (said,) = [m.text for m in session.messages if m.origin is Origin.SYSTEM]
    assert said == "[hook after look] run the formatter"
    assert heard.payloads[0]["tool_response"] == {"text": "saw a", "is_error": False}


async def test_stop_hooks_send_the_model_back_at_most_eight_times_in_a_row(tmp_path: Path) -> None:
    heard = Heard({"decision": "block", "reason": "not yet"})
    watching = Watching(tmp_path, [], model={"always": "done"})
    async with watching.open(hooks=[heard.on("Stop")]) as session:
        ended = await session.run("go")
    assert (ended.how, ended.steps) == ("done", 9)
    assert [payload["stop_hook_active"] for payload in heard.payloads] == [False] + [True] * 7


class _Late:
    """Attachments: the first at once, the second only when somebody asks a second time."""

    def __init__(self) -> None:
        self.asked: list[bool] = []
        self.cancelled = False

    def begin(self, request: Message) -> _Late:
        self.request = request.text
        return self

    async def ready(self, *, wait: bool) -> Sequence[Message]:
        self.asked.append(wait)
        texts = {1: ["early"], 2: ["late"]}.get(len(self.asked), [])
        return [user(text, origin=Origin.MEMORY) for text in texts]

    def cancel(self) -> None:
        self.cancelled = True


async def test_attachments_come_on_the_turn_and_late_ones_with_a_later_step(tmp_path: Path) -> None:
    late = _Late()
    ended: list[str] = []

    async def after(how: str) -> None:
        ended.append(how)

    watching = Watching(tmp_path, [asked("look", path="a"), "ok"])
    async with watching.open(tools=[look], attachments=late, after_turn=after) as session:
        await session.run("go")
        origins = [m.origin for m in session.messages]
    assert late.request == "go"
    assert late.asked == [True, False]
    assert late.cancelled
    assert ended == ["done"]
    first, second = ([m.text for m in r.messages] for r in watching.model.requests)
    assert first == ["go", "early"]
    assert second == ["go", "early", "", "", "late"]
    assert origins.count(Origin.MEMORY) == 2


async def test_what_streams_is_told_as_it_comes(tmp_path: Path) -> None:
    watching = Watching(tmp_path, [Scripted(text="hello there, person", thinking="hm")])
    async with watching.open() as session:
        await session.run("hi")
    assert "".join(e.text for e in watching.told("stream.text")) == "hello there, person"
    assert len(watching.told("stream.text")) > 1
    assert "".join(e.text for e in watching.told("stream.thinking")) == "hm"
