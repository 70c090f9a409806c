"""The section about the loop: what a step costs beside the model, what starting costs, and eight
sessions at once in one process."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from bench import startup
from bench.report import Section, table
from wayfare import Session, tool
from wayfare.agent.limits import Limits
from wayfare.messages import Message, ToolCall, assistant
from wayfare.model import Prices, Reply, Request, Usage, Watcher
from wayfare.providers.scripted import ScriptedModel

STEPS: Final = 2_000
NEAR: Final = 100
"""Steps a figure is taken over: those from step 10 on, and the last before `STEPS`."""
SESSIONS, SESSION_STEPS = 8, 50
_RESULT_CHARS: Final = 1_500
_HEAD: Final = (
    "steps",
    "median, ms",
    "p99, ms",
    "median processor, ms",
    "p99 processor, ms",
    "measured",
)
_NOTES: Final = "# Current State\nreading part after part\n# Worklog\n- read the next parts"
_SUMMARY: Final = "<summary>## Goal\nread all parts\n## Next step\nread the next part</summary>"


@dataclass(frozen=True, slots=True)
class Moment:
    """Milliseconds on the wall and of this process, or a span of both."""

    wall: float
    processor: float

    def since(self, earlier: Moment) -> Moment:
        """The span between two moments."""
        return Moment(self.wall - earlier.wall, self.processor - earlier.processor)


def moment() -> Moment:
    """Now."""
    return Moment(time.perf_counter() * 1_000, time.process_time() * 1_000)


class TimedModel:
    """Answers at once, every time with one call more, and notes when it was asked."""

    name = "timed"
    window_tokens = 200_000
    max_output_tokens = 16_384
    prices = Prices()

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self.asked: list[Moment] = []
        self.replied: list[Moment] = []

    async def complete(self, request: Request, watcher: Watcher | None = None) -> Reply:
        """The next call; words when all steps were made."""
        self.asked.append(moment())
        number = len(self.asked)
        message: Message = assistant("All parts are read.")
        if number <= self._steps:
            call = ToolCall(id=f"c{number}", name="look", input={"path": f"src/part{number}.py"})
            message = assistant(f"Now part {number}.", call)
        # What a provider would report: near our own estimate, so that it is believed.
        sent = sum(len(m.text) + sum(len(r.text) for r in m.results) for m in request.messages) // 4
        self.replied.append(moment())
        return Reply(
            message=message,
            stop="tools" if message.calls else "end",
            usage=Usage(input_tokens=sent, output_tokens=40),
            model=self.name,
        )


def side_model() -> ScriptedModel:
    """Writes notes and summaries, at once."""

    def answer(request: Request) -> str:
        asked = request.system + request.messages[-1].text[-2_000:]
        return _SUMMARY if "<summary>" in asked else _NOTES

    return ScriptedModel(always=answer, name="side")


@tool(read_only=True, kind="read", main_argument="path")
async def look(path: str) -> str:
    """Look at a part."""
    line = f"def load_{path.replace('/', '_')}(source): return source.rows()\n"
    return (line * (_RESULT_CHARS // len(line) + 1))[:_RESULT_CHARS]


async def overheads(steps: int, workspace: Path) -> list[Moment]:
    """What every step took from the reply to the next request: what is not the model."""
    model = TimedModel(steps)
    async with Session.open(
        workspace,
        model=model,
        side_model=side_model(),
        tools=[look],
        mode="full",
        limits=Limits(steps_per_turn=steps + 1),
    ) as session:
        ended = await session.run("Read all parts.")
    if ended.how != "done" or ended.steps != steps + 1:
        raise SystemExit(f"the measured session ended as {ended}")
    pairs = zip(model.replied, model.asked[1:], strict=False)
    return [asked.since(replied) for replied, asked in pairs]


def loop_text(steps: int, runs: int) -> str:
    """Overhead near step 10 and near the last step."""
    early: list[Moment] = []
    late: list[Moment] = []
    near = min(NEAR, steps // 2)
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="wayfare-loop-") as place:
            spent = anyio.run(overheads, steps, Path(place))
        early += spent[9 : 9 + near]
        late += spent[-near:]
    rows = [_row(f"10 to {9 + near}", early), _row(f"{steps - near + 1:,} to {steps:,}", late)]
    ratio = _median(late) / _median(early)
    return (
        "From a reply of the model to its next request: the reply appended, one tool call judged, "
        f"run and answered with {_RESULT_CHARS:,} characters, the result appended, everything "
        "flushed to the disk, notes and compactions by a model that answers at once, the next "
        f"request prepared. {runs} sessions of {steps:,} steps in a window of 200,000 tokens.\n\n"
        + table(_HEAD, rows)
        + f"\n\nThe median step at the end costs {ratio:.1f} times the processor time of one at the "
        "beginning; the longest are those at which notes are written beside the loop."
    )


def _row(name: str, of: Sequence[Moment]) -> tuple[str, ...]:
    wall = [span.wall for span in of]
    return (
        name,
        f"{statistics.median(wall):.2f}",
        f"{_p99(wall):.1f}",
        f"{_median(of):.2f}",
        f"{_p99([span.processor for span in of]):.1f}",
        str(len(of)),
    )


def _median(of: Sequence[Moment]) -> float:
    return statistics.median(span.processor for span in of)


def _p99(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def startup_text() -> str:
    """What starting costs, in times an empty Python."""
    best = startup.measured()
    empty = best["python -c pass"]
    rows = [
        (name, f"{spent * 1_000:.0f}", f"{spent / empty:.1f}", _limit(name))
        for name, spent in best.items()
    ]
    return (
        "Processor time of whole processes, started in turns, the best of several; a session is "
        "on a terminal, from its start until its prompt is there and it was left.\n\n"
        + table(("started", "ms", "times an empty Python", "at most"), rows)
    )


def _limit(name: str) -> str:
    return f"{startup.LIMITS[name]:g}" if name in startup.LIMITS else "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What sessions that ran at once did: steps a second in all, and what was found mixed."""

    sessions: int
    steps: int
    seconds: float
    mixed: tuple[str, ...]


def mark(session: int) -> str:
    """A word that only one session may ever see."""
    return f"mark{session:02}of{os.getpid()}"


async def together(sessions: int, steps: int, workspace: Path) -> Together:
    """Let sessions of one workspace read files at once, each its own, and look for what is not."""
    for number in range(sessions):
        for step in range(steps):
            text = f"{mark(number)} part {step}\n" * 20
            (workspace / f"{mark(number)}-{step}.txt").write_text(text)
    models = [ScriptedModel(_script(number, steps)) for number in range(sessions)]
    async with AsyncExitStack() as open_ones:
        opened = [
            await open_ones.enter_async_context(
                Session.open(workspace, model=model, mode="read-only", summaries=False)
            )
            for model in models
        ]
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for number, session in enumerate(opened):
                tasks.start_soon(session.run, f"Read the parts of {mark(number)}.")
        seconds = time.perf_counter() - began
    mixed: list[str] = []
    for number, (session, model) in enumerate(zip(opened, models, strict=True)):
        mixed += _foreign(session, number, model, steps, sessions)
    done = sum(len(model.requests) for model in models)
    return Together(sessions=sessions, steps=done, seconds=seconds, mixed=tuple(mixed))


def _script(number: int, steps: int) -> list[ToolCall | str]:
    calls: list[ToolCall | str] = [
        ToolCall(id=f"c{step}", name="read_file", input={"path": f"{mark(number)}-{step}.txt"})
        for step in range(steps)
    ]
    return [*calls, f"{mark(number)} is read."]


def _foreign(
    session: Session, number: int, model: ScriptedModel, steps: int, sessions: int
) -> list[str]:
    """What a session saw of others, or did not see of its own."""
    logged = session.places.log(session.name).read_text(encoding="utf-8")
    seen = logged + "\n".join(str(m) for request in model.requests for m in request.messages)
    found = [
        f"session {number} saw {mark(other)}"
        for other in range(sessions)
        if other != number and mark(other) in seen
    ]
    results = [result for message in session.messages for result in message.results]
    for step in range(steps):
        right = [r for r in results if r.call_id == f"c{step}" and f"part {step}\n" in r.text]
        if len(right) != 1 or mark(number) not in right[0].text:
            found.append(f"session {number} has {len(right)} results for call {step}")
    return found


def together_text(done: Together) -> str:
    """Throughput, and whether anything was mixed."""
    verdict = "nothing mixed" if not done.mixed else f"MIXED: {done.mixed[0]}"
    return (
        f"{done.sessions} sessions at once in one process and one workspace, each reading its own "
        f"files with wayfare's own tools: {done.steps} steps in {done.seconds:.2f} s, "
        f"{done.steps / done.seconds:.0f} steps a second; requests and logs searched for words of "
        f"the others: **{verdict}**."
    )


def section(
    command: str,
    *,
    steps: int = STEPS,
    runs: int = 3,
    sessions: int = SESSIONS,
    session_steps: int = SESSION_STEPS,
    starts: bool = True,
) -> Section:
    """Measure the loop."""
    parts = [loop_text(steps, runs)]
    if starts:
        parts.append(startup_text())
    with tempfile.TemporaryDirectory(prefix="wayfare-together-") as place:
        parts.append(together_text(anyio.run(together, sessions, session_steps, Path(place))))
    return Section(key="loop", title="The loop", command=command, text="\n\n".join(parts))
