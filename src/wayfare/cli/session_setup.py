"""From settings to an open session: budget, limits, permissions, hooks, folders, tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wayfare.agent.builtin.shell_settings import Shell
from wayfare.agent.consent import Ask
from wayfare.agent.hooks import Hook, parse_hooks
from wayfare.agent.limits import Limits
from wayfare.agent.policy import Mode, Policy, Rule, Source, parse_rule
from wayfare.cli.heap import giving_back
from wayfare.cli.settings_files import Read
from wayfare.clock import SystemClock
from wayfare.context.budget import Budget
from wayfare.errors import ConfigError
from wayfare.events import Watched
from wayfare.model import Model
from wayfare.session import Places
from wayfare.settings import Loaded, Settings

if TYPE_CHECKING:
    from wayfare.agent.sandbox import Found
    from wayfare.session.session import Session

_SOURCES: Mapping[str, Source] = {
    "user": "user",
    "project": "project",
    "environment": "session",
    "flag": "session",
}


def places_of(read: Read) -> Places:
    """Where the workspace keeps its sessions."""
    folders = read.settings.folders
    return Places(
        workspace=read.workspace, transcripts=folders.transcripts, results=folders.results
    )


def budget_of(settings: Settings, model: Model) -> Budget:
    """The budget for a model: a preset with the numbers that are set.

    Raises:
        ConfigError: a window too small to govern.
    """
    preset = Budget.named(
        settings.context.budget, model.window_tokens, max_output_tokens=model.max_output_tokens
    )
    return preset.with_(**settings.context.numbers())


def limits_of(settings: Settings) -> Limits:
    """How far turns and the session go."""
    return Limits(**{f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)})


def rules_of(loaded: Loaded) -> tuple[Rule, ...]:
    """The permission rules, each with who made it.

    Raises:
        ConfigError: a text that is no rule.
    """
    permissions = loaded.settings.permissions
    rules: list[Rule] = []
    for decision in ("allow", "ask", "deny"):
        texts: tuple[str, ...] = getattr(permissions, decision)
        sources = loaded.sources.get(f"permissions.{decision}", ())
        for text, source in zip(texts, sources, strict=True):
            rules.append(parse_rule(text, decision, _SOURCES.get(source.kind, "user")))
    return tuple(rules)


def policy_of(read: Read, mode: str = "") -> Policy:
    """Rules and mode for the workspace; the folders only wayfare writes are closed.

    Args:
        read: The settings.
        mode: Another mode than the one that is set.

    Raises:
        ConfigError: a text that is no rule.
    """
    from wayfare.agent.trust import state_folder

    folders = read.settings.folders
    closed = tuple(dict.fromkeys((folders.memory, folders.transcripts, _top(folders.results))))
    return Policy(
        workspace=read.workspace,
        mode=cast("Mode", mode or read.settings.permissions.mode),
        rules=rules_of(read.loaded),
        closed=closed,
        own_paths=(read.user.parent, state_folder()),
    )


def _top(folder: str) -> str:
    """The first folder of a relative path; an absolute one as it is."""
    parts = Path(folder).parts
    return folder if not parts or Path(folder).is_absolute() else parts[0]


def hooks_of(settings: Settings) -> tuple[Hook, ...]:
    """The hooks of all sources, in rising order.

    Raises:
        ConfigError: one that is not valid; names the part that is not.
    """
    return tuple(hook for value in settings.hooks for hook in parse_hooks(value))


def shell_of(settings: Settings, sandbox: Found | None) -> Shell:
    """How shell commands run.

    Raises:
        ConfigError: a sandbox is required and the machine has none; says why.
    """
    from wayfare.agent.sandbox import Sandbox

    shell = settings.shell
    given: dict[str, Any] = {f.name: getattr(shell, f.name) for f in fields(shell)}
    if isinstance(sandbox, Sandbox):
        return Shell(**given, sandbox=sandbox)
    if settings.permissions.sandbox == "required":
        reason = sandbox.reason if sandbox is not None else "none was looked for"
        text = f"permissions.sandbox is required, and commands cannot be confined here: {reason}"
        raise ConfigError(text, setting="permissions.sandbox", value="required")
    return Shell(**given)


async def session_options(
    read: Read,
    model: Model,
    *,
    watch: Watched,
    ask: Ask | None,
    session: str = "",
    mode: str = "",
) -> dict[str, Any]:
    """What `Session.open` takes, from the settings.

    Args:
        read: The settings.
        model: Who answers.
        watch: Told what happens.
        ask: How a person is asked; None: nobody can be.
        session: Goes on with that one; empty: a fresh one.
        mode: Another mode than the one that is set.

    Raises:
        ConfigError: a setting that is not valid together with this machine or model.
    """
    from wayfare.cli.memory_opening import session_memories

    settings = read.settings
    return {
        "workspace": read.workspace,
        "model": model,
        "side_model": _side_model(settings, watch) if settings.side_model.name else None,
        "summaries": settings.context.summaries,
        "session": session,
        "shell": await _shell(settings),
        "budget": budget_of(settings, model),
        "policy": policy_of(read, mode),
        "ask": ask,
        "hooks": hooks_of(settings),
        "limits": limits_of(settings),
        "role": settings.prompt.role,
        "prompt_sections": (settings.prompt.extra,) if settings.prompt.extra else (),
        "places": places_of(read),
        "memory": session_memories(read),
        "watch": giving_back(watch),
    }


def _side_model(settings: Settings, watch: Watched) -> Model:
    from wayfare.cli.model_choice import open_model

    return open_model(settings, clock=SystemClock(), watch=watch, side=True)


async def _shell(settings: Settings) -> Shell:
    from wayfare.agent.sandbox import find_sandbox

    wanted = settings.permissions.sandbox != "off"
    return shell_of(settings, await find_sandbox() if wanted else None)


async def made_ready(session: Session, read: Read, *, watch: Watched) -> None:
    """What follows the opening of a session: its model noted, MCP servers started.

    Servers are started side by side; one that fails is told as `mcp.failed` and left out.
    """
    from wayfare.cli.session_list import note_model

    await note_model(session)
    if not any(server.enabled for server in read.settings.mcp.values()):
        return
    from wayfare.agent.mcp import McpServers

    servers = McpServers(
        read.settings.mcp,
        tasks=session.background,
        workspace=read.workspace,
        folder=session.places.folder(session.name),
        watch=watch,
    )
    session.kit.context.kept.put(servers)
    session.add_tools(*await servers.tools())
