"""What a tool call may do: rules, modes and paths in, one verdict out.

`judge` is a plain function of the call and the policy; it looks at the file system only to follow
links. The order is fixed: deny rules, closed paths, ask rules, guarded paths, allow rules, mode.
Shell lines are taken apart first, and the strictest verdict of their commands is that of the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from wayfare.agent.path_permissions import Access, judge_path
from wayfare.agent.policy import (
    CLOSED_FOLDERS,
    MODES,
    Decision,
    Mode,
    PathUse,
    Policy,
    Rule,
    Source,
    ToolUse,
    Verdict,
    matches_text,
    narrow,
    parse_rule,
    parse_rules,
    strictest,
)
from wayfare.agent.shell_permissions import judge_line

__all__ = [
    "BUILT_IN_RULES",
    "CLOSED_FOLDERS",
    "MODES",
    "Decision",
    "Mode",
    "PathUse",
    "Policy",
    "Rule",
    "Source",
    "ToolUse",
    "Verdict",
    "judge",
    "narrow",
    "parse_rule",
    "parse_rules",
    "settle",
    "weigh",
]

_OWN_TOOLS = ("todo_write", "task", "compact", "search_history", "bash_kill")
_MEMORY_TOOLS = ("memory_search", "memory_read", "memory_write", "memory_forget")
BUILT_IN_RULES: tuple[Rule, ...] = tuple(
    Rule(decision="allow", tool=name, source="built-in") for name in (*_OWN_TOOLS, *_MEMORY_TOOLS)
)
"""wayfare's own tools that touch nothing but wayfare's own stores; part of every policy."""


def judge(call: ToolUse, policy: Policy) -> Verdict:
    """The verdict on a call when no hook has a say: `weigh`, settled for who can be asked."""
    return settle(weigh(call, policy), policy)


def settle(
    verdict: Verdict, policy: Policy, *, hook: Decision | None = None, hook_reason: str = ""
) -> Verdict:
    """Joins a verdict with what PreToolUse hooks decided, and denies what nobody can be asked.

    Args:
        verdict: From `weigh`.
        policy: Says whether somebody can be asked.
        hook: A hook's `deny` and `ask` make the verdict stricter; its `allow` answers a question,
            and never lifts a denial.
        hook_reason: The hook's words.
    """
    said = hook_reason or "a hook decided so"
    if hook == "deny" and verdict.decision != "deny":
        verdict = Verdict(decision="deny", reason=said)
    elif hook == "ask" and verdict.decision == "allow":
        verdict = Verdict(decision="ask", reason=said)
    elif hook == "allow" and verdict.decision == "ask":
        verdict = Verdict(decision="allow", reason=said)
    if verdict.decision != "ask" or policy.interactive:
        return verdict
    reason = f"{verdict.reason}; this needs a person's yes, and nobody can be asked here"
    return replace(verdict, decision="deny", reason=reason)


def weigh(call: ToolUse, policy: Policy) -> Verdict:
    """The verdict on a call before hooks, and as if somebody could be asked."""
    rules = tuple(rule for rule in (*policy.rules, *BUILT_IN_RULES) if rule.covers(call.name))
    denied = next((r for r in rules if r.decision == "deny" and r.whole), None)
    if denied is not None:
        return Verdict(decision="deny", reason=f"{call.name} is denied by {denied}", rule=denied)
    if call.command is not None:
        return _weigh_command(call, call.command, policy)
    if call.paths is not None:
        return _weigh_paths(call, call.paths, policy)
    return _weigh_input(call, rules, policy)


def _weigh_command(call: ToolUse, command: str, policy: Policy) -> Verdict:
    line = judge_line(command, policy, tool=call.name)
    if call.paths:
        return strictest((line, _weigh_paths(call, call.paths, policy))) or line
    return line


def _weigh_paths(call: ToolUse, paths: Iterable[PathUse], policy: Policy) -> Verdict:
    uses = tuple(paths) or (PathUse(path=str(policy.base), write=not call.read_only),)
    verdicts = (
        judge_path(use.path, Access(tool=call.name, write=use.write), policy) for use in uses
    )
    verdict = strictest(verdicts)
    assert verdict is not None
    changes = not call.read_only and not any(use.write for use in uses)
    if verdict.decision == "allow" and verdict.rule is None and changes:
        return strictest((verdict, _by_mode(call, policy))) or verdict
    return verdict


def _weigh_input(call: ToolUse, rules: Iterable[Rule], policy: Policy) -> Verdict:
    """Tools without paths and commands: rules about their name or the texts of their input."""
    texts = tuple(_texts(call.input))
    found: dict[Decision, Rule] = {}
    for rule in rules:
        hits = [rule.pattern is not None and matches_text(rule.pattern, text) for text in texts]
        # To forbid, one text is enough; to allow, nothing may be left over.
        fits = all(hits) and bool(hits) if rule.decision == "allow" else any(hits)
        if rule.whole or fits:
            found.setdefault(rule.decision, rule)
    if (rule := found.get("deny")) is not None:
        return Verdict(decision="deny", reason=f"{call.name} is denied by {rule}", rule=rule)
    if policy.mode == "read-only" and not call.read_only and call.name not in _OWN_TOOLS:
        return _by_mode(call, policy)
    if (rule := found.get("ask")) is not None:
        return Verdict(decision="ask", reason=f"{call.name} is asked about by {rule}", rule=rule)
    if (rule := found.get("allow")) is not None:
        return Verdict(decision="allow", reason=f"allowed by {rule}", rule=rule)
    return _by_mode(call, policy)


def _by_mode(call: ToolUse, policy: Policy) -> Verdict:
    if call.read_only:
        return Verdict(decision="allow", reason=f"{call.name} only reads")
    if policy.mode == "read-only":
        reason = f"{call.name} may change something, and the mode is read-only"
        return Verdict(decision="deny", reason=reason)
    if policy.mode == "full":
        return Verdict(decision="allow", reason="the mode is full")
    return Verdict(decision="ask", reason=f"{call.name} may change something")


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(inner)
