"""A kit in memory: everything a turn works with, without a file; for tests of tools and loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayfare.agent.consent import Ask, Consent
from wayfare.agent.hooks import Hook, Hooks
from wayfare.agent.kit import Kit
from wayfare.agent.limits import Limits
from wayfare.agent.permissions import Mode, Policy
from wayfare.agent.ports import SubagentReport
from wayfare.agent.registry import Registry, ToolLike
from wayfare.agent.tools import ToolContext
from wayfare.clock import Clock, MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.events import Watched, ignore
from wayfare.model import Model
from wayfare.session import governed, memory_transcript
from wayfare.session.wiring import GovernorSight, budget_for, fixed_parts


class EchoingSubagents:
    """Sub-agents that report what they were asked, for tests of whoever starts them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def run(
        self, task: str, *, description: str = "", tools: Sequence[str] | None = None
    ) -> SubagentReport:
        """Report the task."""
        self.asked.append(task)
        return SubagentReport(text=f"asked: {task}", steps=1)

    def running(self) -> Sequence[str]:
        """None are ever at work."""
        return ()


def tool_context(
    governor: Governor, *, workspace: Path, clock: Clock, watch: Watched = ignore
) -> ToolContext:
    """What tools are handed: the session `test`, its folders below `workspace`."""
    return ToolContext(
        workspace=workspace,
        session="test",
        session_folder=workspace / ".transcripts" / "test",
        results_folder=workspace / ".task_outputs" / "tool-results" / "test",
        clock=clock,
        history=governor.transcript,
        sight=GovernorSight(governor),
        subagents=EchoingSubagents(),
        watch=watch,
    )


async def memory_kit(
    model: Model,
    *,
    tools: Iterable[ToolLike] = (),
    workspace: Path | None = None,
    budget: Budget | None = None,
    mode: Mode = "full",
    ask: Ask | None = None,
    hooks: Sequence[Hook] = (),
    limits: Limits | None = None,
    system: str = "You are an agent.",
    clock: Clock | None = None,
    watch: Watched = ignore,
    format: str = "anthropic",
    payload: Mapping[str, Any] | None = None,
) -> Kit:
    """A kit whose log lives in memory and whose clock stands still.

    Args:
        model: Who answers, such as a `ScriptedModel`.
        tools: What it may call.
        workspace: Where tools work; a folder that is not there by default.
        budget: None: the preset `window` for the model's window.
    """
    clock = clock or MovableClock()
    workspace = workspace or Path("/nowhere")
    registry = Registry(tools)
    fixed = fixed_parts(system, registry)
    governor = await governed(
        memory_transcript("test", clock=clock, format=format, watch=watch),
        budget or budget_for(model),
        clock=clock,
        watch=watch,
        declared=registry.declared(),
        fixed_tokens=sum(fixed.values()),
    )
    return Kit(
        model=model,
        governor=governor,
        tools=registry,
        context=tool_context(governor, workspace=workspace, clock=clock, watch=watch),
        consent=Consent(Policy(workspace=workspace, mode=mode), ask=ask, watch=watch),
        clock=clock,
        watch=watch,
        hooks=Hooks(hooks=tuple(hooks), watch=watch),
        limits=limits or Limits(),
        system=system,
        fixed=fixed,
        payload=payload or {},
    )
