"""Replay: a recorded session fed through the real runtime as if it happened now.

The recording plays the model and the tools; archive, passes, scheduler and digest are real. The
provider is simulated: it counts exactly, refuses what does not fit and keeps a prefix cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from wayfare import json_text
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor, Prepared
from wayfare.context.scheduler import CachePolicy
from wayfare.errors import CannotFit, WriteFailed
from wayfare.events import Event
from wayfare.formats import Codec, codec
from wayfare.messages import Message, Origin
from wayfare.model import Prices, Usage
from wayfare.replay.needed import NeededIndex, Shares, shares, spoken
from wayfare.replay.provider import Refused, SimulatedProvider
from wayfare.replay.reachable import Reachable, reachable
from wayfare.replay.recording import Problem, Recording
from wayfare.replay.timeline import Point, point
from wayfare.replay.validity import WireRules
from wayfare.session import Places, file_transcript, governed
from wayfare.tokens import TokenMeter

STEP_SECONDS = 20.0
"""Time between steps where the recording names none."""
_PAUSE_SECONDS = 6 * 3600.0


class Validator(Protocol):
    """A judge of requests by the provider's rules."""

    def __call__(self, request: Mapping[str, Any], format: str, /) -> Sequence[str]:
        """What is wrong with it; empty when it is legal."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a replay is."""

    name: str
    budget: str
    step: int
    steps: int
    tokens: int
    edits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a replay of one session under one budget came to; shares are 0 to 1."""

    file: str
    format: str
    budget: str
    window: int
    steps: int
    requests: int
    invalid: int
    refused: int
    recoverable: float
    active_request_visible: float
    needed_files: float
    needed_identifiers: float
    needed_content: float
    tokens_sent: int
    cost: float
    cost_ungoverned: float
    summaries: int
    edits: Mapping[str, int]
    bytes_written_ratio: float
    governance_ms: Mapping[str, float]
    session: str
    stopped: str = ""
    """Why the session ended early, if it did."""
    limit: int = 0
    """Tokens above which the passes start."""
    limit_chars: int | None = None
    """Characters of the messages above which they start, where the budget counts those too."""
    shares: Shares = field(default_factory=Shares)
    reach: Reachable = field(default_factory=lambda: Reachable(texts=0, visible=0, recovered=0))
    promised: int = 0
    """Requests in which the user's active request must stand verbatim."""
    kept: int = 0
    """Those of them in which it does."""
    points: tuple[Point, ...] = ()
    problems: tuple[str, ...] = ()
    """What was wrong with requests, the first rule of each that is invalid."""
    unread: tuple[str, ...] = ()
    """What of the recording could not be read."""


@dataclass(slots=True, kw_only=True)
class _Tally:
    """Sums of a replay under way."""

    requests: int = 0
    invalid: int = 0
    refused: int = 0
    promised: int = 0
    visible: int = 0
    entered_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    shares: Shares = field(default_factory=Shares)
    edits: dict[str, int] = field(default_factory=dict[str, int])
    seconds: list[float] = field(default_factory=list[float])
    points: list[Point] = field(default_factory=list[Point])
    problems: list[str] = field(default_factory=list[str])


class Replay:
    """One recording under one budget.

    Args:
        recording: What to feed.
        budget: What the context may take.
        out: Workspace root under which transcript and archive are written.
        session: Name of the session's folders.
        validate: Judges each request; None takes `WireRules`.
        watch: Told how far it is.
    """

    def __init__(
        self,
        recording: Recording,
        budget: Budget,
        out: Path,
        *,
        session: str,
        validate: Validator | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> None:
        self._recording = recording
        self._budget = budget
        self._out = out
        self._session = session
        self._validate = validate or WireRules()
        self._watch = watch
        self._codec: Codec = codec(recording.format)
        self._messages = [self._codec.decode(wire) for wire in recording.messages]
        self._fixed = _fixed_text(recording)
        self._events: list[Event] = []
        self._meter = TokenMeter()

    async def run(self) -> Result:
        """Feed the session through.

        Raises:
            WriteFailed: `out` cannot be written, or holds a session of that name.
        """
        clock = MovableClock(next((t for t in self._recording.times if t is not None), 1.7e9))
        transcript = file_transcript(
            Places(workspace=self._out),
            self._session,
            clock=clock,
            format=self._recording.format,
            sync="never",
            watch=self._events.append,
        )
        governor = await governed(
            transcript,
            self._budget,
            clock=clock,
            watch=self._events.append,
            cache=CachePolicy(),
            fixed_tokens=self._meter.text(self._fixed),
        )
        if len(governor.view):
            await transcript.close()
            raise WriteFailed(
                f"{transcript.path} holds a session already: a replay begins a log of its own; take "
                "another name or an empty folder",
                path=transcript.path,
                reason="exists",
            )
        provider = SimulatedProvider(
            window_tokens=self._budget.window_tokens, reserve_tokens=self._budget.reserve_tokens
        )
        tally = _Tally()
        stopped = ""
        try:
            await self._steps(governor, provider, clock, tally)
        except CannotFit as error:
            stopped = str(error)
        request = governor.view.messages()
        found = await reachable(transcript, request)
        await transcript.close()
        return self._result(tally, found, stopped)

    async def _steps(
        self, governor: Governor, provider: SimulatedProvider, clock: MovableClock, tally: _Tally
    ) -> None:
        index = NeededIndex(self._messages)
        steps = step_starts(self._messages)
        runs = dict(steps)
        tally.entered_tokens = provider.count([{"text": self._fixed}])
        at = 0
        while at < len(self._messages):
            self._move(clock, at)
            stop = runs.get(at)
            if stop is None or not len(governor.view):
                # What a recording that opens with a reply was asked is not in it.
                stop = stop or at + 1
                await governor.add(self._messages[at:stop])
                tally.entered_tokens += provider.count(self._recording.messages[at:stop])
                at = stop
                continue
            usage = await self._step(governor, provider, clock, tally, index, at, stop)
            await governor.add(self._messages[at:stop], usage=usage)
            if self._watch is not None:
                self._watch(
                    Progress(
                        name=self._recording.name,
                        budget=self._budget.name,
                        step=tally.requests,
                        steps=len(steps),
                        tokens=tally.points[-1].tokens if tally.points else 0,
                        edits=sum(tally.edits.values()),
                    )
                )
            at = stop

    def _move(self, clock: MovableClock, at: int) -> None:
        told = self._recording.times[at] if at < len(self._recording.times) else None
        if told is None:
            if self._messages[at].role == "assistant":
                clock.advance(STEP_SECONDS)
        elif told > clock.now():
            clock.advance(min(told - clock.now(), _PAUSE_SECONDS))

    async def _step(
        self,
        governor: Governor,
        provider: SimulatedProvider,
        clock: MovableClock,
        tally: _Tally,
        index: NeededIndex,
        at: int,
        stop: int,
    ) -> Usage | None:
        began = time.perf_counter()
        prepared = await governor.prepare()
        wires = self._codec.encode(prepared.messages)
        tally.seconds.append(time.perf_counter() - began)
        tally.requests += 1
        self._judge(governor, prepared, wires, tally)
        for entry in prepared.edits:
            tally.edits[entry.by] = tally.edits.get(entry.by, 0) + 1
        request = "\n".join(spoken(m) for m in prepared.messages)
        tally.shares += shares(index.needed(at), request)
        output = provider.count(self._recording.messages[at:stop])
        answer = provider.send(wires, self._fixed, output, clock.now())
        refused = isinstance(answer, Refused)
        sent = answer.sent_tokens if isinstance(answer, Refused) else answer.prompt_tokens
        if not isinstance(answer, Refused):
            tally.usage += answer
        tally.points.append(
            point(
                governor,
                prepared,
                tokens=sent,
                refused=refused,
                cost=_cost(tally.usage),
                entered_tokens=tally.entered_tokens,
            )
        )
        tally.entered_tokens += output
        if isinstance(answer, Refused):
            tally.refused += 1
            return None
        return answer

    def _judge(
        self,
        governor: Governor,
        prepared: Prepared,
        wires: list[dict[str, Any]],
        tally: _Tally,
    ) -> None:
        key = "input" if self._recording.format == "openai-responses" else "messages"
        request = {"system": self._recording.system, key: wires}
        problems = list(self._validate(request, self._recording.format))
        if problems:
            tally.invalid += 1
            tally.problems.append(f"request {tally.requests}: {problems[0]}")
        words = governor.ledger.active_words
        most = self._budget.limit_tokens * self._budget.request_share
        if not words.strip() or self._meter.text(words) > most:
            return
        tally.promised += 1
        if any(m.origin is Origin.USER and words in m.text for m in prepared.messages):
            tally.visible += 1

    def _result(self, tally: _Tally, found: Reachable, stopped: str) -> Result:
        entered = sum(
            len(json_text.dumps(wire).decode("utf-8", "replace").encode())
            for wire in self._recording.messages
        )
        written = _written(self._out, self._session)
        s = tally.shares
        return Result(
            file=self._recording.name,
            format=self._recording.format,
            budget=self._budget.name,
            window=self._budget.window_tokens,
            steps=len(step_starts(self._messages)),
            requests=tally.requests,
            invalid=tally.invalid,
            refused=tally.refused,
            recoverable=found.share,
            active_request_visible=_share(tally.visible, tally.promised),
            needed_files=_share(s.files, s.files_total),
            needed_identifiers=_share(s.identifiers, s.identifiers_total),
            needed_content=_share(s.content_chars, s.content_chars_total),
            tokens_sent=tally.usage.prompt_tokens,
            cost=_cost(tally.usage),
            cost_ungoverned=self._ungoverned(),
            summaries=0,
            edits=dict(tally.edits),
            bytes_written_ratio=written / max(entered, 1),
            governance_ms=_timing(tally.seconds),
            session=self._session,
            stopped=stopped,
            limit=self._budget.limit_tokens,
            limit_chars=self._budget.limit_chars,
            shares=s,
            reach=found,
            promised=tally.promised,
            kept=tally.visible,
            points=tuple(tally.points),
            problems=tuple(tally.problems),
            unread=tuple(_told(problem) for problem in self._recording.problems),
        )

    def _ungoverned(self) -> float:
        """The cost of sending the whole history on every step, if the window had no end."""
        provider = SimulatedProvider(window_tokens=1 << 40, reserve_tokens=0)
        clock = MovableClock(next((t for t in self._recording.times if t is not None), 1.7e9))
        usage = Usage()
        runs = dict(step_starts(self._messages))
        added = provider.count([{"text": self._fixed}])
        at = 0
        while at < len(self._messages):
            self._move(clock, at)
            stop = runs.get(at)
            entered = provider.count(self._recording.messages[at : stop or at + 1])
            if stop is not None and at:
                usage += provider.grow(added, entered, clock.now())
                added = 0
            added += entered
            at = stop or at + 1
        return _cost(usage)


def step_starts(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Where each model step starts and ends: a run of assistant messages."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(messages):
        stop = at + 1
        if messages[at].role == "assistant":
            while stop < len(messages) and messages[stop].role == "assistant":
                stop += 1
            found.append((at, stop))
        at = stop
    return found


def _fixed_text(recording: Recording) -> str:
    system = recording.system
    text = system if isinstance(system, str) else json_text.dumps(system or "").decode("utf-8")
    tools = json_text.dumps(list(recording.tools)).decode("utf-8") if recording.tools else ""
    return text + tools if system or tools else ""


def _cost(usage: Usage) -> float:
    """What usage costs, in input tokens."""
    return Prices().cost(usage) * 1_000_000


def _told(problem: Problem) -> str:
    return f"line {problem.line}: {problem.reason}" if problem.line else problem.reason


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def _timing(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {"median": 0.0, "p99": 0.0, "last": 0.0}
    ordered = sorted(seconds)
    return {
        "median": round(ordered[len(ordered) // 2] * 1000, 3),
        "p99": round(ordered[min(int(len(ordered) * 0.99), len(ordered) - 1)] * 1000, 3),
        "last": round(seconds[-1] * 1000, 3),
    }


def _written(out: Path, session: str) -> int:
    places = Places(workspace=out)
    roots = (places.log(session).parent, out / places.results / session)
    return sum(
        f.stat().st_size for root in roots if root.exists() for f in root.rglob("*") if f.is_file()
    )
