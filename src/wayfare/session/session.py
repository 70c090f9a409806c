"""`Session`: opens the real stores, the model and the governor, wires them, runs turns, closes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from wayfare.agent.compaction import compact
from wayfare.agent.consent import Ask, Consent
from wayfare.agent.hooks import Hook
from wayfare.agent.kit import Kit, Learned, nothing_after
from wayfare.agent.limits import Limits, Totals
from wayfare.agent.loop import run_turn
from wayfare.agent.permissions import Mode, Policy
from wayfare.agent.ports import AfterTurn, Attachments
from wayfare.agent.registry import ToolLike
from wayfare.agent.turn import Ended, append, system_words
from wayfare.backends import Sync
from wayfare.backends.disk import Disk
from wayfare.clock import Clock, SystemClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer
from wayfare.errors import CannotFit
from wayfare.events import Watched, ignore
from wayfare.messages import Message
from wayfare.model import Model
from wayfare.notes.keeper import Keeper
from wayfare.session.places import Places
from wayfare.session.wanted import Wanted
from wayfare.session.wiring import (
    budget_after,
    fixed_parts,
    waiting,
)
from wayfare.transcript import EditEntry

if TYPE_CHECKING:
    from wayfare.agent.builtin import Shell
    from wayfare.session.assembly import Assembled
    from wayfare.session.memory_wanted import MemoryWanted


class Session:
    """One session, open: `async with Session.open(model=…) as s: await s.run("…")`.

    Attributes:
        name: Its name; `Session.open(session=name)` goes on with it.
        how: `fresh`, `resumed`, or `unsaved` when the workspace cannot be written.
        places: Where its files stand.
        unfinished: Why the last turn of a resumed session did not end by itself; empty when it
            did. `go_on()` continues it.
        background: Tasks that may outlive a turn; cancelled when the session closes.
    """

    def __init__(self, parts: Assembled, background: TaskGroup) -> None:
        self._kit = parts.kit
        self._scope: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()
        # A turn, a compaction asked for and an undo change the view: one at a time.
        self._changing = anyio.Lock()
        self.name = parts.begun.session
        self.how = parts.begun.how
        self.places = parts.places
        self.unfinished = parts.unfinished
        self.background = background

    @staticmethod
    def open(
        workspace: Path | str = ".",
        *,
        model: Model | str,
        side_model: Model | str | None = None,
        summaries: bool = True,
        session: str = "",
        tools: Iterable[ToolLike] | None = None,
        shell: Shell | None = None,
        budget: Budget | None = None,
        policy: Policy | None = None,
        mode: Mode = "ask",
        ask: Ask | None = None,
        hooks: Sequence[Hook] = (),
        limits: Limits | None = None,
        role: str = "",
        prompt_sections: Sequence[str] = (),
        attachments: Attachments | None = None,
        after_turn: AfterTurn = nothing_after,
        memory: MemoryWanted | None = None,
        places: Places | None = None,
        watch: Watched = ignore,
        clock: Clock | None = None,
        disk: Disk | None = None,
        sync: Sync = "always",
    ) -> Opening:
        """Open a session; to be used with `async with`.

        Args:
            workspace: Its root; printed addresses are relative to it.
            model: A model, or the name of one, such as `anthropic:claude-…`.
            side_model: Who answers side queries, such as summaries; None: `model`.
            summaries: Whether a model is asked for them; without, compactions are digests.
            session: Goes on with that one; empty: a fresh one.
            tools: What the model may call; None: wayfare's own.
            shell: Settings of wayfare's own shell tools, the sandbox among them.
            budget: None: the preset `window` for the model's window.
            policy: Permissions; None: no rules, `mode`.
            mode: The mode where no policy is given.
            ask: How a person is asked; None: nobody can be, and what would be asked is denied.
            hooks: What is hung onto events.
            limits: How far turns go.
            role: Stands in place of wayfare's own role and rules in the system prompt.
            prompt_sections: Come last in it: rules and index of memory.
            attachments: The port before a turn.
            after_turn: The port after a turn.
            memory: Which long-term memories it has; None: none.
            places: Where the workspace keeps its sessions.
            watch: Told what happens, streamed text included (`stream.text`).
            clock: Time and chance.
            disk: For tests: what the logs are written through.
            sync: When appends are flushed.

        Entering raises:
            LeaseHeld: another process writes this session; names it.
            ConfigError: no such model, or two tools of one name.
        """
        wanted = Wanted(
            workspace=Path(workspace),
            model=model,
            side_model=side_model,
            summaries=summaries,
            session=session,
            tools=tools,
            shell=shell,
            budget=budget,
            policy=policy,
            mode=mode,
            ask=ask,
            hooks=hooks,
            limits=limits or Limits(),
            role=role,
            prompt_sections=prompt_sections,
            attachments=attachments,
            after_turn=after_turn,
            memory=memory,
            places=places,
            watch=watch,
            clock=clock or SystemClock(),
            disk=disk,
            sync=sync,
        )
        return Opening(wanted)

    @property
    def kit(self) -> Kit:
        """Everything a turn works with."""
        return self._kit

    @property
    def governor(self) -> Governor:
        """Keeps the context; holds the log."""
        return self._kit.governor

    @property
    def model(self) -> Model:
        """Who answers."""
        return self._kit.model

    @property
    def totals(self) -> Totals:
        """What the session used so far."""
        return self._kit.totals

    @property
    def consent(self) -> Consent:
        """Permissions: their mode and rules can be changed while a turn runs."""
        return self._kit.consent

    @property
    def messages(self) -> tuple[Message, ...]:
        """The context as the model would see it now."""
        return tuple(self._kit.governor.view.messages())

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self._scope is not None

    async def run(self, task: str | Message) -> Ended:
        """Run one turn. While one is under way use `queue`.

        Raises:
            ModelError: what neither waiting nor shrinking cured; the session stays valid.
            CannotFit: what may not be shrunk does not fit; names the parts.
            WriteFailed: the log cannot be written.
            RuntimeError: a turn is under way.
        """
        return await self._turn(task)

    async def go_on(self) -> Ended:
        """Go on where the last turn stopped, without a new message; raises as `run` does."""
        return await self._turn(None)

    async def _turn(self, task: str | Message | None) -> Ended:
        if self._scope is not None:
            raise RuntimeError("a turn is under way; queue what is to be said")
        scope = self._scope = anyio.CancelScope()
        self._idle = anyio.Event()
        self.unfinished = ""
        ended: list[Ended] = []
        failed: list[BaseException] = []

        async def work() -> None:
            try:
                async with self._changing:
                    ended.append(await run_turn(self._kit, task, scope=scope))
            except Exception as error:
                failed.append(error)

        try:
            # In a task of its own: a cancellation that knows nothing of shields, as `wait_for`
            # sends it, reaches this task and not one that is appending to the log.
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
        finally:
            self._scope = None
            self._idle.set()
        if failed:
            raise failed[0]
        return ended[0]

    def queue(self, text: str) -> None:
        """What is typed while a turn runs; appended after the batch of tools under way."""
        self._kit.inbox.put(text)

    def interrupt(self) -> None:
        """End the turn under way cleanly; `run` then returns with `interrupted`."""
        if self._scope is not None:
            self._scope.cancel()

    async def compact(self, focus: str = "") -> tuple[EditEntry, ...]:
        """Compact between turns; while one runs, after the batch or the reply under way. A turn
        that is begun meanwhile waits for it.

        Raises:
            WriteFailed: what had to leave the context could not be archived; nothing changed.
        """
        if self._scope is not None:
            self._kit.context.compaction.ask(focus, trigger="manual")
            return ()
        async with self._changing:
            return await compact(self._kit, focus=focus)

    async def undo(self) -> EditEntry:
        """Take back the newest edits that shrank the context.

        Raises:
            NotFound: there are none.
            RuntimeError: a turn is under way.
        """
        if self._scope is not None:
            raise RuntimeError("a turn is under way; take back after it")
        async with self._changing:
            return await self._kit.governor.undo()

    async def branch(self, before: int = 0) -> str:
        """Begin another session with what this one held before an entry; returns its name.

        Args:
            before: The first entry left out; 0: of the newest compaction.

        Raises:
            NotFound: there is no compaction, or no such entry.
            WriteFailed: the branch cannot be written.
        """
        from wayfare.session.branching import branched

        transcript = self._kit.governor.transcript
        return await branched(self.places, transcript, before=before, clock=self._kit.clock)

    async def change_model(self, model: Model | str) -> None:
        """Use another model from the next call on; its smaller window is tried first. Numbers of
        the budget that were set stay set.

        Raises:
            CannotFit: the context cannot be made to fit it; the present model stays.
            ConfigError: no such model.
            RuntimeError: a turn is under way.
        """
        if self._scope is not None:
            raise RuntimeError("a turn is under way; change the model after it")
        kit, governor = self._kit, self._kit.governor
        made = waiting(model, clock=kit.clock, watch=kit.watch)
        kept, calibration = governor.budget, governor.calibration
        governor.change_model(budget_after(kept, kit.model, made))
        try:
            governor.preview()
        except CannotFit:
            governor.budget, governor.calibration = kept, calibration
            raise
        await governor.transcript.mark("model", {"model": made.name})
        if isinstance(kit.compactor, Summarizer) and kit.compactor.model is kit.model:
            kit.compactor.model = made
        keeper = kit.context.kept.get(Keeper)
        if keeper is not None and keeper.model is kit.model:
            keeper.model = made
        self._kit = replace(kit, model=made, learned=Learned())
        kit.tell("model.changed", f"the model is {made.name}", model=made.name)

    def add_tools(self, *tools: ToolLike) -> None:
        """More tools from the next turn on, such as those of an MCP server."""
        kit = self._kit
        registry = kit.tools.with_tool(*tools)
        fixed = {**kit.fixed, "tools": fixed_parts("", registry)["tools"]}
        kit.governor.fixed_tokens = sum(fixed.values())
        kit.governor.declare(registry.declared())
        self._kit = replace(kit, tools=registry, fixed=fixed)

    async def begin(self) -> None:
        """Tell hooks that the session is open; what they say stands before the model."""
        kit = self._kit
        source = "resume" if self.how == "resumed" else "startup"
        said = await kit.hooks.run("SessionStart", {**kit.payload, "source": source})
        if said.additional_context:
            await append(kit, *map(system_words, said.additional_context))

    async def close(self) -> None:
        """Stop the turn under way, tell hooks, close what tools kept, let go of the log."""
        kit = self._kit
        self.interrupt()
        await self._idle.wait()
        await kit.hooks.run("SessionEnd", {**kit.payload, "reason": "closed"})
        try:
            await kit.context.kept.aclose()
        finally:
            await kit.governor.transcript.close()


class Opening:
    """A session about to be opened; `async with` opens and closes it."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._background = anyio.create_task_group()
        self._session: Session | None = None

    async def __aenter__(self) -> Session:
        # What a session is made of is imported when one is.
        from wayfare.session.assembly import assembled

        await self._background.__aenter__()
        try:
            parts = await assembled(self._wanted, self._background)
            session = Session(parts, self._background)
            try:
                await parts.join(lambda: session.kit, self._background)
            except BaseException:
                await session.governor.transcript.close()
                raise
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
