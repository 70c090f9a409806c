"""What a hook decided, read from what it returned or printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from wayfare import json_text
from wayfare.agent.hook_command import CommandFailed, Finished

Permission: TypeAlias = Literal["allow", "ask", "deny"]

BLOCKING_EXIT_CODE = 2
"""A command that ends with it blocks; its standard error is the reason."""
_STRICTNESS = {None: 0, "allow": 1, "ask": 2, "deny": 3}
_CONTEXT_FROM_TEXT = frozenset({"UserPromptSubmit", "SessionStart"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """What the hooks of one event decided together.

    Attributes:
        blocked: The thing must not happen; for Stop, the turn goes on; for PostToolUse, the model
            is told `reason`.
        reason: Why, for the model and the person.
        permission: What PreToolUse hooks say about the call; the strictest of them.
        additional_context: Texts to put before the model, in order.
        updated_input: The tool input a PreToolUse hook wants instead, or None.
        end_turn: A hook asks to end the turn altogether (`continue: false`).
        messages: Lines for the person (`systemMessage`).
        failures: What went wrong in hooks that did not guard anything.
    """

    blocked: bool = False
    reason: str = ""
    permission: Permission | None = None
    additional_context: tuple[str, ...] = ()
    updated_input: Mapping[str, Any] | None = None
    end_turn: bool = False
    messages: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    def joined(self, later: HookOutcome) -> HookOutcome:
        """Both outcomes as one; the later one was asked after this one."""
        stricter = _STRICTNESS[later.permission] > _STRICTNESS[self.permission]
        decides = later.blocked or stricter or not self.reason
        return HookOutcome(
            blocked=self.blocked or later.blocked,
            reason=later.reason if decides and later.reason else self.reason,
            permission=later.permission if stricter else self.permission,
            additional_context=(*self.additional_context, *later.additional_context),
            updated_input=self.updated_input
            if later.updated_input is None
            else later.updated_input,
            end_turn=self.end_turn or later.end_turn,
            messages=(*self.messages, *later.messages),
            failures=(*self.failures, *later.failures),
        )


def read_output(finished: Finished, event: str) -> HookOutcome:
    """Reads how a command ended.

    Raises:
        CommandFailed: for any exit code but 0 and 2, and for JSON that cannot be read.
    """
    if finished.exit_code == BLOCKING_EXIT_CODE:
        reason = finished.stderr.strip() or finished.stdout.strip()
        return HookOutcome(blocked=True, reason=reason, permission=_deny(event))
    if finished.exit_code != 0:
        detail = finished.stderr.strip() or "no message"
        raise CommandFailed(f"exit code {finished.exit_code}: {detail}")
    text = finished.stdout.strip()
    if text.startswith("{"):
        try:
            value = json_text.loads(text)
        except ValueError as error:
            raise CommandFailed(f"its output is no JSON: {error}") from error
        return read_reply(value, event)
    if text and event in _CONTEXT_FROM_TEXT:
        return HookOutcome(additional_context=(text,))
    return HookOutcome()


def read_reply(value: object, event: str) -> HookOutcome:
    """Reads what a callable returned or a command printed.

    Raises:
        CommandFailed: when it is no outcome, no mapping and not nothing, or names an unknown
            decision: a guard that cannot be understood has not agreed.
    """
    if value is None:
        return HookOutcome()
    if isinstance(value, HookOutcome):
        return value
    if not isinstance(value, Mapping):
        raise CommandFailed(f"it answered with {type(value).__name__}, not with a mapping")
    fields = cast(Mapping[str, Any], value)
    specific = _mapping(fields.get("hookSpecificOutput")) or {}
    decision = _decision(fields, specific)
    going_on = fields.get("continue", True) is not False
    reason = _text(specific, "permissionDecisionReason") or _text(fields, "reason")
    context = _text(specific, "additionalContext") or _text(fields, "additionalContext")
    return HookOutcome(
        blocked=decision == "deny" or not going_on,
        reason=reason or ("" if going_on else _text(fields, "stopReason")),
        permission=(decision if going_on else "deny") if event == "PreToolUse" else None,
        additional_context=(context,) if context else (),
        updated_input=_mapping(specific.get("updatedInput")),
        end_turn=not going_on,
        messages=(message,) if (message := _text(fields, "systemMessage")) else (),
    )


_DECISIONS: dict[object, Permission | None] = {
    None: None,
    "": None,
    "approve": "allow",
    "allow": "allow",
    "ask": "ask",
    "block": "deny",
    "deny": "deny",
}


def _decision(fields: Mapping[str, Any], specific: Mapping[str, Any]) -> Permission | None:
    said = specific.get("permissionDecision", fields.get("decision"))
    if not (said is None or isinstance(said, str)) or said not in _DECISIONS:
        raise CommandFailed(f"it decided {said!r}, which is none of allow, ask, deny, block")
    return _DECISIONS[said]


def _mapping(value: object) -> Mapping[str, Any] | None:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else None


def _deny(event: str) -> Permission | None:
    return "deny" if event == "PreToolUse" else None


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
