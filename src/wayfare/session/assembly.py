"""What a session is made of: everything is put together here, once, in four stages.

What is said with every request, the log, the kit, and what works beside the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The parts of one session, ready to be joined.

    Attributes:
        kit: Everything a turn works with.
        begun: Its log, opened.
        places: Where its files stand.
        unfinished: Why the last turn of a resumed session did not end by itself, or empty.
    """

    kit: Kit
    begun: Begun
    places: Places
    unfinished: str
    _summarizer: Summarizer
    _children: Children
    _memory: SessionMemory | None
    _side: Model | None

    async def join(self, kit: Callable[[], Kit], background: TaskGroup) -> None:
        """Tie what works beside the loop to a session.

        Args:
            kit: The session's kit as it is then; its model can change.
            background: For tasks that may outlive a turn.
        """
        self._children.parent = kit
        address = notes_address(self.places, self.begun.session)
        workspace = self.places.workspace
        register_sources(self._summarizer.restorer, self.kit, workspace, notes=address)
        if self._memory is None:
            return
        await self._memory.connect(
            self.kit,
            places=self.places,
            tasks=background,
            models=lambda: (self._summarizer.model, self._side or kit().model, kit().model),
        )


async def assembled(wanted: Wanted, background: TaskGroup) -> Assembled:
    """Put a session together; raises as `Session.open` says."""
    said = await _said(wanted)
    begun, found = await _log(wanted, said)
    totals = Totals(usage=found.usage, cost=found.cost, calls=found.calls)
    children = Children(
        places=said.places, saved=begun.how != "unsaved", disk=wanted.disk, sync=wanted.sync
    )
    kit, summarizer = _kit(wanted, said, begun, totals, background, children)
    return Assembled(
        kit=kit,
        begun=begun,
        places=said.places,
        unfinished=found.unfinished,
        _summarizer=summarizer,
        _children=children,
        _memory=said.memory,
        _side=None if said.side is said.model else said.side,
    )


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
