"""The parts a session is wired from: its model, budget, prompt, tools and sub-agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wayfare import json_text
from wayfare.agent.kit import Inbox, Kit, NoAttachments, nothing_after, nothing_before
from wayfare.agent.limits import Limits, Totals
from wayfare.agent.ports import CompactionRequests, Kept
from wayfare.agent.registry import Registry
from wayfare.agent.system_prompt import (
    INSTRUCTIONS_CHARS,
    find_instructions,
    system_prompt,
    workspace_facts,
)
from wayfare.backends import Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.recovery import narrowed
from wayfare.context.summarizer import Summarizer
from wayfare.events import Watched, of_agent
from wayfare.model import Model
from wayfare.session.opening import file_transcript, governed, memory_transcript
from wayfare.session.places import Places
from wayfare.tokens import TokenMeter

if TYPE_CHECKING:
    from wayfare.agent.builtin import Shell

_INSTRUCTIONS_SHARE: Final = 0.15
"""Of the limit, as much as the memory index and recalled records may take."""
_CHARS_A_TOKEN: Final = 3
_TOOLS_SHARE: Final = 0.4
"""Of the limit, the most that the schemas of tools take while some of them can be done without."""
_DISPENSABLE: Final = ("task", "grep", "glob", "todo_write")
"""Left out in this order where the window is small: the shell finds files and words as well, and
in such a window there is no work to share out or to list."""


def waiting(model: Model | str, *, clock: Clock, watch: Watched) -> Model:
    """The model of a spec, if it is one, as one that repeats what waiting cures.

    Raises:
        ConfigError: no such model.
        ModelAuthError: it needs a key, and there is none.
    """
    from wayfare.providers.retry import Retrying

    if isinstance(model, str):
        from wayfare.providers.registry import model_from

        model = model_from(model, clock=clock)
    return model if isinstance(model, Retrying) else Retrying(model, clock=clock, watch=watch)


def budget_for(model: Model) -> Budget:
    """The budget for a model's window."""
    return Budget.window(model.window_tokens, max_output_tokens=model.max_output_tokens)


def budget_after(old: Budget, before: Model, model: Model) -> Budget:
    """The budget for another model: the same preset for its window, with every number in which
    `old` differs from the preset it had for `before`; in a smaller window reserve and buffer
    shrink with it."""
    usual = Budget.named(old.name, old.window_tokens, max_output_tokens=before.max_output_tokens)
    set_by_hand = {
        field.name: value
        for field in fields(Budget)
        if field.name != "window_tokens"
        and (value := getattr(old, field.name)) != getattr(usual, field.name)
    }
    preset = Budget.named(old.name, model.window_tokens, max_output_tokens=model.max_output_tokens)
    made = preset.with_(**set_by_hand)
    return narrowed(made, made.window_tokens) if made.window_tokens < old.window_tokens else made


def own_tools(budget: Budget, shell: Shell | None) -> Registry:
    """wayfare's own tools, with results that the budget shows whole."""
    from wayfare.agent.builtin import builtin_tools, result_chars

    return builtin_tools(result_chars=result_chars(budget), shell=shell)


def fitting_tools(tools: Registry, budget: Budget) -> tuple[Registry, tuple[str, ...]]:
    """The tools without those that a small window has no room for, and the names of these.

    In the usual windows of today that is none; with 8,192 tokens it is the four dispensable ones,
    which gives messages twice the room.
    """
    most_tokens = int(budget.limit_tokens * _TOOLS_SHARE)
    left_out: list[str] = []
    for name in _DISPENSABLE:
        if fixed_parts("", tools)["tools"] <= most_tokens:
            break
        if name in tools:
            tools = tools.without([name])
            left_out.append(name)
    return tools, tuple(left_out)


def prompt_for(
    workspace: Path,
    tools: Registry,
    budget: Budget,
    clock: Clock,
    *,
    role: str = "",
    sections: Sequence[str] = (),
) -> str:
    """The system prompt; instruction files get their share of the limit."""
    room_chars = min(INSTRUCTIONS_CHARS, budget.share(_INSTRUCTIONS_SHARE) * _CHARS_A_TOKEN)
    return system_prompt(
        facts=workspace_facts(workspace, now=clock.now()),
        instructions=find_instructions(workspace, most_chars=room_chars),
        has_tools=bool(tools),
        has_task_list="todo_write" in tools,
        role=role,
        extra=sections,
    )


def fixed_parts(system: str, tools: Registry) -> dict[str, int]:
    """What is sent with every request and cannot be shrunk, in estimated tokens, by name."""
    meter = TokenMeter()
    specs: list[Mapping[str, Any]] = [
        {"name": s.name, "description": s.description, "schema": s.schema} for s in tools.specs()
    ]
    schemas = json_text.dumps(specs).decode("utf-8", "replace") if specs else ""
    return {"system prompt": meter.text(system), "tools": meter.text(schemas)}


@dataclass(frozen=True, slots=True)
class GovernorSight:
    """What the model has before it, read from the view."""

    governor: Governor

    def shows(self, call_id: str) -> bool:
        """Whether the result of that call stands whole in the context now."""
        view = self.governor.view
        for at in range(len(view) - 1, -1, -1):
            slot = view[at]
            for position, result in enumerate(slot.message.blocks):
                if getattr(result, "call_id", None) == call_id:
                    return slot.block_number(position) not in slot.shortened
        return False

    def todos(self) -> Sequence[Mapping[str, Any]]:
        """The task list as last written."""
        return self.governor.ledger.todos


class Children:
    """Opens the kits of sub-agents: a log of their own, all else as their parent has it now.

    `parent` gives the kit of the session as it is; it is set once there is one.
    """

    def __init__(self, *, places: Places, saved: bool, disk: Disk | None, sync: Sync) -> None:
        self._places = places
        self._saved = saved
        self._disk = disk
        self._sync: Sync = sync
        self.parent: Callable[[], Kit] = _no_session

    @asynccontextmanager
    async def open(self, number: int, tools: Registry, /) -> AsyncGenerator[Kit]:
        """The kit of one; its log and what its tools kept are closed on the way out."""
        parent = self.parent()
        name = f"{parent.context.session}/agents/{number}-{parent.clock.token()}"
        fixed = {**parent.fixed, "tools": fixed_parts("", tools)["tools"]}
        watch = of_agent(parent.watch, number)
        governor = await self._governor(parent, name, tools, sum(fixed.values()), watch)
        kept = Kept()
        context = replace(
            parent.context,
            session=name,
            session_folder=self._places.folder(name),
            results_folder=self._places.results_of(name),
            history=governor.transcript,
            sight=GovernorSight(governor),
            watch=watch,
            compaction=CompactionRequests(),
            kept=kept,
        )
        try:
            yield replace(
                parent,
                governor=governor,
                tools=tools,
                context=context,
                watch=watch,
                totals=Totals(),
                limits=_rest(parent.limits, parent.totals),
                inbox=Inbox(),
                attachments=NoAttachments(),
                before_call=nothing_before,
                compactor=(
                    parent.compactor.for_subagent()
                    if isinstance(parent.compactor, Summarizer)
                    else parent.compactor
                ),
                after_turn=nothing_after,
                fixed=fixed,
                payload={**parent.payload, "session_id": name},
            )
        finally:
            try:
                await kept.aclose()
            finally:
                await governor.transcript.close()

    async def _governor(
        self, parent: Kit, name: str, tools: Registry, fixed_tokens: int, watch: Watched
    ) -> Governor:
        format = parent.governor.transcript.format
        if self._saved:
            transcript = file_transcript(
                self._places,
                name,
                clock=parent.clock,
                format=format,
                sync=self._sync,
                watch=watch,
                disk=self._disk,
            )
        else:
            transcript = memory_transcript(
                name,
                clock=parent.clock,
                format=format,
                watch=watch,
                unsaved=parent.governor.transcript.unsaved,
            )
        return await governed(
            transcript,
            parent.governor.budget,
            clock=parent.clock,
            watch=watch,
            declared=tools.declared(),
            fixed_tokens=fixed_tokens,
        )


def _no_session() -> Kit:
    raise RuntimeError("the session is not open yet")


def _rest(limits: Limits, used: Totals) -> Limits:
    """What is left of a session's limits for one of its sub-agents."""
    tokens, cost = limits.tokens_per_session, limits.cost_per_session
    return replace(
        limits,
        tokens_per_session=None if tokens is None else max(tokens - used.usage.total_tokens, 0),
        cost_per_session=None if cost is None else max(cost - used.cost, 0.0),
    )
