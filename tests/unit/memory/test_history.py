"""What the owner may do about the past: look, undo, forget, redact."""

from __future__ import annotations

import json

import pytest

from wayfare.clock import MovableClock
from wayfare.errors import NotFound, RecordConflict, RecordError
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.history import diff, forget, history, log, redact, undo
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.transaction import Change
from wayfare.store.ref import digest
from wayfare.testing.memory_storage import MemoryShelf

pytestmark = pytest.mark.anyio


class Bench:
    def __init__(self) -> None:
        self.clock = MovableClock()
        self.shelf = MemoryShelf()
        self.store = MemoryStore(self.shelf.storage(self.clock), holder="one", clock=self.clock)

    async def put(self, name: str, body: str, description: str = "") -> None:
        self.clock.advance(60)
        made = Candidate(
            name=name,
            description=description or f"about {name}",
            type="project",
            body=body,
            scope="persistent",
            evidence=Evidence(origin="owner"),
        )
        offered = await self.store.offer([made], actor="user")
        assert offered.written.files

    def journal(self) -> str:
        return b"\n".join(self.shelf.journal.lines).decode()


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_the_log_is_newest_first_and_numbers_name_changes(bench: Bench) -> None:
    await bench.put("a", "One.")
    await bench.put("a", "Two.")
    found = await log(bench.store)
    assert [(h.file, h.what) for h in found] == [("a.md", "changed"), ("a.md", "added")]
    shown = await diff(bench.store, str(found[0].number))
    assert "-One." in shown
    assert "+Two." in shown
    assert await log(bench.store, last=1) == found[:1]


async def test_undo_brings_back_the_bytes_before(bench: Bench) -> None:
    await bench.put("a", "One.")
    old = bench.shelf.records["a"]
    await bench.put("a", "Two.")
    change = (await log(bench.store))[0]
    await undo(bench.store, str(change.number))
    assert bench.shelf.records["a"] == old
    assert bench.store.entries["a.md"].sha256 == digest(old)
    await undo(bench.store, str((await log(bench.store))[0].number))
    assert b"Two." in bench.shelf.records["a"]


async def test_undo_of_a_transaction_takes_all_of_it_back(bench: Bench) -> None:
    await bench.put("a", "One.")
    await bench.put("b", "Two.")
    before = dict(bench.shelf.records)
    changes = [
        Change(file="c.md", before=None, after=b"---\nname: c\n---\nOne. Two.\n"),
        Change(file="a.md", before=before["a"], after=None),
        Change(file="b.md", before=before["b"], after=None),
    ]
    written = await bench.store.transact(changes, actor="consolidator")
    assert sorted(bench.shelf.records) == ["c"]
    await undo(bench.store, written.tx)
    assert bench.shelf.records == before


async def test_undo_of_an_addition_removes_it(bench: Bench) -> None:
    await bench.put("a", "One.")
    await undo(bench.store, str((await log(bench.store))[0].number))
    assert bench.shelf.records == {}
    assert b"(a.md)" not in bench.shelf.index["MEMORY"]


async def test_undo_of_what_was_changed_since_is_refused_unless_forced(bench: Bench) -> None:
    await bench.put("a", "One.")
    await bench.put("a", "Two.")
    change = (await log(bench.store))[0]
    await bench.put("a", "Three.")
    with pytest.raises(RecordConflict) as caught:
        await undo(bench.store, str(change.number))
    assert "Three." in (caught.value.present or "")
    assert "--force" in str(caught.value)
    await undo(bench.store, str(change.number), force=True)
    assert b"One." in bench.shelf.records["a"]


async def test_undo_of_an_edit_by_hand_finds_the_older_text(bench: Bench) -> None:
    await bench.put("a", "One.")
    old = bench.shelf.records["a"]
    bench.shelf.records["a"] = b"Spoilt.\n"
    await bench.store.sync()
    change = (await log(bench.store))[0]
    assert change.what == "edited by hand"
    assert "-One." in await diff(bench.store, str(change.number))
    await undo(bench.store, str(change.number))
    assert bench.shelf.records["a"] == old


@pytest.mark.parametrize("change", ["99", "tx-none", ""])
async def test_undo_of_nothing_is_said(bench: Bench, change: str) -> None:
    await bench.put("a", "One.")
    with pytest.raises(NotFound):
        await undo(bench.store, change)


async def test_forgetting_leaves_a_tombstone(bench: Bench) -> None:
    await bench.put("tea", "Drinks green tea.")
    bench.clock.advance(60)
    await forget(bench.store, "tea")
    assert bench.store.entries == {}
    said = Evidence(origin="user", quotes=("green tea",), time=bench.clock.now() - 10)
    again = Candidate(
        name="tea",
        description="green tea",
        type="user",
        body="Drinks green tea.",
        scope="persistent",
        evidence=said,
    )
    offered = await bench.store.offer([again], actor="extractor")
    assert offered.verdicts[0].reason == "forgotten"
    assert [h.what for h in await history(bench.store, "tea")] == [
        "accept",
        "added",
        "forgotten",
        "deleted",
    ]


async def test_what_the_user_adds_again_lifts_the_tombstone(bench: Bench) -> None:
    await bench.put("tea", "Drinks green tea.")
    await forget(bench.store, "tea")
    assert list(bench.store.state.stones) == ["tea.md"]
    await bench.put("tea", "Drinks green tea.")
    assert bench.store.state.stones == {}


async def test_undoing_a_forget_lifts_the_tombstone(bench: Bench) -> None:
    await bench.put("tea", "Drinks green tea.")
    written = await forget(bench.store, "tea")
    await undo(bench.store, written.tx)
    assert list(bench.store.entries) == ["tea.md"]
    assert bench.store.state.stones == {}


async def test_redaction_takes_every_text_out_of_the_journal(bench: Bench) -> None:
    await bench.put("tea", "Drinks GREEN tea.")
    await bench.put("tea", "Drinks BLACK tea.")
    await bench.put("other", "Stays.")
    count = await redact(bench.store, "tea")
    assert count >= 3
    for word in ("GREEN", "BLACK", "about tea"):
        assert word not in bench.journal()
        assert not any(word in text.decode() for text in bench.shelf.state.values())
    assert "Stays." in bench.journal()
    assert [h.what for h in await history(bench.store, "tea.md")][-1] == "redacted"
    assert list(bench.store.entries) == ["other.md"]


async def test_after_a_redaction_the_rest_of_the_journal_still_counts(bench: Bench) -> None:
    await bench.put("tea", "Green.")
    await bench.put("other", "One.")
    number = (await log(bench.store))[0].number
    await redact(bench.store, "tea")
    await bench.put("other", "Two.")
    assert [h.number for h in await history(bench.store, "other") if h.what == "added"] == [number]
    again = MemoryStore(bench.shelf.storage(bench.clock), holder="two", clock=bench.clock)
    await again.open()
    assert list(again.state.known) == ["other.md"]
    deleted = next(h for h in await history(again, "tea") if h.what == "deleted")
    with pytest.raises(RecordError):
        await undo(again, str(deleted.number))


async def test_redaction_drops_plans_that_quote_the_record(bench: Bench) -> None:
    await bench.put("tea", "Drinks GREEN tea.")
    quotes = {"hashes": {"tea.md": "0"}, "operations": [{"record": {"body": "GREEN"}}]}
    bench.shelf.inbox["plan-1"] = json.dumps(quotes).encode()
    bench.shelf.inbox["plan-2"] = json.dumps({"hashes": {"other.md": "0"}}).encode()
    await redact(bench.store, "tea")
    assert list(bench.shelf.inbox) == ["plan-2"]


async def test_redaction_reaches_an_index_that_was_edited(bench: Bench) -> None:
    await bench.put("tea", "Drinks GREEN tea.", description="about SECRET tea")
    bench.shelf.index["MEMORY"] += b"- mine\n"
    await bench.put("other", "Stays.")
    assert "SECRET" in bench.journal()
    await redact(bench.store, "tea")
    assert "SECRET" not in bench.journal()


async def test_a_record_nobody_knows_is_not_found(bench: Bench) -> None:
    with pytest.raises(NotFound):
        await forget(bench.store, "nobody")
    with pytest.raises(NotFound):
        await redact(bench.store, "nobody")


async def test_a_record_that_is_gone_answers_to_its_name(bench: Bench) -> None:
    await bench.put("Äpfel & Birnen", "Fruit is kept in the cellar.")
    (file,) = bench.shelf.records
    await forget(bench.store, file)
    assert {h.file for h in await history(bench.store, "Äpfel & Birnen")} == {f"{file}.md"}
    assert await redact(bench.store, "Äpfel & Birnen") > 0
    assert "cellar" not in bench.journal()
