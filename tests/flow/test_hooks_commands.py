"""Hooks that are commands: real processes, real pipes, none left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

from wayfare.agent.hook_command import MAX_OUTPUT_BYTES
from wayfare.agent.hooks import Hook, HookEvent, HookOutcome, Hooks
from wayfare.events import Event

pytestmark = pytest.mark.anyio


def payload(folder: Path) -> dict[str, object]:
    return {
        "session_id": "s1",
        "transcript_path": str(folder / "transcript.jsonl"),
        "cwd": str(folder),
        "tool_name": "bash",
        "tool_input": {"command": "ls 价格"},
    }


async def run(
    command: str,
    folder: Path,
    *,
    event: HookEvent = "PreToolUse",
    timeout_seconds: float = 20.0,
    told: list[Event] | None = None,
) -> HookOutcome:
    hook = Hook(event=event, run=command, timeout_seconds=timeout_seconds, name="the hook")
    watch = (told if told is not None else []).append
    return await Hooks(hooks=(hook,), watch=watch).run(event, payload(folder))


async def test_a_command_reads_the_payload_as_json(tmp_path: Path) -> None:
    assert await run("cat > got.json", tmp_path) == HookOutcome()
    got = json.loads((tmp_path / "got.json").read_text(encoding="utf-8"))
    assert got == {**payload(tmp_path), "hook_event_name": "PreToolUse"}


async def test_a_command_runs_in_the_workspace_and_knows_it(tmp_path: Path) -> None:
    await run('printf "%s" "$PWD|$WAYFARE_PROJECT_DIR|$CLAUDE_PROJECT_DIR" > where', tmp_path)
    here = str(tmp_path)
    assert (tmp_path / "where").read_text().split("|") == [os.path.realpath(here), here, here]


async def test_exit_code_two_blocks_with_what_it_wrote_to_standard_error(tmp_path: Path) -> None:
    outcome = await run("echo ignored; echo 'not on Fridays' >&2; exit 2", tmp_path)
    assert outcome == HookOutcome(blocked=True, permission="deny", reason="not on Fridays")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("", HookOutcome()),
        ("plain text", HookOutcome()),
        ('{"decision": "approve"}', HookOutcome(permission="allow")),
        (
            '{"decision": "block", "reason": "no"}',
            HookOutcome(blocked=True, permission="deny", reason="no"),
        ),
        (
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",'
            ' "permissionDecisionReason": "look first", "additionalContext": "a note"}}',
            HookOutcome(permission="ask", reason="look first", additional_context=("a note",)),
        ),
        (
            '{"hookSpecificOutput": {"updatedInput": {"command": "ls -l"}}}',
            HookOutcome(updated_input={"command": "ls -l"}),
        ),
    ],
)
async def test_a_command_may_print_its_decision(
    tmp_path: Path, printed: str, expected: HookOutcome
) -> None:
    (tmp_path / "printed").write_text(printed)
    assert await run("cat printed", tmp_path) == expected


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
async def test_plain_text_of_a_prompt_hook_is_context(tmp_path: Path, event: HookEvent) -> None:
    outcome = await run("echo 'The build is red.'", tmp_path, event=event)
    assert outcome == HookOutcome(additional_context=("The build is red.",))


@pytest.mark.parametrize(
    ("command", "because"),
    [
        ("exit 1", "exit code 1: no message"),
        ("echo broken >&2; exit 7", "exit code 7: broken"),
        ("echo '{'", "its output is no JSON"),
        ("echo '{\"decision\": 1}'", "it decided 1"),
        ("kill -9 $$", "exit code -9"),
        ("no-such-program-anywhere", "exit code 127"),
    ],
)
async def test_a_failing_guard_denies_and_any_other_hook_is_only_told(
    tmp_path: Path, command: str, because: str
) -> None:
    told: list[Event] = []
    closed = await run(command, tmp_path, told=told)
    assert (closed.blocked, closed.permission) == (True, "deny")
    assert closed.reason.startswith(f"the hook failed: {because}")
    opened = await run(command, tmp_path, event="PostToolUse", told=told)
    assert not opened.blocked
    assert opened.failures[0].startswith(f"the hook failed: {because}")
    assert [event.name for event in told] == ["hook.failed", "hook.failed"]


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# A child of the hook that ignores every polite signal and holds the hook's streams.
_STUBBORN = "(trap '' TERM INT HUP; echo $BASHPID > pid; while :; do sleep 60; done)"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
async def test_a_hook_that_takes_too_long_is_ended_with_all_its_children(tmp_path: Path) -> None:
    command = f'exec /bin/bash -c "{_STUBBORN.replace("$", chr(92) + "$")} & wait"'
    outcome = await run(command, tmp_path, timeout_seconds=1.0)
    assert outcome.blocked
    assert outcome.reason == "the hook failed: no answer within 1 seconds"
    child = int((tmp_path / "pid").read_text())
    with anyio.fail_after(10):
        while _alive(child):
            await anyio.lowlevel.checkpoint()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
async def test_a_cancelled_session_leaves_no_hook_running(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    os.mkfifo(tmp_path / "ready")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "echo $$ > pid; echo > ready; sleep 600", tmp_path)
        await anyio.Path(tmp_path / "ready").read_text()
        tasks.cancel_scope.cancel()
    hook = int(started.read_text())
    with anyio.fail_after(10):
        while _alive(hook):
            await anyio.lowlevel.checkpoint()


async def test_a_hook_that_reads_nothing_gets_a_large_payload_and_no_error(tmp_path: Path) -> None:
    big = {**payload(tmp_path), "tool_input": {"content": "x" * 2_000_000}}
    hook = Hook(event="PreToolUse", run="exit 0")
    assert await Hooks(hooks=(hook,)).run("PreToolUse", big) == HookOutcome()


async def test_a_hook_that_prints_without_end_is_cut_not_blocked(tmp_path: Path) -> None:
    size = MAX_OUTPUT_BYTES * 3
    outcome = await run(f"head -c {size} /dev/zero | tr '\\0' x >&2; exit 2", tmp_path)
    assert outcome.reason == "x" * MAX_OUTPUT_BYTES


async def test_what_a_hook_leaves_running_does_not_hold_up_its_answer(tmp_path: Path) -> None:
    """The child keeps the hook's streams open, as a notification in the background does."""
    command = "sleep 30 & echo $! > pid; echo no >&2; exit 2"
    outcome = await run(command, tmp_path)
    assert outcome.reason == "no"
    os.kill(int((tmp_path / "pid").read_text()), 9)


async def test_output_that_is_no_utf8_is_readable_all_the_same(tmp_path: Path) -> None:
    outcome = await run(r"printf 'no \377 way' >&2; exit 2", tmp_path)
    assert outcome.reason == "no \ufffd way"


async def test_a_missing_working_folder_does_not_stop_a_hook(tmp_path: Path) -> None:
    outcome = await run("echo no >&2; exit 2", tmp_path / "gone")
    assert outcome.reason == "no"


async def test_two_commands_see_each_other_in_order(tmp_path: Path) -> None:
    rewrite = '{"hookSpecificOutput": {"updatedInput": {"command": "ls -l"}}}'
    (tmp_path / "rewrite").write_text(rewrite)
    hooks = Hooks(
        hooks=(
            Hook(event="PreToolUse", run="cat rewrite", matcher="bash"),
            Hook(event="PreToolUse", run="cat > second.json; exit 2", matcher="ba.*"),
            Hook(event="PreToolUse", run="touch third"),
        ),
        environment={"EXTRA": "1"},
    )
    outcome = await hooks.run("PreToolUse", payload(tmp_path))
    assert outcome.blocked
    assert outcome.updated_input == {"command": "ls -l"}
    second = json.loads((tmp_path / "second.json").read_text(encoding="utf-8"))
    assert second["tool_input"] == {"command": "ls -l"}
    assert not (tmp_path / "third").exists()
