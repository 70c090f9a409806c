"""Small parts of the loop: limits, repeats, open ends, consent, the system prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from wayfare.agent.consent import Consent, Decided, Question, tool_use
from wayfare.agent.hooks import HookOutcome
from wayfare.agent.limits import Limits, Totals, reached
from wayfare.agent.loop_detector import LoopDetector
from wayfare.agent.permissions import PathUse, Policy, Rule
from wayfare.agent.ports import CompactionRequests, CompactionWish, Kept
from wayfare.agent.system_prompt import find_instructions, system_prompt, workspace_facts
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Command, ReadPath, WritePath
from wayfare.agent.unfinished import open_ends
from wayfare.context.facts import Ledger
from wayfare.messages import Message, assistant, call, result, results
from wayfare.model import Prices, Usage
from wayfare.transcript import Entered


def test_no_limit_is_reached_before_its_number_and_each_names_itself() -> None:
    totals = Totals()
    totals.count(Usage(input_tokens=90, output_tokens=10), Prices(input=1e4, output=1e4))
    assert totals.cost == pytest.approx(1.0)
    for limits, steps, seconds, name in (
        (Limits(steps_per_turn=3), 3, 0.0, "steps_per_turn"),
        (Limits(tokens_per_session=100), 0, 0.0, "tokens_per_session"),
        (Limits(cost_per_session=1.0), 0, 0.0, "cost_per_session"),
        (Limits(seconds_per_turn=5.0), 0, 5.0, "seconds_per_turn"),
    ):
        found = reached(limits, totals, steps=steps, seconds=seconds)
        assert found is not None
        assert found.limit == name
        assert name in found.text
        assert reached(limits, Totals(), steps=0, seconds=0.0) is None
    unlimited = Limits(steps_per_turn=None)
    assert reached(unlimited, totals, steps=10**6, seconds=10.0**6) is None


def test_repeats_count_from_the_last_news() -> None:
    detector = LoopDetector()

    def seen(name: str, said: str) -> int:
        return detector.seen(call(name, {"a": 1}, id="x"), result("x", said)).times

    assert [seen("look", "same") for _ in range(3)] == [1, 2, 3]
    assert seen("look", "other") == 1
    assert [seen("look", "same"), seen("look", "other"), seen("look", "same")] == [1, 2, 2]


def _ledger(*messages: Message) -> Ledger:
    ledger = Ledger()
    for number, message in enumerate(messages, start=1):
        ledger.add(Entered(id=number, time=0.0, message=message))
    return ledger


def test_open_items_and_errors_of_this_turn_are_listed() -> None:
    todos = [
        {"content": "a", "status": "completed"},
        {"content": "b", "status": "in_progress"},
        {"content": "c", "status": "Cancelled"},
    ]
    ledger = _ledger(
        assistant("", call("todo_write", {"todos": todos}, id="t")),
        results(result("t", "written")),
        assistant(
            "", call("bash", {"command": "make"}, id="1"), call("bash", {"command": "x"}, id="2")
        ),
        results(result("1", "broken\nexit code: 2"), result("2", "denied: no", is_error=True)),
    )
    assert open_ends(ledger, since_entry=0) == snapshot("""\
Before you stop:
Items of the task list that are still open:
- b
Calls of this turn that failed and did not succeed later:
- bash make: broken
Go on with what is left to do. If an item is not to be done, or an error does not matter, say so in one sentence, set the task list right, and stop.\
""")
    assert "bash make" not in open_ends(ledger, since_entry=4)
    assert open_ends(_ledger(), since_entry=0) == ""


@tool
def write(path: WritePath) -> str:
    """Write."""
    return path


@tool
def run(command: Command) -> str:
    """Run."""
    return command


@tool(read_only=True)
def read(path: ReadPath = ".") -> str:
    """Read."""
    return path


@tool(read_only=True)
def think(thought: str) -> str:
    """Think."""
    return thought


def test_a_call_as_permissions_see_it() -> None:
    assert tool_use(write, {"path": "a"}).paths == (PathUse(path="a", write=True),)
    assert tool_use(read, {"path": "a"}).paths == (PathUse(path="a"),)
    assert tool_use(run, {"command": "ls; rm x"}).command == "ls; rm x"
    assert tool_use(think, {"thought": "/etc/passwd"}).paths is None


@pytest.mark.anyio
async def test_a_person_is_asked_once_and_their_rule_answers_the_next_call(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Decided:
        asked.append(question)
        rule = Rule(decision="allow", tool="write", pattern="src/**", source="session")
        return Decided(allow=True, rules=(rule,))

    consent = Consent(Policy(workspace=tmp_path), ask=ask)
    for path in ("src/a.py", "src/b.py"):
        use = tool_use(write, {"path": path})
        verdict = await consent.decide(use, consent.weigh(use), HookOutcome(), call_id="c")
        assert verdict.decision == "allow"
    assert [q.use.input["path"] for q in asked] == ["src/a.py"]
    consent.change_mode("read-only")
    use = tool_use(write, {"path": "src/a.py"})
    assert (await consent.decide(use, consent.weigh(use), HookOutcome())).decision == "deny"


@pytest.mark.anyio
async def test_what_would_be_asked_is_denied_where_nobody_can_be(tmp_path: Path) -> None:
    consent = Consent(Policy(workspace=tmp_path))
    use = tool_use(write, {"path": "a"})
    verdict = await consent.decide(use, consent.weigh(use), HookOutcome())
    assert verdict.decision == "deny"
    assert "nobody can be asked" in verdict.reason
    allowing = HookOutcome(permission="allow", reason="the hook says yes")
    assert (await consent.decide(use, consent.weigh(use), allowing)).decision == "allow"


def test_a_wish_for_a_compaction_is_granted_once() -> None:
    wishes = CompactionRequests()
    assert wishes.take() is None
    wishes.ask("the parser")
    assert wishes.take() == CompactionWish(focus="the parser", trigger="model")
    assert wishes.take() is None


def test_of_two_wishes_both_are_told_and_a_person_counts_as_the_one_who_asked() -> None:
    wishes = CompactionRequests()
    wishes.ask("the tests", trigger="manual")
    wishes.ask("my plan")
    wishes.ask()
    assert wishes.take() == CompactionWish(focus="the tests\nmy plan", trigger="manual")


@pytest.mark.anyio
async def test_what_tools_keep_is_one_of_a_class_and_all_of_it_is_closed() -> None:
    closed: list[str] = []

    class First:
        async def aclose(self) -> None:
            closed.append("first")
            raise OSError("stuck")

    class Second:
        async def aclose(self) -> None:
            closed.append("second")

    kept = Kept()
    assert kept.get(First) is None
    assert kept.of(First) is kept.of(First)
    kept.of(Second)
    kept.of(list)
    with pytest.raises(ExceptionGroup):
        await kept.aclose()
    assert closed == ["second", "first"]


def test_the_system_prompt_says_what_the_person_can_rely_on() -> None:
    prompt = system_prompt()
    for promise in (
        "formatters",
        "background",
        "[Compacted]",
        "persisted-output",
        "current user request",
    ):
        assert promise in prompt
    assert system_prompt(role="R", has_tools=False) == "R"
    assert system_prompt(role="R", has_tools=False, extra=["E", " "]) == "R\n\nE"


def test_facts_change_with_the_day_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n")
    facts = workspace_facts(tmp_path, now=1_700_000_000.0)
    assert facts == workspace_facts(tmp_path, now=1_700_000_500.0)
    assert "- Today: 2023-11-14" in facts
    assert "topic/x" in facts


def test_instruction_files_outermost_first_nested_ones_listed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("outer")
    work = tmp_path / "app"
    for folder in (work / "deep", work / "node_modules" / "x", work / ".hidden"):
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").write_text("nested")
    (work / "AGENTS.md").write_text("inner " * 20)
    (work / "CLAUDE.md").symlink_to(work / "AGENTS.md")
    found = find_instructions(work, most_chars=20)
    assert [(f.path, f.text) for f in found] == [
        ("../AGENTS.md", "outer"),
        ("AGENTS.md", "inner inner inn\n[… cut; all of it: AGENTS.md]"),
        ("deep/AGENTS.md", None),
    ]


def test_an_instruction_file_that_leads_out_of_the_project_is_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("outside")
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").symlink_to(secret)
    assert find_instructions(work) == ()
