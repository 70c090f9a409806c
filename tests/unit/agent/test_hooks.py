"""Hooks that are Python callables, how replies join, and what settings may say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from wayfare.agent.hooks import (
    BLOCKABLE,
    DEFAULT_TIMEOUT_SECONDS,
    EVENTS,
    FAILS_CLOSED,
    Hook,
    HookEvent,
    HookOutcome,
    Hooks,
    parse_hooks,
)
from wayfare.errors import ConfigError
from wayfare.events import Event

pytestmark = pytest.mark.anyio
CALL = {"tool_name": "bash", "tool_input": {"command": "ls"}}


def hooks(*hooks: Hook, watch: list[Event] | None = None) -> Hooks:
    seen: list[Event] = [] if watch is None else watch
    return Hooks(hooks=hooks, watch=seen.append)


async def test_a_callable_gets_the_payload_with_the_name_of_the_event() -> None:
    got: list[Mapping[str, Any]] = []
    hook = Hook(event="PreToolUse", run=got.append)
    assert await hooks(hook).run("PreToolUse", CALL) == HookOutcome()
    assert got == [{**CALL, "hook_event_name": "PreToolUse"}]


async def test_a_hook_cannot_change_the_payload_in_place() -> None:
    def spoil(payload: Mapping[str, Any]) -> None:
        payload["tool_input"]["command"] = "rm -rf /"

    payload = {"tool_name": "bash", "tool_input": {"command": "ls"}}
    await hooks(Hook(event="PreToolUse", run=spoil)).run("PreToolUse", payload)
    assert payload == {"tool_name": "bash", "tool_input": {"command": "ls"}}


async def test_async_callables_and_callable_objects_run_too() -> None:
    async def blocks(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        await anyio.lowlevel.checkpoint()
        return {"decision": "block", "reason": "not now"}

    class Adds:
        async def __call__(self, payload: Mapping[str, Any]) -> HookOutcome:
            return HookOutcome(additional_context=("by the way",))

    outcome = await hooks(Hook(event="Stop", run=Adds()), Hook(event="Stop", run=blocks)).run(
        "Stop", {"stop_hook_active": False}
    )
    assert outcome == HookOutcome(
        blocked=True, reason="not now", additional_context=("by the way",)
    )


async def test_hooks_run_in_order_and_the_first_block_ends_them() -> None:
    ran: list[str] = []

    def named(name: str, reply: Mapping[str, Any] | None = None) -> Hook:
        def run(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
            ran.append(name)
            return reply

        return Hook(event="PreToolUse", run=run, name=name)

    told: list[Event] = []
    outcome = await hooks(
        named("a"),
        named("b", {"decision": "block", "reason": "b says no"}),
        named("c", {"decision": "approve"}),
        watch=told,
    ).run("PreToolUse", CALL)
    assert ran == ["a", "b"]
    assert (outcome.blocked, outcome.reason, outcome.permission) == (True, "b says no", "deny")
    assert [(e.name, e.text) for e in told] == [("hook.blocked", "b says no")]


async def test_the_strictest_permission_of_several_hooks_counts() -> None:
    def says(decision: str) -> Hook:
        reply = {
            "hookSpecificOutput": {
                "permissionDecision": decision,
                "permissionDecisionReason": f"{decision}!",
            }
        }
        return Hook(event="PreToolUse", run=lambda payload: reply)

    async def said(*decisions: str) -> tuple[str | None, str]:
        outcome = await hooks(*map(says, decisions)).run("PreToolUse", CALL)
        return outcome.permission, outcome.reason

    assert await said("allow", "ask", "allow") == ("ask", "ask!")
    assert await said("ask", "deny", "allow") == ("deny", "deny!")
    assert await said("allow") == ("allow", "allow!")
    assert await said() == (None, "")


async def test_a_rewritten_input_is_what_the_next_hook_sees() -> None:
    seen: list[Any] = []
    rewrite = {"hookSpecificOutput": {"updatedInput": {"command": "ls -l"}}}
    outcome = await hooks(
        Hook(event="PreToolUse", run=lambda payload: rewrite),
        Hook(event="PreToolUse", run=lambda payload: seen.append(payload["tool_input"])),
    ).run("PreToolUse", CALL)
    assert seen == [{"command": "ls -l"}]
    assert outcome.updated_input == {"command": "ls -l"}


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        ("", "bash", True),
        ("*", "bash", True),
        ("bash", "bash", True),
        ("bash", "bash_output", False),
        ("edit_file|write_file", "write_file", True),
        ("mcp__db__.*", "mcp__db__query", True),
        ("mcp__db__*", "mcp__db__query", True),
        ("mcp__*", "bash", False),
        ("*_file", "edit_file", True),
    ],
)
async def test_matchers_choose_by_tool(matcher: str, tool: str, runs: bool) -> None:
    ran: list[object] = []
    hook = Hook(event="PreToolUse", run=ran.append, matcher=matcher)
    await hooks(hook).run("PreToolUse", {"tool_name": tool})
    assert bool(ran) == runs


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("PostToolUse", "tool_name", "bash"),
        ("PreCompact", "trigger", "manual"),
        ("PostCompact", "trigger", "auto"),
        ("SessionStart", "source", "resume"),
        ("SessionEnd", "reason", "quit"),
    ],
)
async def test_matchers_choose_by_what_an_event_is_about(
    event: HookEvent, field: str, value: str
) -> None:
    ran: list[object] = []
    for matcher in (value, "other"):
        await hooks(Hook(event=event, run=ran.append, matcher=matcher)).run(event, {field: value})
    assert len(ran) == 1


async def test_a_matcher_for_an_event_about_nothing_always_fits() -> None:
    ran: list[object] = []
    await hooks(Hook(event="Stop", run=ran.append, matcher="bash")).run("Stop", {})
    assert len(ran) == 1


def broken(payload: Mapping[str, Any]) -> None:
    raise ValueError("no such key")


def wrong_type(payload: Mapping[str, Any]) -> Any:
    return "allow"


def wrong_decision(payload: Mapping[str, Any]) -> Any:
    return {"decision": "perhaps"}


async def hangs(payload: Mapping[str, Any]) -> None:
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("run", "because"),
    [
        (broken, "broken failed: no such key"),
        (wrong_type, "wrong_type failed: it answered with str, not with a mapping"),
        (wrong_decision, "wrong_decision failed: it decided 'perhaps'"),
        (hangs, "hangs failed: no answer within 0.01 seconds"),
    ],
)
@pytest.mark.parametrize("event", EVENTS)
async def test_guards_fail_closed_and_others_open_with_an_event(
    event: HookEvent, run: Any, because: str
) -> None:
    told: list[Event] = []
    later: list[object] = []
    outcome = await hooks(
        Hook(event=event, run=run, timeout_seconds=0.01 if run is hangs else 60.0),
        Hook(event=event, run=later.append),
        watch=told,
    ).run(event, {})
    closed = event in FAILS_CLOSED
    assert outcome.blocked == closed
    assert outcome.permission == ("deny" if closed else None)
    assert outcome.failures[0].startswith(because)
    assert outcome.reason.startswith(because) == closed
    assert bool(later) != closed
    assert [e.name for e in told] == ["hook.failed"]
    assert told[0].text.startswith(because)
    assert told[0].fields == {"hook": run.__name__, "event": event}


def test_only_the_guard_of_tools_fails_closed() -> None:
    assert frozenset({"PreToolUse"}) == FAILS_CLOSED


@pytest.mark.parametrize("event", EVENTS)
async def test_only_what_can_be_stopped_is_blocked(event: HookEvent) -> None:
    told: list[Event] = []
    hook = Hook(event=event, run=lambda payload: {"decision": "block", "reason": "no"})
    outcome = await hooks(hook, watch=told).run(event, {})
    assert outcome.blocked == (event in BLOCKABLE)
    assert [e.name for e in told] == ["hook.blocked" if event in BLOCKABLE else "hook.failed"]


async def test_a_hook_may_end_the_turn_and_speak_to_the_person() -> None:
    reply = {"continue": False, "stopReason": "budget used up", "systemMessage": "ask for more"}
    outcome = await hooks(Hook(event="PostToolUse", run=lambda payload: reply)).run(
        "PostToolUse", CALL
    )
    assert outcome.end_turn
    assert outcome.blocked
    assert outcome.reason == "budget used up"
    assert outcome.messages == ("ask for more",)


async def test_cancellation_is_not_swallowed() -> None:
    with anyio.move_on_after(0.01) as scope:
        await hooks(Hook(event="PreToolUse", run=hangs)).run("PreToolUse", CALL)
    assert scope.cancelled_caught


def test_hooks_are_read_from_a_list_of_tables() -> None:
    assert parse_hooks(
        [
            {"event": "PreToolUse", "command": "check", "matcher": "bash", "timeout_seconds": 5},
            {"event": "Stop", "command": "./done.sh", "name": "done"},
        ]
    ) == (
        Hook(event="PreToolUse", run="check", matcher="bash", timeout_seconds=5.0),
        Hook(event="Stop", run="./done.sh", name="done", timeout_seconds=DEFAULT_TIMEOUT_SECONDS),
    )


def test_hooks_are_read_from_the_table_other_agents_write() -> None:
    assert parse_hooks(
        {
            "PreToolUse": [
                {
                    "matcher": "bash",
                    "hooks": [
                        {"type": "command", "command": "check", "timeout": 5},
                        {"type": "command", "command": "log"},
                    ],
                }
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "done"}]}],
        }
    ) == (
        Hook(event="PreToolUse", run="check", matcher="bash", timeout_seconds=5.0),
        Hook(event="PreToolUse", run="log", matcher="bash"),
        Hook(event="Stop", run="done"),
    )


@pytest.mark.parametrize(
    ("value", "setting"),
    [
        ("check", "hooks"),
        (["check"], "hooks"),
        ([{"event": "PreToolUse"}], "hooks.command"),
        ([{"event": "PreToolUse", "command": " "}], "hooks.command"),
        ([{"event": "BeforeTool", "command": "x"}], "hooks.event"),
        ([{"event": "Stop", "command": "x", "timout": 1}], "hooks.timout"),
        ([{"event": "Stop", "command": "x", "timeout_seconds": 0}], "hooks.timeout_seconds"),
        ([{"event": "Stop", "command": "x", "timeout_seconds": "5"}], "hooks.timeout_seconds"),
        ([{"event": "Stop", "command": "x", "timeout_seconds": True}], "hooks.timeout_seconds"),
        ([{"event": "Stop", "command": "x", "matcher": 1}], "hooks.matcher"),
        ([{"event": "Stop", "command": "x", "matcher": "(bash"}], "hooks.matcher"),
        ({"PreToolUse": "check"}, "hooks.PreToolUse"),
        ({"PreToolUse": [{"command": "check"}]}, "hooks.PreToolUse"),
        ({"PreToolUse": ["check"]}, "hooks.PreToolUse"),
        ({"PreToolUse": [{"hooks": ["check"]}]}, "hooks.PreToolUse"),
        ({"Nonsense": [{"hooks": [{"command": "check"}]}]}, "hooks.event"),
    ],
)
def test_what_is_no_hook_is_refused_by_name(value: object, setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_hooks(value)
    assert caught.value.setting == setting
