"""Memory in a session: opened, shown in the prompt, recalled, written by tools, kept up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from anyio.abc import TaskGroup

from wayfare.agent.hooks import Hooks
from wayfare.agent.kit import Kit
from wayfare.agent.ports import AfterTurn, Pending
from wayfare.agent.system_prompt import prompt_text
from wayfare.agent.tools import Runs, Tool, ToolContext, ToolOutput, failure
from wayfare.clock import Clock
from wayfare.context.budget import Budget
from wayfare.errors import StoreError
from wayfare.events import Event, Watched
from wayfare.memory import (
    OWN_PREFIX,
    Recall,
    RecallSource,
    SideQuery,
    Utterance,
    memory_tools,
    take_report,
)
from wayfare.memory.side_query import fenced
from wayfare.messages import Message
from wayfare.model import Model, Usage
from wayfare.session.extracting_agent import AgentQuery
from wayfare.session.memory_hooks import asking
from wayfare.session.memory_upkeep import Upkeep
from wayfare.session.memory_wanted import MemoryWanted, OpenMemory, opened_memory
from wayfare.session.places import Places
from wayfare.session.recalling import Recalling
from wayfare.session.said import Said
from wayfare.session.side_query import ModelSideQuery
from wayfare.tokens import TokenMeter

_INDEX_SHARE: Final = 0.05
"""Of the limit, as much the index takes at most; its own caps are smaller in a large window."""
_RECALL_SHARE: Final = 0.1
"""Of the limit, as much the records recalled for one turn take at most."""
_CHARS_A_TOKEN: Final = 3

PREFIX_BROKEN: Final = frozenset(
    {
        *("compaction.done", "context.digest", "context.summary", "context.notes"),
        *("context.reactive", "context.snip", "model.changed"),
    }
)
"""Events after which the provider's cache begins anew anyway: the index may be written anew."""


class SessionMemory:
    """The memories of one session; made by `session_memory`, then connected to its kit."""

    def __init__(
        self,
        wanted: MemoryWanted,
        project: OpenMemory,
        user: OpenMemory | None,
        *,
        budget: Budget,
        clock: Clock,
        watch: Watched,
    ) -> None:
        chars = budget.share(_RECALL_SHARE) * _CHARS_A_TOKEN
        limits = wanted.limits
        self.wanted = replace(
            wanted, limits=replace(limits, recall_turn_chars=min(limits.recall_turn_chars, chars))
        )
        self._project = project
        self._user = user
        self._index_chars = budget.share(_INDEX_SHARE) * _CHARS_A_TOKEN
        self._clock = clock
        self._watch = watch
        self._stale = False
        self._tail = self._section()
        self._kit: Kit | None = None
        self._said: Said | None = None
        self._recalling: Recalling | None = None
        self._upkeep: Upkeep | None = None
        self._wrote = False
        self._unwritten: list[tuple[str, Usage]] = []

    def watching(self, event: Event) -> None:
        """Tell an event on; one that says the prefix broke lets the index be written anew."""
        if event.name in PREFIX_BROKEN and "agent" not in event.fields:
            self._stale = True
        self._watch(event)

    def tail(self) -> str:
        """The last section of the system prompt: rules and index, the same until the prefix
        breaks."""
        if self._stale:
            self._stale = False
            before, self._tail = self._tail, self._section()
            if self._kit is not None and self._tail != before:
                meter = TokenMeter()
                self._kit.governor.fixed_tokens += meter.text(self._tail) - meter.text(before)
        return self._tail

    def tools(self) -> tuple[Tool, ...]:
        """The agent's four memory tools."""
        store, search = self._project.store, self._project.search
        made = memory_tools(
            store, search, said=self._evidence, wrote=self._note_write, own=self._own_source()
        )
        return tuple(replace(tool, run=self._after_reading(tool)) for tool in made)

    def joined(self, kit: Kit) -> Kit:
        """The kit with memory at its ports, in the prompt and before each turn."""
        return replace(
            kit,
            tail=self.tail,
            attachments=self,
            after_turn=both(kit.after_turn, self.after_turn),
        )

    async def connect(
        self,
        kit: Kit,
        *,
        places: Places,
        tasks: TaskGroup,
        models: Callable[[], Sequence[Model | None]],
    ) -> None:
        """Begin to work beside a session.

        Args:
            kit: The session's.
            places: Where the workspace keeps its sessions.
            tasks: Where background work runs.
            models: Who answers side queries now, first the one for them; None is passed over.
        """
        self._kit = kit
        self._project.store.ask_first = asking(kit.hooks, lambda: kit.payload)
        limits = self.wanted.limits
        side = (
            ModelSideQuery(lambda: one_each(*models()), self._spent)
            if self.wanted.asks_model
            else None
        )
        said = self._said = Said(kit.context.history)
        said.keep_with(kit.governor.transcript)
        own = self._own_source()
        recall = Recall(
            self._project.store,
            self._project.search,
            side,
            also=[] if own is None else [own],
            exists=_exists_in(places.workspace),
            watch=self._watch,
        )
        self._recalling = Recalling(
            recall,
            said,
            kit.governor,
            tasks,
            wait_seconds=limits.recall_wait_seconds,
            turns=limits.recall_query_turns,
            watch=self._watch,
        )
        await self._recalling.resume()
        self._upkeep = Upkeep(
            self._project,
            self.wanted,
            side,
            said,
            finds=side and self._finding(side, lambda: one_each(*models()), kit.context),
            session=kit.context.session,
            places=places,
            tasks=tasks,
            clock=self._clock,
            watch=self._watch,
        )
        kit.context.kept.put(self)
        await self._tell_dream()
        self._upkeep.begin()

    def begin(self, request: Message) -> Pending:
        """The port before a turn."""
        assert self._recalling is not None
        assert self._upkeep is not None
        self._wrote = False
        self._upkeep.turn_begins()
        return self._recalling.begin(request)

    async def after_turn(self, ended: str, /) -> None:
        """The port after a turn. One that did not end by itself is read with the next."""
        await self._write_usage()
        if ended == "done" and self._upkeep is not None:
            self._upkeep.turn_done(agent_wrote=self._wrote)

    async def aclose(self) -> None:
        """Wait a little for what is at work, then let go."""
        if self._upkeep is not None:
            await self._upkeep.drain()
        await self._write_usage()
        for memory in filter(None, (self._project, self._user)):
            await memory.close()

    def _own_source(self) -> RecallSource | None:
        """The user's own memory, beside the project's."""
        own = self._user
        if own is None:
            return None
        return RecallSource(
            store=own.store, search=own.search, prefix=OWN_PREFIX, address=f"{own.folder}/"
        )

    def _section(self) -> str:
        parts = [prompt_text("memory_section.md")]
        for scope, memory in (("project", self._project), ("user", self._user)):
            if memory is not None and memory.store.entries:
                text = _fitting(memory.store.index().text, self._index_chars)
                parts.append(fenced("memory-index", text, scope=scope))
        return "\n\n".join(parts)

    def _finding(
        self, side: SideQuery, models: Callable[[], Sequence[Model]], context: ToolContext
    ) -> SideQuery:
        """Who finds what should be kept."""
        if self.wanted.limits.extract_mode == "query":
            return side
        return AgentQuery(
            models,
            memory_tools(self._project.store, self._project.search, said=tuple),
            context,
            steps=self.wanted.limits.extract_steps,
            seconds=self.wanted.limits.extract_agent_seconds,
            spent=self._spent,
            otherwise=side,
        )

    def _evidence(self) -> Sequence[Utterance]:
        return self._said.evidence() if self._said is not None else ()

    def _note_write(self) -> None:
        self._wrote = True

    def _after_reading(self, tool: Tool) -> Runs:
        """The tool, with the log read up to its call and the `MemoryWrite` hooks asked."""

        async def run(given: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            if not tool.read_only:
                if self._said is not None:
                    await self._said.catch_up()
                reason = await self._kept_out(tool.name, given)
                if reason:
                    return failure(f"a hook kept this out of memory: {reason}")
            return await tool.run(given, context)

        return run

    async def _kept_out(self, tool: str, given: Mapping[str, Any]) -> str:
        kit = self._kit
        hooks = kit.hooks if kit is not None else Hooks()
        payload = {**(kit.payload if kit is not None else {}), "tool": tool, **given}
        said = await hooks.run("MemoryWrite", payload)
        return (said.reason or "it gave no reason") if said.blocked else ""

    def _spent(self, usage: Usage, model: Model) -> None:
        if self._kit is not None:
            self._kit.totals.count(usage, model.prices)
        self._unwritten.append((model.name, usage))

    async def _write_usage(self) -> None:
        """Usage enters the log between steps: never while the governor commits edits."""
        if self._kit is None:
            return
        taken, self._unwritten = self._unwritten, []
        try:
            for name, usage in taken:
                await self._kit.governor.transcript.add_usage("memory", name, usage)
        except StoreError as error:
            self._watch(Event(name="memory.usage_lost", text=str(error)))

    async def _tell_dream(self) -> None:
        try:
            report = await take_report(self._project.store.storage.state)
        except StoreError:
            return
        if report:
            self._watch(Event(name="memory.dreamt", text=f"since the last session: {report}"))


async def session_memory(
    wanted: MemoryWanted, *, budget: Budget, clock: Clock, watch: Watched
) -> SessionMemory | None:
    """Open a session's memories; None, and said, when the project's cannot be read or is off."""
    if not wanted.limits.enabled:
        return None
    limits = wanted.limits
    project = await opened_memory(
        wanted.project,
        clock=clock,
        scope="project",
        limits=limits,
        watch=watch,
        disk=wanted.disk,
        gate=wanted.gate,
    )
    if project is None:
        return None
    user = None
    if wanted.user is not None:  # one that is not there yet is made by its first record
        user = await opened_memory(
            wanted.user, clock=clock, scope="user", limits=limits, watch=watch
        )
    return SessionMemory(wanted, project, user, budget=budget, clock=clock, watch=watch)


def both(first: AfterTurn, second: AfterTurn) -> AfterTurn:
    """The port after a turn for two who wait for it."""

    async def after(ended: str, /) -> None:
        await first(ended)
        await second(ended)

    return after


def one_each(*models: Model | None) -> list[Model]:
    """Models in order, each once, those that are not there left out."""
    found: list[Model] = []
    for model in models:
        if model is not None and all(model is not one for one in found):
            found.append(model)
    return found


def _fitting(index: str, chars: int) -> str:
    """The first lines of an index that fit, and how many are missing."""
    if len(index) <= chars:
        return index
    lines = index.splitlines()
    kept: list[str] = []
    for line in lines:
        chars -= len(line) + 1
        if chars < 0:
            break
        kept.append(line)
    return "\n".join([*kept, f"… {len(lines) - len(kept)} more: memory_search finds them"])


def _exists_in(workspace: Path) -> Callable[[str], bool]:
    def exists(path: str) -> bool:
        try:
            return (workspace / path).exists()
        except (OSError, ValueError):
            return False

    return exists
