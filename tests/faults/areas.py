"""The stores that are broken: log, archive, notes, memory, and a whole turn on them."""

from __future__ import annotations

from tests.faults.breaking import ROOT, Area, World

from wayfare.backends import FileBlobs, FileLog, is_json_line
from wayfare.errors import StoreError
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.memory_store import MemoryStore
from wayfare.session import Places
from wayfare.session.compacting import notes_docs
from wayfare.store.ref import Ref, digest
from wayfare.testing.memory_storage import memory_in_files

PLACES = Places(workspace=ROOT)
_ROUNDS = 4


def _log(world: World) -> FileLog:
    path = PLACES.log("s")
    return FileLog(
        path, disk=world.disk, clock=world.clock, is_whole=is_json_line, inside=ROOT,
        gitignore_in=ROOT / PLACES.transcripts,
    )  # fmt: skip


async def _nothing(world: World) -> None:
    """Nothing is there before."""


async def write_log(world: World) -> None:
    """Batches of lines; after a refused one the log goes on."""
    log = _log(world)
    await log.open()
    for number in range(_ROUNDS):
        batch = [f'{{"id":{number},"part":{part},"text":"{"x" * 300}"}}' for part in range(3)]
        world.begun += batch
        try:
            await log.append([line.encode() for line in batch])
        except StoreError:
            continue
        world.acknowledged += batch
    await log.close()


async def check_log(world: World) -> None:
    """What was acknowledged is there in its order, nothing else than was begun, and it goes on."""
    log = _log(world)
    opened = await log.open()
    found = [line.content.decode() async for line in log.read()]
    assert opened.lines == len(found)
    kept = iter(found)
    assert all(line in kept for line in world.acknowledged), "an acknowledged line is lost"
    begun = iter(world.begun)
    assert all(line in begun for line in found), "a line that nobody wrote, or out of order"
    await log.append([b'{"id":99}'])
    await log.close()


def _blobs(world: World) -> FileBlobs:
    return FileBlobs(PLACES.results_of("s"), workspace=ROOT, disk=world.disk, clock=world.clock)


async def write_archive(world: World) -> None:
    """Results of which two bear one name."""
    blobs = _blobs(world)
    for number in range(_ROUNDS):
        content = f"result {number} ".encode() * 400
        try:
            ref = await blobs.put(f"call{number // 2}.txt", content)
        except StoreError:
            continue
        world.acknowledged.append(f"{ref.path}\n{ref.bytes}\n{ref.sha256}\n{number}")


async def check_archive(world: World) -> None:
    """Every address that was given out leads to its bytes; a lost put can be put again."""
    blobs = _blobs(world)
    for line in world.acknowledged:
        path, size, sha256, number = line.split("\n")
        ref = Ref(path=path, bytes=int(size), sha256=sha256)
        assert await blobs.get(ref) == f"result {number} ".encode() * 400
    for number in range(_ROUNDS):
        content = f"result {number} ".encode() * 400
        ref = await blobs.put(f"call{number // 2}.txt", content)
        assert await blobs.get(ref) == content


async def write_notes(world: World) -> None:
    """Versions of the notes, each whole."""
    docs = notes_docs(PLACES, "s", disk=world.disk, clock=world.clock)
    for number in range(_ROUNDS):
        text = f"# Worklog\nversion {number}\n" * 50
        world.begun.append(text)
        present = await docs.read("notes")
        expected = None if present is None else digest(present)
        try:
            await docs.write("notes", text.encode(), expected=expected)
        except StoreError:
            continue
        world.acknowledged.append(text)


async def check_notes(world: World) -> None:
    """One version stands, whole, and none older than the last acknowledged."""
    docs = notes_docs(PLACES, "s", disk=world.disk, clock=world.clock)
    content = await docs.read("notes")
    if content is None:
        assert not world.acknowledged, "acknowledged notes are lost"
        found = -1
    else:
        found = world.begun.index(content.decode())
    if world.acknowledged:
        assert found >= world.begun.index(world.acknowledged[-1]), "older notes came back"
    expected = None if content is None else digest(content)
    await docs.write("notes", b"# Worklog\nafter\n", expected=expected)
    assert await docs.read("notes") == b"# Worklog\nafter\n"


def _store(world: World, holder: str) -> MemoryStore:
    storage = memory_in_files(ROOT / ".memory", disk=world.disk, clock=world.clock)
    return MemoryStore(storage, holder=holder, clock=world.clock)


def _wanted(name: str, world: World, body: str = "") -> Candidate:
    return Candidate(
        name=name,
        description=f"about {name}",
        type="project",
        body=body or f"{name} holds.",
        scope="persistent",
        evidence=Evidence(origin="owner"),
    )


async def prepare_memory(world: World) -> None:
    """Two records, everything flushed."""
    store = _store(world, "before")
    for name in ("first", "second"):
        await store.offer([_wanted(name, world)], actor="user")
        world.acknowledged.append(f"{name}.md")
    await store.close()


async def write_memory(world: World) -> None:
    """New records, one after the other."""
    store = _store(world, "writing")
    for number in range(3):
        name = f"fact-{number}"
        world.begun.append(f"{name}.md")
        try:
            offered = await store.offer([_wanted(name, world)], actor="user")
        except StoreError:
            continue
        if offered.written.files:
            world.acknowledged += offered.written.files
    await store.close()


async def check_memory(world: World) -> None:
    """Records, index and journal agree; what was acknowledged is there; it can be written."""
    store = _store(world, "after")
    await store.sync()
    found = {f"{name}.md" for name in await store.storage.records.names()}
    lost = set(world.acknowledged) - found
    assert not lost, f"acknowledged records are lost: {sorted(lost)}"
    assert found <= {"first.md", "second.md", *world.begun}
    index = (await store.storage.index.read("MEMORY") or b"").decode()
    assert all(f"]({file})" in index for file in found), "the index does not list a record"
    assert index.count("](") == len(found), "the index lists what is not there"
    assert store.state.pending is None
    news = await store.offer([_wanted("news", world)], actor="user")
    assert news.written.files == ("news.md",)
    await store.close()


AREAS = (
    Area(name="log", prepare=_nothing, work=write_log, check=check_log),
    Area(name="archive", prepare=_nothing, work=write_archive, check=check_archive),
    Area(name="notes", prepare=_nothing, work=write_notes, check=check_notes),
    Area(name="memory", prepare=prepare_memory, work=write_memory, check=check_memory),
)
