"""Hooks: what people hang onto the events of a session, as Python callables or as commands.

A command gets the payload as JSON on standard input, with the field names other agents use where
they mean the same: `session_id`, `transcript_path`, `cwd`, `hook_event_name`, `tool_name`,
`tool_input`, `tool_response`, `prompt`, `trigger`, `custom_instructions`, `summary`,
`stop_hook_active`, `source`, `reason`. Exit code 2 blocks with its standard error as the reason; exit
code 0 may print JSON with `decision`, `reason`, `additionalContext` and `hookSpecificOutput`.

A PreToolUse hook guards something: when it fails, the call is denied. Every other hook that fails is
told as an event, and the session goes on.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, cast, get_args

import anyio

from wayfare.agent.hook_command import CommandFailed, run_command
from wayfare.agent.hook_reply import HookOutcome, read_output, read_reply
from wayfare.errors import ConfigError
from wayfare.events import Event, Watch, ignore

HookEvent: TypeAlias = Literal[
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "PreCompact",
    "PostCompact",
    "MemoryWrite",
    "SessionStart",
    "SessionEnd",
]
EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)
BLOCKABLE: frozenset[HookEvent] = frozenset(
    {"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "MemoryWrite"}
)
"""Events a hook can stop; for the others a block is told as a failure."""
FAILS_CLOSED: frozenset[HookEvent] = frozenset({"PreToolUse"})
DEFAULT_TIMEOUT_SECONDS = 60.0
"""How long a hook may take; the default other agents use for theirs."""

_MATCHED_FIELD: dict[HookEvent, str] = {
    "PreToolUse": "tool_name",
    "PostToolUse": "tool_name",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
    "SessionStart": "source",
    "SessionEnd": "reason",
}

HookReply: TypeAlias = HookOutcome | Mapping[str, Any] | None
HookCallable: TypeAlias = Callable[[Mapping[str, Any]], HookReply | Awaitable[HookReply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One hook.

    Attributes:
        event: When it runs.
        run: A callable that takes the payload and returns nothing, a mapping with the fields a
            command would print, or an outcome; or the text of a shell command.
        matcher: For events with a tool the tool's name, for compactions the trigger, for the
            beginning and end of a session its source or reason: a regular expression or a pattern
            with `*`; empty or `*` for all.
        timeout_seconds: After this long it is ended, a command with all its processes.
        name: For people; by default the command, or the callable's name.

    Raises:
        ConfigError: for an unknown event, a time-out of zero or less, a matcher that is no pattern.
    """

    event: HookEvent
    run: HookCallable | str
    matcher: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    name: str = ""

    def __post_init__(self) -> None:
        if self.event not in EVENTS:
            raise ConfigError(f"{self.event!r} is no hook event", setting="hooks.event")
        if self.timeout_seconds <= 0:
            raise ConfigError(
                "a hook needs a time-out above zero",
                setting="hooks.timeout_seconds",
                value=self.timeout_seconds,
            )
        try:
            re.compile(self.matcher)
        except re.error as error:
            if "*" not in self.matcher:
                raise ConfigError(
                    f"{self.matcher!r} is no matcher: {error}",
                    setting="hooks.matcher",
                    value=self.matcher,
                ) from error

    @property
    def title(self) -> str:
        """What people see."""
        if self.name or isinstance(self.run, str):
            return self.name or str(self.run)
        return getattr(self.run, "__name__", type(self.run).__name__)

    def wants(self, payload: Mapping[str, Any]) -> bool:
        """True when the matcher fits what the event is about; in doubt it fits."""
        about = payload.get(_MATCHED_FIELD.get(self.event, ""))
        if self.matcher in ("", "*") or not isinstance(about, str):
            return True
        try:
            if re.fullmatch(self.matcher, about):
                return True
        except re.error:
            pass
        return fnmatchcase(about, self.matcher)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """All hooks of a session, in the order they run.

    Attributes:
        hooks: The list; the first block ends it.
        watch: Who is told of hooks that failed (`hook.failed`) or blocked (`hook.blocked`).
        environment: Added to the environment of commands.
    """

    hooks: tuple[Hook, ...] = ()
    watch: Watch = ignore
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    async def run(self, event: HookEvent, payload: Mapping[str, Any]) -> HookOutcome:
        """Runs the hooks of an event one after the other, until one blocks.

        Args:
            event: What happened.
            payload: The fields of the event; `hook_event_name` is added.

        Returns:
            What they decided together. Never raises for what a hook does; cancellation ends a
            running command with all its processes.
        """
        full = {**payload, "hook_event_name": event}
        outcome = HookOutcome()
        for hook in self.hooks:
            if hook.event != event or not hook.wants(full):
                continue
            outcome = outcome.joined(await self._one(hook, full))
            # What one hook rewrote is what the next one judges.
            if outcome.updated_input is not None:
                full["tool_input"] = outcome.updated_input
            if outcome.blocked:
                break
        return outcome

    async def _one(self, hook: Hook, payload: Mapping[str, Any]) -> HookOutcome:
        try:
            reply = await self._reply(hook, payload)
        except Exception as error:
            failure = f"{hook.title} failed: {error or type(error).__name__}"
            return self._failed(hook, failure)
        if not reply.blocked:
            return reply
        reason = reply.reason or f"{hook.title} blocked this"
        if hook.event not in BLOCKABLE:
            return self._failed(hook, f"{hook.title} cannot block {hook.event}: {reason}")
        self.watch(Event(name="hook.blocked", text=reason, fields=_fields(hook)))
        permission = "deny" if hook.event == "PreToolUse" else None
        return replace(reply, reason=reason, permission=permission)

    def _failed(self, hook: Hook, text: str) -> HookOutcome:
        self.watch(Event(name="hook.failed", text=text, fields=_fields(hook)))
        if hook.event in FAILS_CLOSED:
            return HookOutcome(blocked=True, permission="deny", reason=text, failures=(text,))
        return HookOutcome(failures=(text,))

    async def _reply(self, hook: Hook, payload: Mapping[str, Any]) -> HookOutcome:
        with anyio.move_on_after(hook.timeout_seconds) as scope:
            if isinstance(hook.run, str):
                finished = await run_command(hook.run, payload, self.environment)
                return read_output(finished, hook.event)
            return read_reply(await _called(hook.run, payload), hook.event)
        if scope.cancelled_caught:
            raise CommandFailed(f"no answer within {hook.timeout_seconds:g} seconds")
        raise AssertionError("unreachable")


def _fields(hook: Hook) -> dict[str, Any]:
    return {"hook": hook.title, "event": hook.event}


async def _called(run: HookCallable, payload: Mapping[str, Any]) -> object:
    """A plain function runs in a thread, so that a slow one holds up nobody and can be left."""
    own = copy.deepcopy(dict(payload))
    if inspect.iscoroutinefunction(run):
        return await run(own)
    reply = await anyio.to_thread.run_sync(run, own, abandon_on_cancel=True)
    return await reply if inspect.isawaitable(reply) else reply


def parse_hooks(value: object) -> tuple[Hook, ...]:
    """Reads the `hooks` of a settings file.

    Two forms are understood: a list of tables with `event`, `command`, and, if wanted, `matcher`,
    `timeout_seconds` and `name`; and a table by event, as other agents write it: each a list of
    `{matcher, hooks: [{type: "command", command, timeout}]}`.

    Raises:
        ConfigError: when it is neither, naming the part that is not.
    """
    if isinstance(value, Mapping):
        return tuple(_nested(cast(Mapping[str, Any], value)))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(_flat(entry) for entry in cast(Sequence[object], value))
    raise ConfigError("hooks must be a list of tables or a table by event", setting="hooks")


_FLAT_KEYS = frozenset({"event", "command", "matcher", "timeout_seconds", "name"})


def _flat(entry: object) -> Hook:
    if not isinstance(entry, Mapping):
        raise ConfigError("each hook must be a table", setting="hooks", value=entry)
    table = cast(Mapping[str, Any], entry)
    unknown = set(table) - _FLAT_KEYS
    if unknown:
        name = sorted(unknown)[0]
        raise ConfigError(f"hooks have no setting {name!r}", setting=f"hooks.{name}")
    return _hook(
        table.get("event"),
        table.get("command"),
        table.get("matcher", ""),
        table.get("timeout_seconds", DEFAULT_TIMEOUT_SECONDS),
        name=str(table.get("name", "")),
    )


def _nested(table: Mapping[str, Any]) -> list[Hook]:
    found: list[Hook] = []
    for event, groups in table.items():
        for group in _tables(groups, event):
            matcher = group.get("matcher") or ""
            for one in _tables(group.get("hooks"), event):
                seconds = one.get("timeout", DEFAULT_TIMEOUT_SECONDS)
                found.append(_hook(event, one.get("command"), matcher, seconds))
    return found


def _tables(value: object, event: str) -> Sequence[Mapping[str, Any]]:
    entries = cast(Sequence[object], value) if isinstance(value, list | tuple) else None
    if entries is None or not all(isinstance(entry, Mapping) for entry in entries):
        raise ConfigError(
            f"hooks.{event} must be a list of {{matcher, hooks: [{{command}}]}}",
            setting=f"hooks.{event}",
        )
    return cast(Sequence[Mapping[str, Any]], entries)


def _hook(event: Any, command: Any, matcher: Any, seconds: Any, *, name: str = "") -> Hook:
    if not isinstance(command, str) or not command.strip():
        raise ConfigError("a hook needs a command", setting="hooks.command", value=command)
    if not isinstance(matcher, str):
        raise ConfigError("a matcher must be text", setting="hooks.matcher", value=matcher)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ConfigError(
            "a time-out must be a number of seconds", setting="hooks.timeout_seconds", value=seconds
        )
    return Hook(
        event=event, run=command, matcher=matcher, timeout_seconds=float(seconds), name=name
    )
