"""Planted facts: what of twenty known facts a context still shows after five compactions.

Facts of seven kinds are laid into a recorded session, most of them early; five times the session
is compacted in the middle of its work. After each time every fact is looked for: visible in the
request, to be had by an address in it (found by the independent reader), or lost.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from bench.judges.reader import Reader
from bench.pause import local_summarizer
from bench.recordings import Recording
from bench.wire import leaves
from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer, due
from wayfare.events import Event
from wayfare.formats import codec
from wayfare.messages import Message, assistant, call, result, results, user
from wayfare.model import Model, Request, Usage
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import Places, file_transcript, governed

GENERATIONS: Final = 5
WINDOW_TOKENS: Final = 16_000
_HEADINGS: Final = {
    "rule": "Goal and standing constraints",
    "number": "Goal and standing constraints",
    "version": "Goal and standing constraints",
    "decision": "Decisions",
    "path": "Files and functions",
    "error": "Errors and corrections",
    "todo": "Next step",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One fact: its kind, the text that must be found, the generation before which it enters,
    and the messages that bring it."""

    kind: str
    text: str
    part: int
    messages: Sequence[Message]


@dataclass(slots=True, kw_only=True)
class Found:
    """Facts by generation and kind: visible, by an address, lost; requests' sizes."""

    visible: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    by_address: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    lost: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    summaries: int = 0
    failed: int = 0
    stood: int = 0
    steps: int = 0

    def spent(self, usage: Usage, model: Model) -> None:
        """A summary was answered."""
        self.summaries += 1

    def total(self, counted: Counter[tuple[int, str]], generation: int, kind: str = "") -> int:
        """How many of one generation (and kind)."""
        return sum(n for (g, k), n in counted.items() if g == generation and kind in ("", k))

    def share(self, counted: Counter[tuple[int, str]], generation: int, kind: str = "") -> float:
        """Their share of all facts that were in by then."""
        every = sum(
            self.total(one, generation, kind) for one in (self.visible, self.by_address, self.lost)
        )
        return self.total(counted, generation, kind) / every if every else 1.0


RULES: Final = (
    ("Never edit anything below vendor{n}/.", "vendor{n}/"),
    ("Commit messages for area{n} are written in German.", "area{n} are written in German"),
    ("Hands off lib{n}/third_party, please.", "Hands off lib{n}/third_party"),
    ("I'd like every table of schema{n} to get a _v2 suffix.", "schema{n} to get a _v2 suffix"),
    ("Always run check{n} before you push.", "run check{n} before you push"),
    ("Two reviewers sign off each change to billing{n}.", "sign off each change to billing{n}"),
    ("Leave the generated stubs of api{n} alone.", "generated stubs of api{n} alone"),
    ("For job{n}: no network in tests.", "job{n}: no network in tests"),
)
VERSIONS: Final = (
    "We are on libfoo {version} in production.",
    "{version} of libfoo, that's what the customer has.",
    "libfoo=={version} broke us last time.",
    "They gave us libfoo {version}; nothing newer got through their audit.",
)
NUMBERS: Final = (
    "The gateway for zone {at} listens on {number}.",
    "zone {at}: {number}, same as last year.",
    "It took {number} rows before the importer of zone {at} fell over.",
    "Port for zone {at}? {number}.",
)
CURES: Final = (
    "It passes again after {cure}.",
    "The root cause was a lock file; {cure} fixed it.",
    "Green once more: {cure} did the trick.",
    "{cure} made the message go away.",
    "Apparently a crashed run had left it behind, and {cure} was all it took.",
    "Back to normal. I ended up {cure}.",
)
DECISIONS: Final = (
    "Decision: {choice}, because it streams.",
    "I go with {choice} here.",
    "{choice} looks like the better fit: half the memory and no daemon.",
    "Let us take {choice}; the others lack a licence we can ship.",
    "After comparing all three, {choice} it is.",
    "Ruled out the rest, so {choice} from here on.",
)
"""Ways to say each sort of fact; most are phrased as no pattern in the runtime was written for."""


def facts(seed: int) -> list[Planted]:
    """Twenty facts, worded differently from seed to seed."""
    made: list[Planted] = []
    todos: list[dict[str, str]] = []

    def add(kind: str, text: str, part: int, *messages: Message) -> None:
        made.append(Planted(kind=kind, text=text, part=part, messages=messages))

    def spoken(kind: str, part: int, sentence: str, text: str) -> None:
        add(kind, text, part, user(sentence), assistant("Noted."))

    n = seed * 100
    for at in range(4):
        rule, text = RULES[(seed * 3 + at * 5) % len(RULES)]
        spoken("rule", at % 3, rule.format(n=n), text.format(n=n))
    for at in range(3):
        version = f"{n + 3}.{at + 7}.{at + 11}"
        said = VERSIONS[(seed + at) % len(VERSIONS)].format(version=version)
        spoken("version", at, said, version)
        path = f"src/area{n}/planted_{at}.py"
        asked = call("write_file", {"path": path, "content": "pass\n"}, id=f"pw{n}_{at}")
        wrote = results(result(asked.id, f"wrote {path}"))
        add("path", path, at, assistant("", asked), wrote, assistant("Written."))
        cure = f"removing stale_{n}_{at}.lock"
        failed = call("bash", {"command": f"make target{n}_{at}"}, id=f"pe{n}_{at}")
        error = results(result(failed.id, f"E{n + at}: target failed", is_error=True))
        said = CURES[(seed * 5 + at) % len(CURES)].format(cure=cure)
        add("error", cure, at, assistant("", failed), error, assistant(said))
        choice = f"engine_{n}_{at}"
        said = DECISIONS[(seed * 5 + at) % len(DECISIONS)].format(choice=choice)
        asked_for = user(f"Which engine for job {at}?" if (seed + at) % 2 else "Go on.")
        add("decision", choice, at, asked_for, assistant(said))
    for at in range(2):
        number = str(n + 8_000 + at)
        said = NUMBERS[(seed + at) % len(NUMBERS)].format(at=at, number=number)
        spoken("number", at, said, number)
        todos.append({"content": f"migrate shard_{n}_{at}", "status": "pending"})
        listed = call("todo_write", {"todos": list(todos)}, id=f"pt{n}_{at}")
        done = results(result(listed.id, "noted"))
        add("todo", todos[-1]["content"], at + 1, assistant("", listed), done, assistant("Ok."))
    return made


def forgetful(known: Sequence[Planted]) -> Callable[[Request], str]:
    """A summarizer that forgets every other fact it is shown, those from the log among them."""

    def write(request: Request) -> str:
        shown = request.messages[0].text
        listed = shown.partition("<facts>\n")[2].partition("\n</facts>")[0]
        lines = [line for line in listed.splitlines() if line.startswith("- ")]
        return _written(known, shown, lines)

    return write


def _written(known: Sequence[Planted], seen: str, listed: Sequence[str] = ()) -> str:
    lines: dict[str, list[str]] = {heading: [] for heading in _HEADINGS.values()}
    lines |= {"State of work": ["- under way"], "Open questions": ["-"]}
    for fact in known:
        if fact.text in seen and _kept(fact.text, seen):
            lines[_HEADINGS[fact.kind]].append(f"- {fact.text}")
    for line in listed:
        if _kept(line, seen) and not any(fact.text in line for fact in known):
            lines["State of work"].append(line)
    text = "\n".join(f"## {title}\n" + "\n".join(own or ["-"]) for title, own in lines.items())
    return f"<summary>\n{text}\n</summary>"


def _kept(fact: str, seen: str) -> bool:
    return hashlib.sha256(f"{fact}{len(seen)}".encode()).digest()[0] % 2 == 1


def laid_in(recording: Recording, known: Sequence[Planted]) -> list[list[Message]]:
    """The session in as many parts as there are compactions, each with its facts within."""
    own = codec(recording.format)
    starts = [0, *recording.steps, len(recording.messages)]
    cuts = [starts[len(starts) * at // GENERATIONS] for at in range(GENERATIONS)]
    cuts.append(len(recording.messages))
    parts: list[list[Message]] = []
    for part in range(GENERATIONS):
        messages = [own.decode(wire) for wire in recording.messages[cuts[part] : cuts[part + 1]]]
        planted = [message for fact in known if fact.part == part for message in fact.messages]
        head = 1 if part == 0 else 0
        parts.append([*messages[:head], *planted, *messages[head:]])
    return parts


def forgetting(known: Sequence[Planted]) -> ScriptedModel:
    """A model that is the forgetful summarizer."""
    return ScriptedModel(always=forgetful(known), window_tokens=WINDOW_TOKENS)


async def ours(recording: Recording, known: Sequence[Planted], *, model: Model | None) -> Found:
    """The session through the runtime, with a model for summaries or the digest alone."""
    found = Found()

    def watch(event: Event) -> None:
        found.failed += event.name == "compaction.failed"

    clock = MovableClock()
    budget = Budget.window(WINDOW_TOKENS, max_output_tokens=2_000)
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        places = Places(workspace=Path(folder))
        transcript = file_transcript(
            places, "s", clock=clock, format=recording.format, sync="never"
        )
        governor = await governed(transcript, budget, clock=clock)
        summarizer = Summarizer(model=model, clock=clock, watch=watch, spent=found.spent)
        for generation, part in enumerate(laid_in(recording, known), 1):
            for message in part:
                if message.role == "assistant" and len(governor.view):
                    found.steps += 1
                    await _prepare(governor, summarizer)
                await governor.add([message])
            if not await summarizer(governor):
                # It failed, or nothing would be gained: what the limit would do.
                await summarizer(governor, trigger="reactive")
            prepared = await governor.prepare()
            shown = _shown(codec(recording.format).encode(prepared.messages))
            await transcript.close()
            _look(found, generation, known, shown, Reader(places.workspace))
            await transcript.open()
        async for entry in transcript.entries():
            found.stood += getattr(entry, "by", "") == "summary"
        await transcript.close()
    return found


async def _prepare(governor: Governor, summarizer: Summarizer) -> None:
    if due(governor):
        await summarizer(governor, trigger="auto")
    await governor.prepare()


def plain(recording: Recording, known: Sequence[Planted]) -> Found:
    """The same session where a summary simply replaces the history before the newest messages."""
    found = Found()
    history: list[str] = []
    for generation, part in enumerate(laid_in(recording, known), 1):
        history += [_text(message) for message in part]
        summary = _written(known, "\n".join(history[:-5]))
        history = [summary, *history[-5:]]
        _look(found, generation, known, "\n".join(history), None)
    return found


def _text(message: Message) -> str:
    parts = [message.text, *(r.text for r in message.results)]
    return "\n".join([*parts, *(str(c.input) for c in message.calls)])


def _shown(request: Any) -> str:
    return "\n".join(leaves(request))


def _look(
    found: Found, generation: int, known: Sequence[Planted], shown: str, reader: Reader | None
) -> None:
    there = [fact for fact in known if fact.part < generation]
    index = reader.index(shown) if reader is not None else None
    for fact in there:
        key = (generation, fact.kind)
        if fact.text in shown:
            found.visible[key] += 1
        elif index is not None and index.find(fact.text).found:
            found.by_address[key] += 1
        else:
            found.lost[key] += 1


def by_local_model(recordings: Sequence[Recording], path: Path, count: int) -> list[Found]:
    """The way over the `count` recordings with the fewest steps, summaries by the local model:
    it takes half a minute for one."""
    usable = [(seed, r) for seed, r in enumerate(_usable(recordings), 1)]
    usable.sort(key=lambda one: len(one[1].steps))

    async def run() -> list[Found]:
        model = local_summarizer(path)
        try:
            return [await ours(r, facts(seed), model=model) for seed, r in usable[:count]]
        finally:
            await model.close()

    return anyio.run(run)


def _usable(recordings: Sequence[Recording]) -> list[Recording]:
    return [r for r in recordings if len(r.steps) >= GENERATIONS * 4]


def measured(recordings: Sequence[Recording]) -> dict[str, list[Found]]:
    """Each way over every recording of at least four steps a part."""
    ways: dict[str, list[Found]] = {
        "summaries, half forgotten": [],
        "digest alone": [],
        "plain": [],
    }
    for seed, recording in enumerate(_usable(recordings), 1):
        known = facts(seed)

        async def both(recording: Recording = recording, known: list[Planted] = known) -> None:
            for name, model in (
                ("summaries, half forgotten", forgetting(known)),
                ("digest alone", None),
            ):
                ways[name].append(await ours(recording, known, model=model))

        anyio.run(both)
        ways["plain"].append(plain(recording, known))
    return ways
