"""A session about to be opened: everything is put together here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import TaskGroup

from wayfare.agent.consent import Ask, Consent
from wayfare.agent.hooks import Hook, Hooks
from wayfare.agent.kit import Kit, NoAttachments, nothing_before
from wayfare.agent.limits import Limits, Totals
from wayfare.agent.permissions import Mode, Policy
from wayfare.agent.ports import AfterTurn, Attachments
from wayfare.agent.subagent import Subagents
from wayfare.agent.tools import Registry, ToolContext, ToolLike
from wayfare.backends import Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock
from wayfare.context.budget import Budget
from wayfare.context.recovery import narrowed
from wayfare.events import Event, Watched
from wayfare.model import Model
from wayfare.session.compacting import (
    keeper_for,
    notes_address,
    register_sources,
    summarizer_for,
    with_notes,
)
from wayfare.session.memory_wanted import MemoryWanted
from wayfare.session.memory_wiring import session_memory
from wayfare.session.opening import open_session
from wayfare.session.places import Places
from wayfare.session.session import Session
from wayfare.session.survey import Survey, survey
from wayfare.session.wiring import (
    Children,
    GovernorSight,
    budget_for,
    fixed_parts,
    own_tools,
    prompt_for,
    waiting,
)

if TYPE_CHECKING:
    from wayfare.agent.builtin import Shell

_ROOM_SHARE: Final = 0.2
"""Of the limit: with less than this for messages, every step would have to shrink them again."""


class Opening:
    """A session about to be opened; `async with` opens and closes it."""

    def __init__(self, **wanted: Any) -> None:
        self._wanted = wanted
        self._background = anyio.create_task_group()
        self._session: Session | None = None

    async def __aenter__(self) -> Session:
        await self._background.__aenter__()
        try:
            session = await _opened(background=self._background, **self._wanted)
        except BaseException:
            await self._stop_background()
            raise
        self._session = session
        try:
            await session.begin()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return session

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._session is not None
        try:
            with anyio.CancelScope(shield=True):
                await self._session.close()
        finally:
            await self._stop_background()

    async def _stop_background(self) -> None:
        self._background.cancel_scope.cancel()
        await self._background.__aexit__(None, None, None)


async def _opened(
    *,
    background: TaskGroup,
    workspace: Path,
    model: Model | str,
    side_model: Model | str | None,
    summaries: bool,
    session: str,
    tools: Iterable[ToolLike] | None,
    shell: Shell | None,
    budget: Budget | None,
    policy: Policy | None,
    mode: Mode,
    ask: Ask | None,
    hooks: Sequence[Hook],
    limits: Limits,
    role: str,
    prompt_sections: Sequence[str],
    attachments: Attachments | None,
    after_turn: AfterTurn,
    memory: MemoryWanted | None,
    places: Places | None,
    watch: Watched,
    clock: Clock,
    disk: Disk | None,
    sync: Sync,
) -> Session:
    places = places or Places(workspace=workspace.resolve())
    workspace = places.workspace
    made = waiting(model, clock=clock, watch=watch)
    side = made if side_model is None else waiting(side_model, clock=clock, watch=watch)
    budget = budget or budget_for(made)
    registry = own_tools(budget, shell) if tools is None else Registry(tools)
    remembered = None
    if memory is not None:
        remembered = await session_memory(memory, budget=budget, clock=clock, watch=watch)
    if remembered is not None:
        registry = registry.with_tool(*remembered.tools())
        watch = remembered.watching
    system = prompt_for(workspace, registry, budget, clock, role=role, sections=prompt_sections)
    fixed = fixed_parts(system, registry)
    if remembered is not None:
        fixed["memory index"] = fixed_parts(remembered.tail(), Registry())["system prompt"]
    _tell_fixed(fixed, budget, watch)
    begun = await open_session(
        places,
        session,
        budget=budget,
        clock=clock,
        format=str(getattr(made, "format", "anthropic")),
        sync=sync,
        watch=watch,
        declared=registry.declared(),
        disk=disk,
        fixed_tokens=sum(fixed.values()),
    )
    found = (
        await survey(begun.governor.transcript, made.prices) if begun.how == "resumed" else Survey()
    )
    learned = found.windows.get(made.name)
    if learned is not None and learned < budget.window_tokens:
        begun.governor.budget = narrowed(budget, learned)
    policy = policy or Policy(workspace=workspace, mode=mode)
    totals = Totals(usage=found.usage, cost=found.cost, calls=found.calls)
    asked = side if summaries else None
    keeper = keeper_for(
        begun.governor,
        places,
        begun.session,
        model=asked,
        watch=watch,
        background=background,
        clock=clock,
        disk=disk,
        sync=sync,
    )
    summarizer = summarizer_for(asked, totals=totals, clock=clock, watch=watch, notes=keeper.now)
    saved = begun.how != "unsaved"
    payload = {
        "session_id": begun.session,
        "transcript_path": str(places.log(begun.session)),
        "cwd": str(workspace),
    }
    children = Children(places=places, saved=begun.how != "unsaved", disk=disk, sync=sync)
    subagents = Subagents(children.open, tools=registry, totals=totals)
    kit = Kit(
        model=made,
        governor=begun.governor,
        tools=registry,
        context=ToolContext(
            workspace=workspace,
            session=begun.session,
            session_folder=places.folder(begun.session),
            results_folder=places.results_of(begun.session),
            clock=clock,
            history=begun.governor.transcript,
            sight=GovernorSight(begun.governor),
            subagents=subagents,
            watch=watch,
        ),
        consent=Consent(policy, ask=ask, watch=watch),
        clock=clock,
        watch=watch,
        hooks=Hooks(hooks=tuple(hooks), watch=watch),
        limits=limits,
        totals=totals,
        system=system,
        attachments=attachments or NoAttachments(),
        before_call=keeper.before_call if saved else nothing_before,
        after_turn=with_notes(after_turn, keeper) if saved else after_turn,
        compactor=summarizer,
        fixed=fixed,
        payload=payload,
    )
    if remembered is not None:
        kit = remembered.joined(kit)
    children.parent = kit
    if saved:
        kit.context.kept.put(keeper)
    register_sources(
        summarizer.restorer, kit, workspace, notes=notes_address(places, begun.session)
    )
    if remembered is not None:
        await remembered.connect(
            kit, places=places, tasks=background, models=lambda: (summarizer.model, side, made)
        )
    return Session(
        kit,
        name=begun.session,
        how=begun.how,
        places=places,
        unfinished=found.unfinished,
        background=background,
    )


def _tell_fixed(fixed: Mapping[str, int], budget: Budget, watch: Watched) -> None:
    """Say so when what cannot be shrunk leaves too little room; the first call then fails."""
    taken, limit = sum(fixed.values()), budget.limit_tokens
    if limit - taken >= limit * _ROOM_SHARE:
        return
    sizes = ", ".join(f"{name} {tokens:,}" for name, tokens in fixed.items())
    text = (
        f"system prompt and tools take {taken:,} tokens ({sizes}) of {limit:,} that a window of "
        f"{budget.window_tokens:,} leaves for a request: too little room for messages"
    )
    watch(Event(name="context.fixed", text=text, fields={**fixed, "limit_tokens": limit}))
