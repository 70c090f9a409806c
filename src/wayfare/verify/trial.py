"""A trial: one experiment with one model in one fresh workspace, and what there is to judge it by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from wayfare import json_text
from wayfare.agent.policy import Policy, Rule
from wayfare.agent.tools import Tool, ToolContext, ToolOutput
from wayfare.agent.turn import Ended
from wayfare.context.budget import Budget
from wayfare.errors import ConfigError, ModelAuthError, ModelError, ScriptIsOver
from wayfare.events import Event
from wayfare.model import Model
from wayfare.providers.retry import Retrying, RetrySettings
from wayfare.session.memory_wanted import MemoryWanted
from wayfare.session.session import Session
from wayfare.settings.context_group import Number
from wayfare.tokens import TokenMeter
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.recorder import Exchange, Record, Recorder, Returned, taped
from wayfare.verify.subject import Changes, Subject

_ROLE: Final = (
    "You are an agent that works on files. Do what the user asks with the tools you have, "
    "then say in one sentence what was done. Do nothing beyond it."
)
_ONCE: Final = RetrySettings(attempts=1, empty_attempts=1)
_MEMORY_TOOLS: Final = ("memory_search", "memory_read", "memory_write", "memory_forget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What was asked, and how it ended: `how` is `error` where the session raised; `by_model` then
    says that it was the call of the model that failed."""

    session: int
    asked: str
    how: str
    text: str
    by_model: bool = False


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

    @property
    def budget_unchanged(self) -> Budget:
        """The same with nothing switched off: what an experiment asks for does not depend on it."""
        return replace(self.subject, changes=Changes()).budget

    def budget_of(self, preset: str, **numbers: Number) -> Budget:
        """The context's numbers in another preset, some of them changed beside those set."""
        set_ = {**numbers, **self.subject.numbers}
        return replace(self.subject, preset=preset, numbers=set_).budget

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
        budget: Budget | None = None,
    ) -> None:
        """Open a fresh session, ask for the tasks one after the other, and close it.

        Args:
            tasks: What the user asks for.
            tools: What the model may call, beside the tools of memory.
            memory: Whether the session has a memory.
            most_steps: Model calls a turn may make.
            budget: Another one than that of the settings.
        """
        number = len(self.sessions) + 1
        self.record.session = number
        try:
            opening = self._opened(tools, memory, most_steps, budget or self.budget)
            async with opening as session:
                self.sessions.append(session.name)
                for task in tasks:
                    ended = await session.run(task)
                    self._turn(number, task, ended)
        except (ConfigError, ModelAuthError):
            raise  # no experiment can tell anything
        except Exception as error:
            # Whatever it is, it is a finding, and the other experiments go on.
            if len(self.sessions) < number:
                self.sessions.append("")
            task = tasks[min(sum(t.session == number for t in self.turns), len(tasks) - 1)]
            self.turns.append(_failed(number, task, error))
        if self.subject.changes.after_session is not None:
            self.subject.changes.after_session(self.workspace, self.sessions[-1])

    def _turn(self, number: int, task: str, ended: Ended) -> None:
        self.turns.append(Turn(session=number, asked=task, how=ended.how, text=ended.text))

    def _opened(self, tools: Iterable[Tool], memory: bool, most_steps: int, budget: Budget) -> Any:
        subject = self.subject
        side = subject.side_model
        limits = replace(
            subject.limits,
            steps_per_turn=min(most_steps, subject.limits.steps_per_turn or most_steps),
            repeats_ended=min(3, subject.limits.repeats_ended),
            length_stops_in_a_row=1,
            empty_replies_in_a_row=1,
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
            hooks=subject.changes.hooks,
            watch=self._watch,
            clock=subject.clock,
        )

    def _witnessed(self, model: Model) -> Retrying:
        """The model behind a witness; what waits stands behind it too, so that none waits twice."""
        subject = self.subject
        witness = Recorder(
            model,
            self.record,
            window_tokens=subject.window_tokens,
            reply_tokens=subject.reply_tokens,
            change=subject.changes.request,
        )
        return Retrying(witness, clock=self.subject.clock, settings=_ONCE)

    def _policy(self) -> Policy:
        rules = tuple(Rule(decision="allow", tool=name, source="session") for name in _MEMORY_TOOLS)
        return Policy(workspace=self.workspace, mode="accept-edits", rules=rules)

    def _memory(self) -> MemoryWanted | None:
        subject, changes = self.subject, self.subject.changes
        if not changes.has_memory:
            return None
        return MemoryWanted(
            project=self.workspace / ".memory",
            limits=replace(subject.memory, **changes.memory),
            asks_model=changes.asks_model,
            gate=changes.gate,
        )

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


def _failed(session: int, task: str, error: Exception) -> Turn:
    text = f"{type(error).__name__}: {error}"
    by_model = isinstance(error, ModelError | ScriptIsOver)
    return Turn(session=session, asked=task, how="error", text=text, by_model=by_model)


def broken(trial: Trial) -> Check | None:
    """A session that raised, as a check; None when all of them came to an end."""
    turn = next((turn for turn in trial.turns if turn.how == "error"), None)
    if turn is None:
        return None
    made = checks.model if turn.by_model else checks.runtime
    return made(checks.MODEL_DONE, f"session {turn.session} stopped", turn.text[:200])


def last_words(trial: Trial, *, session: int = 1) -> list[str]:
    """What the model said last in a session, as evidence of what it did instead."""
    steps = trial.exchanges("step", session=session)
    return [f"{e.label}: it said {(e.error or e.said)[:80]!r}" for e in steps[-1:]]


def stopped(turns: Sequence[Turn]) -> Turn | None:
    """The first turn that did not come to its own end."""
    return next((turn for turn in turns if turn.how != "done"), None)
