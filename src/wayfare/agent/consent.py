"""Consent: whether a call may run, asked of rules and mode first, of hooks next, of a person last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio

from wayfare.agent.guarded_paths import locate
from wayfare.agent.hooks import HookOutcome
from wayfare.agent.path_permissions import Access, judge_path
from wayfare.agent.permissions import Mode, PathUse, Policy, Rule, ToolUse, Verdict, settle, weigh
from wayfare.agent.tools import Tool
from wayfare.events import Event, Watched, ignore


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked: the call as permissions see it, and why it needs a word."""

    use: ToolUse
    reason: str
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A person's answer. `rules` hold from now on, for the session; `reason` is for the model."""

    allow: bool
    reason: str = ""
    rules: tuple[Rule, ...] = ()


class Ask(Protocol):
    """Asks a person. Cancelled when the turn is."""

    async def __call__(self, question: Question, /) -> Decided:
        """Their answer."""
        ...


class Consent:
    """The policy of a session and the person behind it.

    Args:
        policy: Rules and mode to begin with; its `interactive` is set by whether `ask` is there.
        ask: How a person is asked; None: nobody can be, and what would be asked is denied.
    """

    def __init__(self, policy: Policy, *, ask: Ask | None = None, watch: Watched = ignore) -> None:
        self._ask = ask
        self._watch = watch
        self._one_at_a_time = anyio.Lock()
        self.policy = replace(policy, interactive=ask is not None)

    def change_mode(self, mode: Mode) -> None:
        """Use another mode from the next call on."""
        self.policy = replace(self.policy, mode=mode)
        self._watch(Event(name="permissions.mode", text=f"the mode is {mode}"))

    def add(self, *rules: Rule) -> None:
        """More rules from the next call on."""
        self.policy = replace(self.policy, rules=(*self.policy.rules, *rules))

    def weigh(self, use: ToolUse) -> Verdict:
        """What rules and mode say."""
        return weigh(use, self.policy)

    def leads(self, use: ToolUse) -> Mapping[str, str]:
        """Where the paths of a call lead now, links followed, by how the call writes them."""
        base, home = self.policy.base, self.policy.home
        return {
            use.path: place.path
            for use in use.paths or ()
            if (place := locate(use.path, base=base, home=home)).known
        }

    def may_read(self, tool: str, path: str) -> bool:
        """Whether a file below one that a call was allowed to read needs nobody's word itself."""
        verdict = judge_path(path, Access(tool=tool, agreed=True), self.policy)
        return verdict.decision == "allow"

    async def decide(
        self, use: ToolUse, verdict: Verdict, hooks: HookOutcome, *, call_id: str = ""
    ) -> Verdict:
        """The last word on a call: `allow` or `deny`, with the reason."""
        hook = "deny" if hooks.blocked else hooks.permission
        settled = settle(verdict, self.policy, hook=hook, hook_reason=hooks.reason)
        if settled.decision != "ask" or self._ask is None:
            return settled
        async with self._one_at_a_time:
            if hook is None:
                # A rule that the person gave for another call of the batch may answer this one.
                settled = settle(self.weigh(use), self.policy)
                if settled.decision != "ask":
                    return settled
            question = Question(use=use, reason=settled.reason, call_id=call_id)
            answer = await self._ask(question)
        self.add(*answer.rules)
        said = answer.reason or ("the person said yes" if answer.allow else "the person said no")
        return Verdict(decision="allow" if answer.allow else "deny", reason=said)


def tool_use(tool: Tool, given: Mapping[str, Any]) -> ToolUse:
    """A call as permissions see it, from what its tool declares."""
    touches = tool.touches(given)
    paths = tuple(
        [PathUse(path=path) for path in touches.reads]
        + [PathUse(path=path, write=True) for path in touches.writes]
    )
    return ToolUse(
        name=tool.name,
        input=given,
        read_only=tool.read_only,
        paths=paths if paths or touches.files else None,
        command="\n".join(touches.commands) if touches.commands else None,
    )
