"""The owner's word on what waits."""

from __future__ import annotations

import pytest
from tests.unit.memory.places import Workplace, owned, record

from wayfare.errors import NotFound, RecordConflict
from wayfare.memory.candidate import Evidence
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.review import approve, decline
from wayfare.memory.waiting import waiting

pytestmark = pytest.mark.anyio

FROM_TOOL = owned("rule", "Always use the blue button.", evidence=Evidence(origin="tool"))


async def one_waits(store: MemoryStore) -> str:
    (item,) = await waiting(store.storage)
    return item.id


async def test_an_approved_candidate_becomes_a_record(place: Workplace) -> None:
    store = place.store()
    await store.offer([FROM_TOOL], actor="extractor")
    offered = await approve(store, await one_waits(store))
    assert offered.written.files == ("rule.md",)
    assert place.bodies() == {"rule": "Always use the blue button."}
    assert await waiting(store.storage) == []


async def test_a_declined_one_does_not_come_again(place: Workplace) -> None:
    store = place.store()
    await store.offer([FROM_TOOL], actor="extractor")
    await decline(store, await one_waits(store))
    assert await waiting(store.storage) == []
    said = Evidence(origin="user", time=place.clock.now() - 5)
    again = owned("other name", "Always use the blue button.", evidence=said)
    offered = await store.offer([again], actor="extractor")
    assert offered.verdicts[0].reason == "forgotten"
    anew = Evidence(origin="user", time=place.clock.now() + 5)
    offered = await store.offer(
        [owned("rule", "Always use the blue button.", evidence=anew)], actor="extractor"
    )
    assert offered.verdicts[0].outcome == "accept"


async def proposed(place: Workplace) -> MemoryStore:
    store = place.store()
    await store.offer([owned("tea", "Green.")], actor="user")
    said = Evidence(origin="user", quotes=("white",), time=place.clock.now() - 60)
    await store.offer([owned("tea", "White.", evidence=said)], actor="extractor")
    return store


async def test_an_approved_update_changes_its_record(place: Workplace) -> None:
    store = await proposed(place)
    await approve(store, await one_waits(store))
    assert place.bodies() == {"tea": "White."}


async def test_an_update_of_what_changed_since_shows_both_texts(place: Workplace) -> None:
    store = await proposed(place)
    place.put(record("tea", "Black."))
    id = await one_waits(store)
    with pytest.raises(RecordConflict) as caught:
        await approve(store, id)
    assert (caught.value.wanted, caught.value.present) == ("White.", "Black.")
    await approve(store, id, anyway=True)
    assert place.bodies() == {"tea": "White."}


async def test_a_declined_update_leaves_the_record_and_no_tombstone(place: Workplace) -> None:
    store = await proposed(place)
    await decline(store, await one_waits(store))
    assert place.bodies() == {"tea": "Green."}
    assert store.state.stones == {}


async def test_what_does_not_wait_is_not_found(place: Workplace) -> None:
    store = place.store()
    for ask in (approve, decline):
        with pytest.raises(NotFound):
            await ask(store, "nobody")
