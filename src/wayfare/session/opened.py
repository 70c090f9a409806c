"""A session about to be opened: everything is put together here, once, in four stages.

What is said with every request, the log, the kit, and what works beside the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import TaskGroup

from wayfare.agent.consent import Consent
from wayfare.agent.hooks import Hooks
from wayfare.agent.kit import Kit, NoAttachments, nothing_before
from wayfare.agent.limits import Totals
from wayfare.agent.permissions import Policy
from wayfare.agent.registry import Registry
from wayfare.agent.subagent import Subagents
from wayfare.agent.tools import ToolContext
from wayfare.context.budget import Budget
from wayfare.context.recovery import narrowed
from wayfare.context.summarizer import Summarizer
from wayfare.events import Event, Watched
from wayfare.model import Model, format_of
from wayfare.session.compacting import (
    keeper_for,
    notes_address,
    register_sources,
    summarizer_for,
    with_notes,
)
from wayfare.session.opening import Begun, open_session
from wayfare.session.places import Places
from wayfare.session.session import Session
from wayfare.session.survey import Survey, survey
from wayfare.session.wanted import Wanted
from wayfare.session.wiring import (
    Children,
    GovernorSight,
    budget_for,
    fitting_tools,
    fixed_parts,
    own_tools,
    prompt_for,
    waiting,
)

if TYPE_CHECKING:
    from wayfare.session.memory_wiring import SessionMemory

_ROOM_SHARE: Final = 0.2
"""Of the limit: with less than this for messages, every step would have to shrink them again."""


class Opening:
    """A session about to be opened; `async with` opens and closes it."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._background = anyio.create_task_group()
        self._session: Session | None = None

    async def __aenter__(self) -> Session:
        await self._background.__aenter__()
        try:
            session = await _opened(self._wanted, self._background)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What every request says, who answers it, and within which budget."""

    places: Places
    model: Model
    side: Model
    budget: Budget
    tools: Registry
    memory: SessionMemory | None
    system: str
    fixed: dict[str, int]
    watch: Watched


async def _opened(wanted: Wanted, background: TaskGroup) -> Session:
    said = await _said(wanted)
    begun, found = await _log(wanted, said)
    totals = Totals(usage=found.usage, cost=found.cost, calls=found.calls)
    children = Children(
        places=said.places, saved=begun.how != "unsaved", disk=wanted.disk, sync=wanted.sync
    )
    kit, summarizer = _kit(wanted, said, begun, totals, background, children)
    session = Session(
        kit,
        name=begun.session,
        how=begun.how,
        places=said.places,
        unfinished=found.unfinished,
        background=background,
    )
    children.parent = lambda: session.kit
    address = notes_address(said.places, begun.session)
    register_sources(summarizer.restorer, kit, said.places.workspace, notes=address)
    if said.memory is not None:
        await said.memory.connect(
            kit,
            places=said.places,
            tasks=background,
            models=lambda: (
                summarizer.model,
                session.model if said.side is said.model else said.side,
                session.model,
            ),
        )
    return session


async def _said(wanted: Wanted) -> _Said:
    """Models, budget, tools and system prompt, and what they take."""
    clock, watch = wanted.clock, wanted.watch
    places = wanted.places or Places(workspace=wanted.workspace.resolve())
    model = waiting(wanted.model, clock=clock, watch=watch)
    side = model
    if wanted.side_model is not None:
        side = waiting(wanted.side_model, clock=clock, watch=watch)
    budget = wanted.budget or budget_for(model)
    tools = own_tools(budget, wanted.shell) if wanted.tools is None else Registry(wanted.tools)
    memory = None
    if wanted.memory is not None:
        # A session without a memory should not pay for it.
        from wayfare.session.memory_wiring import session_memory

        memory = await session_memory(wanted.memory, budget=budget, clock=clock, watch=watch)
    if memory is not None:
        tools = tools.with_tool(*memory.tools())
        watch = memory.watching
    left_out: tuple[str, ...] = ()
    if wanted.tools is None:
        tools, left_out = fitting_tools(tools, budget)
    system = prompt_for(
        places.workspace,
        tools,
        budget,
        clock,
        role=wanted.role,
        sections=wanted.prompt_sections,
    )
    fixed = fixed_parts(system, tools)
    if memory is not None:
        fixed["memory index"] = fixed_parts(memory.tail(), Registry())["system prompt"]
    _tell_fixed(fixed, budget, left_out, watch)
    return _Said(
        places=places,
        model=model,
        side=side,
        budget=budget,
        tools=tools,
        memory=memory,
        system=system,
        fixed=fixed,
        watch=watch,
    )


async def _log(wanted: Wanted, said: _Said) -> tuple[Begun, Survey]:
    """The log, opened, with what it tells of the session so far."""
    begun = await open_session(
        said.places,
        wanted.session,
        budget=said.budget,
        clock=wanted.clock,
        format=format_of(said.model),
        sync=wanted.sync,
        watch=said.watch,
        declared=said.tools.declared(),
        disk=wanted.disk,
        fixed_tokens=sum(said.fixed.values()),
    )
    found = await survey(begun.governor.transcript, said.model.prices)
    if begun.how != "resumed":
        return begun, Survey()
    learned = found.windows.get(said.model.name)
    if learned is not None and learned < said.budget.window_tokens:
        begun.governor.budget = narrowed(said.budget, learned)
    return begun, found


def _kit(
    wanted: Wanted,
    said: _Said,
    begun: Begun,
    totals: Totals,
    background: TaskGroup,
    children: Children,
) -> tuple[Kit, Summarizer]:
    """Everything a turn works with; the summarizer among it restores what is registered."""
    clock, watch, places = wanted.clock, said.watch, said.places
    saved = begun.how != "unsaved"
    asked = said.side if wanted.summaries else None
    keeper = keeper_for(
        begun.governor,
        places,
        begun.session,
        model=asked,
        watch=watch,
        background=background,
        clock=clock,
        disk=wanted.disk,
        sync=wanted.sync,
    )
    summarizer = summarizer_for(asked, totals=totals, clock=clock, watch=watch, notes=keeper.now)
    subagents = Subagents(children.open, tools=lambda: children.parent().tools, totals=totals)
    kit = Kit(
        model=said.model,
        governor=begun.governor,
        tools=said.tools,
        context=_context(said, begun, subagents, wanted),
        consent=Consent(
            wanted.policy or Policy(workspace=places.workspace, mode=wanted.mode),
            ask=wanted.ask,
            watch=watch,
        ),
        clock=clock,
        watch=watch,
        hooks=Hooks(hooks=tuple(wanted.hooks), watch=watch),
        limits=wanted.limits,
        totals=totals,
        system=said.system,
        attachments=wanted.attachments or NoAttachments(),
        before_call=keeper.before_call if saved else nothing_before,
        after_turn=with_notes(wanted.after_turn, keeper) if saved else wanted.after_turn,
        compactor=summarizer,
        fixed=said.fixed,
        payload={
            "session_id": begun.session,
            "transcript_path": str(places.log(begun.session)),
            "cwd": str(places.workspace),
        },
    )
    if said.memory is not None:
        kit = said.memory.joined(kit)
    if saved:
        kit.context.kept.put(keeper)
    return kit, summarizer


def _context(said: _Said, begun: Begun, subagents: Subagents, wanted: Wanted) -> ToolContext:
    """What tools are handed."""
    places = said.places
    return ToolContext(
        workspace=places.workspace,
        session=begun.session,
        session_folder=places.folder(begun.session),
        results_folder=places.results_of(begun.session),
        clock=wanted.clock,
        history=begun.governor.transcript,
        sight=GovernorSight(begun.governor),
        subagents=subagents,
        watch=said.watch,
    )


def _tell_fixed(
    fixed: Mapping[str, int], budget: Budget, left_out: Sequence[str], watch: Watched
) -> None:
    """Say which tools a small window had no room for, and when what cannot be shrunk leaves too
    little room all the same: the first call then fails."""
    taken, limit = sum(fixed.values()), budget.limit_tokens
    cramped = limit - taken < limit * _ROOM_SHARE
    if not cramped and not left_out:
        return
    sizes = ", ".join(f"{name} {tokens:,}" for name, tokens in fixed.items())
    text = (
        f"system prompt and tools take {taken:,} tokens ({sizes}) of {limit:,} that a window of "
        f"{budget.window_tokens:,} leaves for a request"
    )
    if cramped:
        text += ": too little room for messages"
    if left_out:
        text += f"; tools left out to make room: {', '.join(left_out)}"
    told = list(left_out)
    watch(
        Event(
            name="context.fixed",
            text=text,
            fields={**fixed, "limit_tokens": limit, "left_out": told},
        )
    )
