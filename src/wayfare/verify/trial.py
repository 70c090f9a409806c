"""A trial: one experiment with one model in one fresh workspace, and what there is to judge it by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from wayfare import json_text
from wayfare.agent.limits import Limits
from wayfare.agent.policy import Policy, Rule
from wayfare.agent.ports import AfterTurn
from wayfare.agent.tools import Tool, ToolContext, ToolOutput
from wayfare.agent.turn import Ended
from wayfare.clock import Clock, SystemClock
from wayfare.context.budget import Budget
from wayfare.errors import WayfareError
from wayfare.events import Event
from wayfare.memory.limits import MemoryLimits
from wayfare.model import Model, Request
from wayfare.providers.retry import Retrying, RetrySettings
from wayfare.session.memory_wanted import MemoryWanted
from wayfare.session.session import Session
from wayfare.settings.context_group import Number
from wayfare.tokens import TokenMeter
from wayfare.verify.recorder import Exchange, Record, Recorder, Returned, taped

WINDOW_TOKENS: Final = 16_000
"""The window the experiments work in where the model's own is larger: what governs a context does
not depend on it, and what a run costs does."""
_ROLE: Final = (
    "You are an agent that works on files. Do what the user asks with the tools you have, "
    "then say in one sentence what was done. Do nothing beyond it."
)
_ONCE: Final = RetrySettings(attempts=1, empty_attempts=1)
_MEMORY_TOOLS: Final = ("memory_search", "memory_read", "memory_write", "memory_forget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Mechanisms switched off for a trial, each by a value that is handed in; none by default.

    Attributes:
        budget: Other numbers for the context.
        memory: Other numbers for memory.
        asks_model: Whether memory may ask the model.
        has_memory: Whether there is a memory at all.
        request: Changes every request on its way to the model.
        after_session: What befalls the workspace after each session.
        after_turn: Runs after every turn, given the trial.
    """

    budget: Mapping[str, Number] = field(default_factory=dict[str, Number])
    memory: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asks_model: bool = True
    has_memory: bool = True
    request: Callable[[Request], Request] | None = None
    after_session: Callable[[Trial], None] | None = None
    after_turn: Callable[[Trial], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who and what is verified: a model, and the settings a session of it would have.

    Attributes:
        model: Who answers.
        side_model: Who answers side queries; None: `model`.
        window_tokens: The window the experiments work in, at most the model's own.
        preset: Preset of the budget.
        numbers: Numbers of the budget that differ from the preset.
        summaries: Whether a model is asked for summaries.
        memory: The settings of memory.
        limits: How far turns go; the experiments have limits of their own beside them.
        clock: Time and chance.
        changes: What is switched off.
    """

    model: Model
    side_model: Model | None = None
    window_tokens: int = WINDOW_TOKENS
    preset: str = "window"
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])
    summaries: bool = True
    memory: MemoryLimits = field(default_factory=MemoryLimits)
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=SystemClock)
    changes: Changes = field(default_factory=Changes)

    @property
    def budget(self) -> Budget:
        """The context's numbers."""
        window = min(self.window_tokens, self.model.window_tokens)
        most = self.model.max_output_tokens
        made = Budget.named(self.preset, window, max_output_tokens=most)
        return made.with_(**self.numbers).with_(**self.changes.budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What was asked, and how it ended: `how` is `error` where the session raised."""

    session: int
    asked: str
    how: str
    text: str


@dataclass(slots=True, kw_only=True)
class Trial:
    """One experiment under way, and afterwards its evidence.

    Attributes:
        subject: Who and what is verified.
        folder: Holds the workspace and the recorded requests.
        turns: What was asked so far.
        returned: What tools gave back.
        sessions: Names of the sessions, in order.
    """

    subject: Subject
    folder: Path
    turns: list[Turn] = field(default_factory=list[Turn])
    returned: list[Returned] = field(default_factory=list[Returned])
    sessions: list[str] = field(default_factory=list[str])
    record: Record = field(init=False)

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.record = Record(path=self.folder / "requests.jsonl", clock=self.subject.clock)

    @property
    def workspace(self) -> Path:
        """Where the sessions work."""
        return self.folder / "workspace"

    @property
    def budget(self) -> Budget:
        """The context's numbers."""
        return self.subject.budget

    def budget_of(self, preset: str) -> Budget:
        """The context's numbers in a preset; empty: the one that is set."""
        return replace(self.subject, preset=preset or self.subject.preset).budget

    def exchanges(self, kind: str = "", *, session: int = 0) -> list[Exchange]:
        """What was sent: all of it, or of a kind, or of a session (from 1)."""
        return [
            one
            for one in self.record.exchanges
            if (not kind or one.kind == kind) and (not session or one.session == session)
        ]

    def outputs(self, tool: str, *, session: int = 0) -> list[Returned]:
        """What a tool gave back, errors left out."""
        return [
            one
            for one in self.returned
            if one.tool == tool and not one.is_error and (not session or one.session == session)
        ]

    def document(self, name: str, *, tokens: int, about: str) -> str:
        """Put a document of about so many tokens into the workspace; returns its path."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(numbered_text(about, tokens), encoding="utf-8")
        return name

    async def session(
        self,
        *tasks: str,
        tools: Iterable[Tool],
        memory: bool,
        most_steps: int,
        preset: str = "",
    ) -> None:
        """Open a fresh session, ask for the tasks one after the other, and close it.

        Args:
            tasks: What the user asks for.
            tools: What the model may call, beside the tools of memory.
            memory: Whether the session has a memory.
            most_steps: Model calls a turn may make.
            preset: Another preset of the budget than the one that is set.
        """
        number = len(self.sessions) + 1
        self.record.session = number
        try:
            opening = self._opened(tools, memory, most_steps, self.budget_of(preset))
            async with opening as session:
                self.sessions.append(session.name)
                for task in tasks:
                    ended = await session.run(task)
                    self._turn(number, task, ended)
        except WayfareError as error:
            del self.sessions[number:]
            self.sessions += [""] * (number - len(self.sessions))
            task = tasks[min(sum(t.session == number for t in self.turns), len(tasks) - 1)]
            text = f"{type(error).__name__}: {error}"
            self.turns.append(Turn(session=number, asked=task, how="error", text=text))
        if self.subject.changes.after_session is not None:
            self.subject.changes.after_session(self)

    def _turn(self, number: int, task: str, ended: Ended) -> None:
        self.turns.append(Turn(session=number, asked=task, how=ended.how, text=ended.text))

    def _opened(
        self, tools: Iterable[Tool], memory: bool, most_steps: int, budget: Budget
    ) -> Any:
        subject = self.subject
        side = subject.side_model
        limits = replace(
            subject.limits,
            steps_per_turn=min(most_steps, subject.limits.steps_per_turn or most_steps),
            repeats_ended=min(4, subject.limits.repeats_ended),
            repeats_told=min(2, subject.limits.repeats_told),
        )
        return Session.open(
            self.workspace,
            model=self._witnessed(subject.model),
            side_model=None if side is None else self._witnessed(side),
            summaries=subject.summaries,
            tools=[taped(tool, self._keep) for tool in tools],
            budget=budget,
            policy=self._policy(),
            limits=limits,
            role=_ROLE,
            memory=self._memory() if memory else None,
            after_turn=self._after_turn(),
            watch=self._watch,
            clock=subject.clock,
        )

    def _witnessed(self, model: Model) -> Retrying:
        """The model behind a witness; what waits stands behind it too, so that none waits twice."""
        window = min(self.subject.window_tokens, model.window_tokens)
        change = self.subject.changes.request
        witness = Recorder(model, self.record, window_tokens=window, change=change)
        return Retrying(witness, clock=self.subject.clock, settings=_ONCE)

    def _policy(self) -> Policy:
        rules = tuple(
            Rule(decision="allow", tool=name, source="session") for name in _MEMORY_TOOLS
        )
        return Policy(workspace=self.workspace, mode="accept-edits", rules=rules)

    def _memory(self) -> MemoryWanted | None:
        subject, changes = self.subject, self.subject.changes
        if not changes.has_memory:
            return None
        return MemoryWanted(
            project=self.workspace / ".memory",
            limits=replace(subject.memory, **changes.memory),
            asks_model=changes.asks_model,
        )

    def _after_turn(self) -> AfterTurn:
        change = self.subject.changes.after_turn

        async def after(ended: str, /) -> None:
            if change is not None:
                change(self)

        return after

    def _watch(self, event: Event) -> None:
        """What the runtime tells is kept for people; nothing is judged by it."""
        if not event.name.startswith("stream."):
            line = {"session": self.record.session, "event": event.name, "text": event.text}
            with (self.folder / "events.jsonl").open("ab") as lines:
                lines.write(json_text.dumps(line) + b"\n")

    def _keep(
        self, tool: str, context: ToolContext, given: Mapping[str, Any], output: ToolOutput
    ) -> None:
        self.returned.append(
            Returned(
                session=self.record.session,
                call_id=context.call_id,
                tool=tool,
                input=given,
                text=output.text,
                is_error=output.is_error,
            )
        )


def numbered_text(about: str, tokens: int) -> str:
    """Lines that all differ, of about so many tokens."""
    meter = TokenMeter()
    line = f"{about}, line 0001: the quick brown fox number 00007 jumps over the lazy dog.\n"
    lines = max(tokens // max(meter.text(line), 1), 1)
    return "".join(
        f"{about}, line {n:04}: the quick brown fox number {n * 7:05} jumps over the lazy dog.\n"
        for n in range(1, lines + 1)
    )


def stopped(turns: Sequence[Turn]) -> Turn | None:
    """The first turn that did not come to its own end."""
    return next((turn for turn in turns if turn.how != "done"), None)
