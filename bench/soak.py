"""One session of many thousand steps: what a step costs late in it, and what it leaves.

`python -m bench.soak --steps N` prints the readings as JSON. It is run in a process of its own so
that nothing but the session counts. The session is real (files, tools, shell, memory, notes); only
the model is scripted, and its replies hang on the step alone, so that two runs do the same.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from bench.synthetic import NOUNS, VERBS
from wayfare import Session
from wayfare.agent.limits import Limits
from wayfare.cli.heap import giving_back, hold_to_one_heap
from wayfare.context.summary_request import prompt_text as context_prompt
from wayfare.events import Event
from wayfare.memory.side_query import prompt_text as memory_prompt
from wayfare.messages import Message, ToolCall
from wayfare.model import Request
from wayfare.providers.script import Scripted
from wayfare.providers.scripted import ScriptedModel
from wayfare.session.memory_wanted import MemoryWanted
from wayfare.tokens import TokenMeter

STEPS: Final = 20_000
STEPS_A_TURN: Final = 20
WINDOW_TOKENS: Final = 32_000
FILES: Final = 60
READINGS: Final = 40
"""So many times over the session its process is looked at."""
_FACTS: Final = 120
"""Different things the user lays down; later turns say them again in the same words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The process after a step: resident bytes, open handles, objects the collector watches, the
    log's bytes, the median time of the steps since the last reading."""

    step: int
    resident_bytes: int
    handles: int
    objects: int
    log_bytes: int
    step_ms: float


@dataclass(slots=True)
class Soaked:
    """What a run came to: readings, what happened by name, how long opening the log again took
    with a checkpoint and without."""

    steps: int
    readings: list[Reading] = field(default_factory=list[Reading])
    told: dict[str, int] = field(default_factory=dict[str, int])
    requests: dict[str, int] = field(default_factory=dict[str, int])
    entries: int = 0
    seconds: float = 0.0
    resume_seconds: float = 0.0
    fold_seconds: float = 0.0
    same_view: bool = False
    closed_handles: int = 0
    began_handles: int = 0
    in_memory: bool = False
    """Whether its files stood in a folder in memory: no wait for a disk is in its times then."""


class Count:
    """Counts requests as a provider would, each message once: the session's time is measured."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[Message, int]] = OrderedDict()
        self._meter = TokenMeter()

    def __call__(self, request: Request) -> int:
        known = self._known
        tokens = (len(request.system) + 20_000) // 4
        if not request.tools:
            # A side query's text never comes again: to hold it would be this count's own growth.
            return tokens + sum(len(message.text) for message in request.messages) // 4
        for message in request.messages:
            found = known.get(id(message))
            if found is None or found[0] is not message:
                found = known[id(message)] = (message, self._meter.message(message).tokens)
            tokens += found[1]
        while len(known) > 300:
            known.popitem(last=False)
        return tokens


class Mind:
    """Answers the agent by the number of its step, and side queries from what they show."""

    def __init__(self) -> None:
        self.step = 0
        self.asked: dict[str, int] = {}
        self._summary = context_prompt("summary")
        self._notes = context_prompt("notes")
        self._select = memory_prompt("memory_select")
        self._extract = memory_prompt("memory_extract")

    def __call__(self, request: Request) -> Scripted:
        system = request.system
        if system == self._summary:
            facts = re.search(r"<facts>(.*?)</facts>", _words(request), re.DOTALL)
            return self._side("summary", _SUMMARY.format(facts=facts[1] if facts else "-"))
        if system == self._notes:
            return self._side("notes", f"# Worklog\nAt step {self.step}.\n")
        if system == self._select:
            listed = re.findall(r"^\[(\d+)\]", _words(request), re.MULTILINE)
            return self._side("recall", json.dumps({"selected": [int(n) for n in listed][:3]}))
        if system == self._extract:
            return self._side("extraction", json.dumps({"memories": _facts(_words(request))}))
        if not request.tools:
            return self._side("other", json.dumps({"operations": []}))
        return self._work()

    def _side(self, name: str, text: str) -> Scripted:
        self.asked[name] = self.asked.get(name, 0) + 1
        return Scripted(text=text)

    def _work(self) -> Scripted:
        self.step += 1
        step = self.step
        if step % STEPS_A_TURN == 0:
            return Scripted(text=f"Module {step // STEPS_A_TURN} is done; its tests pass.")
        calls = tuple(_calls(step))
        if any(call.input.get("background") for call in calls):
            self.asked["background"] = self.asked.get("background", 0) + 1
        return Scripted(text=f"Step {step}.", calls=calls)


_SUMMARY: Final = (
    "<summary>\n## Goal and standing constraints\n- Port the modules one by one.\n"
    "## Decisions\n- Keep the order of the list.\n## Files and functions\n{facts}\n"
    "## Errors and corrections\n-\n## State of work\n- The modules so far are ported.\n"
    "## Next step\n- The next module.\n## Open questions\n-\n</summary>"
)


def _words(request: Request) -> str:
    return "\n".join(message.text for message in request.messages)


def _facts(text: str) -> list[dict[str, Any]]:
    found = re.findall(r"^\[(\d+)\] USER: .*?(The (\w+) team says:[^.]*\.)", text, re.MULTILINE)
    return [
        {
            "name": f"{team} team",
            "type": "project",
            "scope": "persistent",
            "description": said,
            "body": said,
            "evidence": [int(number)],
        }
        for number, said, team in found
    ]


def _path(number: int) -> str:
    return f"lib/{NOUNS[number % len(NOUNS)]}_{number}.py"


def _calls(step: int) -> Sequence[ToolCall]:
    """What a step asks for: mostly reading and searching, some edits, commands, tasks beside."""
    dice = random.Random(step)
    paths = [_path(dice.randrange(FILES)) for _ in range(2)]
    kind = step % 10

    def call(name: str, number: int = 0, **given: Any) -> ToolCall:
        return ToolCall(id=f"s{step}_{number}", name=name, input=given)

    if step % 250 == 11:
        return [call("bash", command=f"echo begun {step}; echo done {step}", background=True)]
    if step % 40 == 15:
        return [call("bash", command=f"echo run {step}; seq 1 {dice.randrange(20, 200)}")]
    if step % 100 == 33:
        return [call("memory_search", query=f"{dice.choice(NOUNS)} team")]
    if step % 200 == 57:
        return [call("search_history", query=f"{dice.choice(VERBS)} {dice.choice(NOUNS)}")]
    if step % 20 in (1, 19):
        status = "in_progress" if step % 20 == 1 else "completed"
        todo = {"content": f"Port module {step // 20}", "status": status}
        return [call("todo_write", todos=[todo])]
    if kind == 4:
        text = "\n".join(f"# {dice.choice(VERBS)} {step} {n}" for n in range(dice.randrange(5, 40)))
        return [call("write_file", path=f"out/{step}.py", content=text)]
    if kind == 7:
        return [call("grep", pattern=f"{dice.choice(VERBS)}_{dice.choice(NOUNS)}", path="lib")]
    if kind == 9:
        return [call("read_file", n, path=path) for n, path in enumerate(paths)]
    return [call("read_file", path=paths[0])]


def _project(root: Path) -> None:
    dice = random.Random(1)
    for number in range(FILES):
        path = root / _path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"def {dice.choice(VERBS)}_{dice.choice(NOUNS)}({dice.choice(NOUNS)}): return {n}"
            for n in range(dice.randrange(6, 28))
        ]
        path.write_text("\n".join(lines), encoding="utf-8")


def _request(turn: int) -> str:
    noun = NOUNS[turn % len(NOUNS)]
    said = ""
    if turn % 4 == 0:
        fact = turn % _FACTS
        said = (
            f" The {noun}{fact} team says: deploys of {noun}{fact} always run "
            f"on weekday {fact % 5} behind flag {fact}."
        )
    return f"Port module {turn} ({noun}) and run its tests.{said}"


def _resident_bytes() -> int:
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def _handles() -> int:
    return len(os.listdir("/proc/self/fd"))


class _Watched:
    """Counts events and notes when each step began."""

    def __init__(self, soaked: Soaked) -> None:
        self._soaked = soaked
        self._last = time.perf_counter()
        self.taken: list[float] = []

    def begin(self) -> None:
        """The time between turns is no step's."""
        self._last = time.perf_counter()

    def __call__(self, event: Event) -> None:
        if event.name.startswith("stream."):
            return
        told = self._soaked.told
        told[event.name] = told.get(event.name, 0) + 1
        if event.name == "step.replied":
            now = time.perf_counter()
            self.taken.append(now - self._last)
            self._last = now


async def soak(root: Path, steps: int) -> Soaked:
    """Run a session of so many steps in `root`, and open it again."""
    _project(root)
    soaked = Soaked(steps=steps)
    watched, mind = _Watched(soaked), Mind()
    model = ScriptedModel(
        always=mind, window_tokens=WINDOW_TOKENS, piece_chars=4_096, count=Count()
    )
    wanted: dict[str, Any] = {
        "model": model,
        "mode": "full",
        "memory": MemoryWanted(project=root / ".memory"),
        "limits": Limits(repeats_told=1_000, repeats_ended=10_000),
        "watch": giving_back(watched),
    }
    soaked.began_handles = _handles()
    soaked.in_memory = root.is_relative_to("/dev/shm")
    began = time.perf_counter()
    async with Session.open(root, **wanted) as session:
        name, log = session.name, session.places.log(session.name)
        turns = steps // STEPS_A_TURN
        every = max(turns // READINGS, 1)
        for turn in range(1, turns + 1):
            watched.begin()
            await session.run(_request(turn))
            model.requests.clear()
            if turn % every == 0:
                gc.collect()
                soaked.readings.append(
                    Reading(
                        step=mind.step,
                        resident_bytes=_resident_bytes(),
                        handles=_handles(),
                        objects=len(gc.get_objects()),
                        log_bytes=log.stat().st_size,
                        step_ms=statistics.median(watched.taken) * 1_000,
                    )
                )
                watched.taken.clear()
                print(soaked.readings[-1], file=sys.stderr, flush=True)
        soaked.entries = session.governor.transcript.last_id
        shown = [m.text for m in session.messages]
    soaked.seconds = time.perf_counter() - began
    soaked.requests = mind.asked
    soaked.closed_handles = _handles()
    soaked.resume_seconds, resumed = await _reopened(root, name, wanted)
    for derived in log.parent.glob("*.checkpoint"):
        derived.unlink()
    soaked.fold_seconds, folded = await _reopened(root, name, wanted)
    soaked.same_view = shown == resumed == folded
    return soaked


async def _reopened(root: Path, name: str, wanted: dict[str, Any]) -> tuple[float, list[str]]:
    began = time.perf_counter()
    async with Session.open(root, session=name, **wanted) as session:
        return time.perf_counter() - began, [m.text for m in session.messages]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    hold_to_one_heap()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soaked = anyio.run(soak, Path(folder), options.steps)
    print(json.dumps(asdict(soaked)))


if __name__ == "__main__":
    main()
