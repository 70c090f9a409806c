"""Verdicts about paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wayfare.agent.guarded_paths import Guard, Place, guard_of, locate
from wayfare.agent.path_patterns import matches, names_place
from wayfare.agent.policy import Decision, Policy, Rule, Verdict

READ_TOOLS = ("read_file",)
WRITE_TOOLS = ("write_file", "edit_file")
"""Path rules for these tools also hold for whatever else reads or writes: `bash` above all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What is about to happen to a path.

    Attributes:
        tool: The tool whose rules hold.
        write: The file is written.
        tree: Everything below is touched too.
        agreed: A rule allows the command this path belongs to, so being outside the workspace or
            being written needs no word of its own. Guards and rules about the path still hold.
        mention: A program that may do anything was given the path: only rules and guards count.
    """

    tool: str
    write: bool = False
    tree: bool = False
    agreed: bool = False
    mention: bool = False


def judge_path(path: str, access: Access, policy: Policy, *, base: Path | None = None) -> Verdict:
    """The verdict on one path, which begins at `base` (the policy's own by default)."""
    place = locate(path, base=policy.base if base is None else base, home=policy.home)
    denied = _first(_strict_rules(place, access, policy, "deny"))
    if denied is not None:
        return Verdict(decision="deny", reason=f"{path} is denied by {denied}", rule=denied)
    guard = guard_of(
        place,
        write=access.write or access.mention,
        tree=access.tree,
        closed=policy.closed_paths,
        home=policy.home,
    )
    if guard is not None and guard.decision == "deny" and not access.mention:
        return Verdict(decision="deny", reason=f"{path}: {guard.reason}")
    if access.write and policy.mode == "read-only" and not place.device:
        return Verdict(
            decision="deny", reason=f"{path} would be written, and the mode is read-only"
        )
    asked = _first(_strict_rules(place, access, policy, "ask"))
    if asked is not None:
        return Verdict(decision="ask", reason=f"{path} is asked about by {asked}", rule=asked)
    allowed = tuple(_allow_rules(place, access, policy))
    if guard is not None and not _meant(guard, allowed, policy):
        return Verdict(decision="ask", reason=f"{path}: {guard.reason}")
    if allowed:
        return Verdict(decision="allow", reason=f"allowed by {allowed[0]}", rule=allowed[0])
    return _by_mode(path, place, access, policy)


def _by_mode(path: str, place: Place, access: Access, policy: Policy) -> Verdict:
    if access.mention or access.agreed or place.device or policy.mode == "full":
        return Verdict(decision="allow", reason=f"{path} is free to use here")
    if not place.inside(policy.root):
        return Verdict(decision="ask", reason=f"{path} is outside the workspace")
    if access.write and policy.mode != "accept-edits":
        return Verdict(decision="ask", reason=f"{path} would be written")
    return Verdict(decision="allow", reason=f"{path} is in the workspace")


def _first(rules: Iterator[Rule]) -> Rule | None:
    return next(rules, None)


def _kind(access: Access) -> tuple[str, ...]:
    if access.mention:
        return (*READ_TOOLS, *WRITE_TOOLS)
    return WRITE_TOOLS if access.write else READ_TOOLS


def _strict_rules(
    place: Place, access: Access, policy: Policy, decision: Decision
) -> Iterator[Rule]:
    for rule in policy.rules:
        if rule.decision != decision:
            continue
        if rule.covers(access.tool) and rule.whole:
            yield rule
        own = access.tool != "bash" and rule.covers(access.tool)
        kind = any(rule.covers(tool) for tool in _kind(access))
        if rule.pattern is not None and (own or kind) and _covers(rule, place, policy, widely=True):
            yield rule


def _allow_rules(place: Place, access: Access, policy: Policy) -> Iterator[Rule]:
    tools = _kind(access) if access.tool == "bash" else (access.tool,)
    for rule in policy.rules:
        if rule.decision != "allow" or not any(rule.covers(tool) for tool in tools):
            continue
        if place.inside(policy.root) if rule.whole else _covers(rule, place, policy, widely=False):
            yield rule


def _covers(rule: Rule, place: Place, policy: Policy, *, widely: bool) -> bool:
    return rule.pattern is not None and matches(
        rule.pattern, place, workspace=policy.workspace, home=policy.home, widely=widely
    )


def _meant(guard: Guard, allowed: Iterable[Rule], policy: Policy) -> bool:
    """True when a rule names the guarded place itself, so that its guard need not ask again."""
    return guard.decision == "ask" and any(
        rule.pattern is not None
        and names_place(rule.pattern, guard.root, workspace=policy.workspace, home=policy.home)
        for rule in allowed
    )


def exists_outside(path: str, base: Path, policy: Policy) -> bool:
    """False for a word that cannot be a file outside the workspace: nothing of that name is there."""
    place = locate(path, base=base, home=policy.home)
    return place.inside(policy.root) or os.path.lexists(place.path)
