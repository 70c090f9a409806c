"""The operations of the case format that are about memory.

Each leaves a dictionary whose keys are fields of `Outcome`: the records and named texts after it,
events, what was recalled, gates, the journal.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import finalize

import anyio
from tests.cases.expand import expand
from tests.cases.outcome import NotYet, Outcome, snapshot

from wayfare.backends.disk import Disk
from wayfare.clock import Clock, MovableClock, SystemClock
from wayfare.errors import LeaseHeld, ModelUnreachable, StoreError
from wayfare.events import Event
from wayfare.lexical import LexicalIndex
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.consolidate import LEASE as CONSOLIDATION
from wayfare.memory.consolidate import consolidate
from wayfare.memory.dream import LEASE as DREAM
from wayfare.memory.dream import DreamState, dream, read_dream
from wayfare.memory.extract import Extractor
from wayfare.memory.journal import content_of
from wayfare.memory.likeness import Utterance
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.recall import Recall, Recalled
from wayfare.memory.record import read_record
from wayfare.memory.search import MemorySearch
from wayfare.memory.tools import read_record_by, shown_record
from wayfare.memory.waiting import waiting
from wayfare.testing import FaultyDisk, is_power_cut
from wayfare.testing.memory_storage import memory_in_files

Case = dict[str, Any]
Texts = dict[str, Any]


class Scripted:
    """A side query that gives replies in order and keeps what it was asked."""

    def __init__(self, replies: Sequence[Any], *, mentions: str = "") -> None:
        self._replies = list(replies)
        self._mentions = mentions
        self.requests: list[str] = []

    async def __call__(
        self, system: str, prompt: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> str:
        self.requests.append(f"{system}\n{prompt}")
        if not self._replies:
            raise ModelUnreachable("the script has no further reply")
        reply = self._replies[0]
        if not (isinstance(reply, dict) and reply.get("repeat")):
            self._replies.pop(0)
        if isinstance(reply, str):
            return reply
        if "error" in reply:
            error = reply["error"]
            raise ModelUnreachable(str(error.get("body")), status=error.get("status"))
        if self._mentions:
            found = re.search(rf"^\[(\d+)\].*{self._mentions}", prompt, re.MULTILINE)
            return f"[{found[1]}]" if found else "[]"
        return str(reply["text"])


class Place:
    """A workspace with a memory, and what is told about it."""

    def __init__(
        self, root: Path, case: Case, *, clock: Clock | None = None, disk: Disk | None = None
    ) -> None:
        setup = case["setup"]
        self.root = root
        self.memory = root / setup.get("memory_dir", ".memory")
        self.clock = clock or SystemClock()
        self.disk = disk
        self.events: list[str] = []
        self.holders = 0

    def watch(self, event: Event) -> None:
        # Cases say "symlink" for what our texts call a symbolic link.
        self.events.append(f"{event.name}: {event.text}".replace("symbolic link", "symlink"))

    def refused(self, error: StoreError) -> None:
        self.watch(Event(name="memory.refused", text=str(error)))

    def store(self) -> MemoryStore:
        self.holders += 1
        storage = memory_in_files(self.memory, disk=self.disk, clock=self.clock)
        store = MemoryStore(
            storage, holder=f"case-{self.holders}", clock=self.clock, watch=self.watch
        )
        return store

    def search(self, store: MemoryStore) -> MemorySearch:
        index = LexicalIndex(":memory:")
        finalize(self, index.close)
        search = MemorySearch(store, index)
        store.likely = search.likely
        return search

    async def left(self, store: MemoryStore) -> dict[str, Any]:
        """What stands there now."""
        docs = store.storage.records
        memories: dict[str, dict[str, Any]] = {}
        live: list[str] = []
        for name in await docs.names():
            content = await docs.read(name) or b""
            record = read_record(f"{name}.md", content).record
            live.append(content.decode("utf-8", "replace"))
            memories[record.name] = {
                "file": f"{name}.md",
                "description": record.description,
                "type": record.type,
                "body": record.body,
            }
        journal: list[str] = []
        for numbered in await store.journal.read():
            for before in (True, False):
                content = content_of(numbered.line, before=before)
                journal.append((content or b"").decode("utf-8", "replace"))
        index = await store.storage.index.read("MEMORY")
        leases = store.storage.leases
        held = [n for n in ("memory", CONSOLIDATION, DREAM) if await leases.holder(n)]
        return {
            "memories": memories,
            "events": list(self.events),
            "texts": {
                "memory": "\n".join(live),
                "memory_or_archive": "\n".join([*live, *journal]),
                "index": (index or b"").decode("utf-8", "replace"),
                "recall": await self.everything(store),
            },
            "extra": {
                "lock_held": held,
                "journal": [n.line for n in await store.journal.read()],
                "waiting": [w.candidate.name for w in await waiting(store.storage)],
            },
        }

    async def everything(self, store: MemoryStore) -> str:
        """All records as recall would put them before the model."""
        if len(store.entries) > 100:
            return ""
        texts: list[str] = []
        for entry in store.folder.in_order():
            found = await store.read(entry.file)
            texts.append(shown_record(found) if found is not None else "")
        return "\n".join(texts)


def lay_out(root: Path, files: Texts) -> None:
    """Make files, links and folders as a case describes them."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp = 0
        if isinstance(content, dict):
            if "$link" in content:
                path.symlink_to(content["$link"])
                continue
            if "$dir" in content:
                path.mkdir(exist_ok=True)
                continue
            if "$bytes" in content:
                path.write_bytes(bytes.fromhex(content["$bytes"]))
                continue
            stamp, content = content["$mtime"], content["$text"]
        path.write_bytes(str(content).encode("utf-8", "surrogatepass"))
        if stamp:
            seconds = 1_700_000_000 + stamp
            os.utime(path, (seconds, seconds))


def prepared(case: Case, root: Path, **more: Any) -> Place:
    """The workspace as the case finds it."""
    place = Place(root, case, **more)
    setup = case["setup"]
    lay_out(root, expand(setup.get("fs", {})))
    files = {**setup.get("memory", {}), **case["input"].get("memory", {})}
    if files or not setup.get("fs"):
        place.memory.mkdir(parents=True, exist_ok=True)
    lay_out(place.memory, files)
    return place


def candidate_from(written: Mapping[str, Any]) -> Candidate:
    """What `remember` is to write; the owner's own hand."""
    return Candidate(
        name=written["name"],
        description=written["description"],
        type=written["type"],
        body=written["body"],
        scope="persistent",
        evidence=Evidence(origin="owner"),
    )


async def remember(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    before = snapshot(root)
    store = place.store()
    outcome = "ok"
    for written in case["input"]["write"]:
        try:
            await store.offer([candidate_from(written)], actor="user")
        except StoreError as error:
            outcome = "clear_failure"
            place.refused(error)
    if outcome != "ok":
        return {"before": before, "outcome": outcome, "events": place.events}
    await store.close()
    return {"before": before, **await place.left(store)}


async def load(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    before = snapshot(root)
    store = place.store()
    await store.open()
    search = place.search(store)
    asked = {c["query"]: c for c in case["expected"]["checks"] if "query" in c}
    found: dict[str, list[str]] = {}
    for query in asked:
        recalled = await Recall(store, search, None)([query])
        found[query] = list(recalled.files)
    left = await place.left(store)
    left["extra"]["recall_of"] = found
    return {"before": before, **left, "recalled": found}


async def index(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    before = snapshot(root)
    store = place.store()
    await store.rebuild_index()
    return {"before": before, **await place.left(store)}


async def read_memory(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    store = place.store()
    await store.open()
    answers: list[tuple[str, bool]] = []
    for path in case["input"]["paths"]:
        found = await read_record_by(store, path)
        refused = isinstance(found, str)
        answers.append((found if isinstance(found, str) else shown_record(found), refused))
    text = "\n".join(answer for answer, _ in answers)
    left = await place.left(store)
    left["extra"]["answers"] = answers
    return {**left, "request": [{"role": "user", "content": text}]}


def recall_outcome(recalled: Recalled, store: MemoryStore, seconds: float) -> dict[str, Any]:
    names = [store.entries[file].name for file in recalled.files]
    return {
        "recalled": {"": names},
        "side_requests": [recalled.request] if recalled.request else [],
        "texts": {"manifest": recalled.manifest.text, "recall": recalled.text},
        "seconds": seconds,
    }


async def recall(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    rule = re.search(r"whichever entry mentions (\w+)", case["setup"].get("model_rule", ""))
    side = Scripted(case["setup"].get("model", []), mentions=rule[1] if rule else "")
    began = time.process_time()  # a busy machine must not decide
    store = place.store()
    recalled = await Recall(store, place.search(store), side, watch=place.watch)(
        [case["input"]["query"]]
    )
    made = recall_outcome(recalled, store, time.process_time() - began)
    return {**made, "events": place.events}


async def recall_many(case: Case, root: Path) -> dict[str, Any]:
    place = prepared(case, root)
    variants: dict[str, Outcome] = {}
    for name, reply in case["input"]["replies"].items():
        store = place.store()
        await store.open()
        listed = [e.name for e in store.folder.in_order()]
        if "order" in case["setup"] and listed != case["setup"]["order"]:
            raise NotYet("a manifest in an order of the case's own")
        made = Recall(store, place.search(store), Scripted([reply]), watch=place.watch)
        recalled = await made([case["setup"].get("query", case["input"].get("query", ""))])
        fields = recall_outcome(recalled, store, 0.0)
        variants[name] = Outcome(root=root, events=list(place.events), **fields)
    return {"variants": variants}


def utterances_of(messages: Sequence[Mapping[str, Any]]) -> list[Utterance]:
    """What was said, from Anthropic messages; a tool's result is the tool's."""
    said: list[Utterance] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                origin, text = message["role"], block["text"]
            elif block["type"] == "tool_result":
                origin, text = "tool", json.dumps(block["content"], ensure_ascii=False)
            else:
                continue
            said.append(Utterance(entry_id=len(said) + 1, origin=origin, text=text))
    return said


async def _extracted(case: Case, root: Path, replies: Sequence[Any]) -> dict[str, Any]:
    place = prepared(case, root)
    before = snapshot(root)
    store = place.store()
    extractor = Extractor(
        store,
        side := Scripted(replies),
        session="case",
        search=place.search(store),
        default_scope="persistent",
        watch=place.watch,
    )
    await extractor.run(utterances_of(case["input"]["messages"]))
    made = await place.left(store)
    return {"before": before, **made, "side_requests": side.requests}


async def extract(case: Case, root: Path) -> dict[str, Any]:
    return await _extracted(case, root, case["setup"].get("model", []))


async def extract_many(case: Case, root: Path) -> dict[str, Any]:
    variants: dict[str, Outcome] = {}
    for name, reply in case["input"]["replies"].items():
        inner = root / name
        inner.mkdir()
        variants[name] = Outcome(root=inner, **await _extracted(case, inner, [reply]))
    return {"variants": variants}


async def _consolidated(place: Place, replies: Sequence[Any]) -> tuple[MemoryStore, dict[str, Any]]:
    store = place.store()
    side = Scripted(replies)
    done = await consolidate(store, side, at_least=1, watch=place.watch)
    return store, {"outcome": done.outcome, "calls": {"model": len(side.requests)}}


async def consolidate_once(case: Case, root: Path) -> dict[str, Any]:
    fault = case["setup"].get("fault", {}).get("kind")
    if fault == "sigkill":
        return await _killed(case, root)
    place = prepared(case, root)
    before = snapshot(root)
    store, made = await _consolidated(place, case["setup"]["model"])
    left = await place.left(store)
    found: dict[str, list[str]] = {}
    for check in case["expected"]["checks"]:
        if "query" in check:
            recalled = await Recall(store, place.search(store), None)([check["query"]])
            found[check["query"]] = list(recalled.files)
            left["texts"]["recall"] = recalled.text
    left["extra"]["recall_of"] = found
    return {"before": before, **left, **made, "recalled": found}


async def _killed(case: Case, root: Path) -> dict[str, Any]:
    """The power goes at every operation in turn; the first state that is neither the old set nor
    the new is what is judged, or the last one."""
    wanted = [sorted(n) for c in case["expected"]["checks"] for n in c.get("names_any_of", [])]
    at, last = 0, {}
    while True:
        at += 1
        clock = MovableClock()
        disk = FaultyDisk(seed=at, clock=clock)
        place = Place(Path("/w"), case, clock=clock, disk=disk)
        for folder in (Path("/w"), place.memory):
            disk.make_folder(folder)
            disk.sync_folder(folder.parent)
        docs = memory_in_files(place.memory, disk=disk, clock=clock).records
        for name, text in case["setup"]["memory"].items():
            await docs.write(name.removesuffix(".md"), text.encode(), expected=None)
        disk.inject("crash", at=at)
        whole = await _whole(lambda p=place: _consolidated(p, case["setup"]["model"]))
        disk.crash("some")
        clock.advance(3_600)
        store = place.store()
        await store.sync()
        left = await place.left(store)
        left["extra"]["index_files"] = re.findall(r"\]\(([^)]+)\)", left["texts"]["index"])
        _, again = await _consolidated(place, ["[]"])
        left["extra"]["next"] = again["outcome"]
        last = {**left, "outcome": "ok", "extra": {**left["extra"], "points": at}}
        bad = sorted(left["memories"]) not in wanted or again["outcome"] == "skipped_locked"
        if bad or whole:
            return last


async def _whole(run: Callable[[], Awaitable[Any]]) -> bool:
    try:
        await run()
    except BaseException as error:
        if is_power_cut(error):
            return False
        raise
    return True


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp()


async def _gate(
    root: Path,
    case: Case,
    *,
    now: float,
    last: float,
    sessions: int,
    lock: Mapping[str, Any] | None,
) -> dict[str, Any]:
    import msgspec

    clock = MovableClock(now)
    place = Place(root, case, clock=clock)
    place.memory.mkdir(parents=True, exist_ok=True)
    store = place.store()
    state = DreamState(last=last)
    if lock is not None:
        pid = lock["pid"]
        alive = pid == "$ALIVE_UNRELATED"
        held = {
            "name": DREAM,
            "holder": "an earlier dream",
            "pid": os.getppid() if alive else pid,
            "host": os.uname().nodename,
            "started": "",
            "heartbeat": _seconds(lock["created"]),
            "seconds": store.limits.dream_holder_minutes * 60,
        }
        folder = place.memory / ".wayfare" / "leases"
        folder.mkdir(parents=True)
        (folder / f"{DREAM}.lease").write_text(json.dumps(held))
        state = DreamState(last=last, running="an earlier dream", began=held["heartbeat"])
    await store.storage.state.write("dream", msgspec.json.encode(state), expected=None)

    async def since(moment: float) -> int:
        return sessions

    dreamt = await dream(store, Scripted([]), since, watch=place.watch)
    after = await read_dream(store.storage.state)
    holder = await store.storage.leases.holder(DREAM)
    left = await place.left(store)
    left["extra"].update(last=after.last, now=clock.now(), holder=holder)
    return {**left, "gates": {"": dreamt.gate.open}}


async def dream_gate(case: Case, root: Path) -> dict[str, Any]:
    setup = case["setup"]
    state = setup["state"]
    return await _gate(
        root,
        case,
        now=_seconds(setup["now"]),
        last=_seconds(state["last_dream"]),
        sessions=state["sessions_since"],
        lock=setup.get("lock"),
    )


async def dream_gate_many(case: Case, root: Path) -> dict[str, Any]:
    variants: dict[str, Outcome] = {}
    for name, pair in case["input"]["pairs"].items():
        inner = root / name
        inner.mkdir()
        fields = await _gate(
            inner,
            case,
            now=_seconds(pair["now"]),
            last=_seconds(pair["last"]),
            sessions=case["setup"]["sessions_since"],
            lock=None,
        )
        variants[name] = Outcome(root=inner, **fields)
    return {"variants": variants}


async def parallel(case: Case, root: Path) -> dict[str, Any]:
    """Real processes, each writing its rounds."""
    place = prepared(case, root)
    plan = root.parent / f"{root.name}-plan.json"
    plan.write_text(json.dumps(case["input"]["each"]["write"]))
    program = Path(__file__).with_name("memory_worker.py")
    rounds = str(case["setup"]["rounds"])
    try:
        children = [
            subprocess.Popen(
                [sys.executable, str(program), str(place.memory), str(plan), str(p), rounds],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stderr=subprocess.PIPE,
                text=True,
            )
            for p in range(case["setup"]["processes"])
        ]
        ended = [child.communicate(timeout=300)[1] for child in children]
    finally:
        plan.unlink()
    crash = "; ".join(e for c, e in zip(children, ended, strict=True) if c.returncode)
    store = place.store()
    await store.sync()
    return {**await place.left(store), "crash": crash}


async def interleave(case: Case, root: Path) -> dict[str, Any]:
    """One consolidation waits for its model while another one comes."""
    place = prepared(case, root)
    before = snapshot(root)
    asked, go_on = anyio.Event(), anyio.Event()
    made: dict[str, Outcome] = {}

    class Waits(Scripted):
        async def __call__(self, *arguments: Any) -> str:
            asked.set()
            await go_on.wait()
            return await super().__call__(*arguments)

    async def first() -> None:
        store = place.store()
        side = Waits(case["setup"]["model"])
        done = await consolidate(store, side, at_least=1, watch=place.watch)
        made["A"] = Outcome(root=root, outcome=done.outcome, calls={"model": len(side.requests)})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await asked.wait()
        _, fields = await _consolidated(place, case["setup"]["model"])
        made["B"] = Outcome(root=root, **fields)
        go_on.set()
    store = place.store()
    await store.open()
    return {"before": before, **await place.left(store), "processes": made}


OPERATIONS: dict[str, Callable[[Case, Path], Awaitable[dict[str, Any]]]] = {
    "remember": remember,
    "load": load,
    "index": index,
    "read_memory": read_memory,
    "recall": recall,
    "recall_many": recall_many,
    "extract": extract,
    "extract_many": extract_many,
    "consolidate": consolidate_once,
    "dream_gate": dream_gate,
    "dream_gate_many": dream_gate_many,
    "parallel": parallel,
    "interleave": interleave,
}


async def run_memory_case(case: Case, folder: Path) -> dict[str, Any]:
    """Carry out a case's operation in `folder`; the keys are fields of `Outcome`.

    Raises:
        NotYet: the operation is none of memory's.
    """
    operation = OPERATIONS.get(case["setup"]["op"])
    if operation is None:
        raise NotYet(case["setup"]["op"])
    try:
        return await operation(case, folder)
    except LeaseHeld as error:
        return {"outcome": "skipped_locked", "events": [str(error)]}
