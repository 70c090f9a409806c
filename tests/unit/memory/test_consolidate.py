"""Consolidation: plans are read tolerantly, checked strictly, done whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from tests.unit.memory.places import Says, Workplace, record, reply

from wayfare.errors import ModelUnreachable, NotFound
from wayfare.memory.consolidate import LEASE, Consolidated, apply_plan, batches, consolidate
from wayfare.memory.history import undo
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.plan import Held
from wayfare.memory.record import Record
from wayfare.memory.record_text import render

pytestmark = pytest.mark.anyio

THREE = (
    record("tabs", "Indent Python with tabs.", type="feedback"),
    record("indent", "Python indentation: tabs, never spaces.", type="feedback"),
    record("port", "The service listens on port 8080.", type="project"),
)
MERGED = {
    "op": "merge",
    "files": ["tabs.md", "indent.md"],
    "record": {
        "name": "python-indentation",
        "type": "feedback",
        "description": "Python is indented with tabs",
        "body": "Indent Python with tabs, never spaces; this is the indentation rule.",
    },
}


async def run(place: Workplace, *said: str | Exception, **more: Any) -> Consolidated:
    store = place.store()
    return await consolidate(store, Says(*said), at_least=1, watch=place.events.append, **more)


def plan(*operations: dict[str, Any]) -> str:
    return reply(operations, "operations")


async def test_a_merge_replaces_its_records_in_one_transaction(place: Workplace) -> None:
    place.put(*THREE)
    before = dict(place.shelf.records)
    done = await run(place, plan(MERGED, {"op": "keep", "files": ["port.md"]}))
    assert (done.outcome, str(done)) == (
        "applied",
        "memory consolidation: 1 merged, 0 updated, 0 retired",
    )
    assert sorted(place.shelf.records) == ["port", "python-indentation"]
    store = place.store()
    assert done.written is not None
    await undo(store, done.written.tx)
    assert place.shelf.records == before


async def test_a_merge_into_one_of_its_records_keeps_that_file(place: Workplace) -> None:
    place.put(*THREE)
    into = {**MERGED, "record": {**MERGED["record"], "name": "Tabs"}}  # type: ignore[dict-item]
    await run(place, plan(into))
    assert sorted(place.shelf.records) == ["port", "tabs"]
    assert "never spaces" in place.bodies()["tabs"]


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        ([], "empty"),
        ([{"op": "retire", "files": ["tabs.md"]}], "without a successor"),
        ([{"op": "retire", "files": ["port.md"]}], "loss"),
        ([{"op": "explode", "files": ["port.md"]}], "does not exist"),
        ([{"op": "merge", "files": ["nobody.md", "tabs.md"]}], "do not exist"),
        ([{"op": "merge", "files": []}], "do not exist"),
        ([{**MERGED, "record": {**MERGED["record"], "body": "  "}}], "no body"),  # type: ignore[dict-item]
        (
            [{**MERGED, "record": {**MERGED["record"], "description": "tabs", "body": "Tabs."}}],
            "keeps",
        ),  # type: ignore[dict-item]
        (
            [
                {
                    **MERGED,
                    "record": {
                        **MERGED["record"],  # type: ignore[dict-item]
                        "body": "Indent Python with tabs, never spaces, the indentation. "
                        + " ".join(f"invented{n}" for n in range(40)),
                    },
                }
            ],
            "do not say",
        ),
        ([{**MERGED, "record": {**MERGED["record"], "name": "port"}}], "take the place of port.md"),  # type: ignore[dict-item]
        (
            [MERGED, {"op": "update", "files": ["tabs.md"], "record": {"body": "x"}}],
            "more than one",
        ),
        (
            [
                {
                    **MERGED,
                    "record": {**MERGED["record"], "body": MERGED["record"]["body"] + " For now."},
                }
            ],  # type: ignore[dict-item,index,operator]
            "For now",
        ),
    ],
)
async def test_a_plan_that_breaks_a_rule_changes_nothing(
    place: Workplace, operations: list[dict[str, Any]], why: str
) -> None:
    place.put(*THREE)
    before = dict(place.shelf.records)
    done = await run(place, plan(*operations))
    assert done.outcome == "refused"
    assert why in done.refusals[0]
    assert "rejected" in place.told("memory.plan_refused")[0]
    assert place.shelf.records == before
    assert place.shelf.index == {}


async def test_one_bad_operation_refuses_the_good_ones_of_its_plan(place: Workplace) -> None:
    place.put(*THREE)
    done = await run(place, plan(MERGED, {"op": "retire", "files": ["nobody.md"]}))
    assert done.outcome == "refused"
    assert len(place.shelf.records) == 3


async def test_records_that_no_operation_names_are_kept_and_said(place: Workplace) -> None:
    place.put(*THREE)
    done = await run(place, plan(MERGED))
    assert done.outcome == "applied"
    assert "port" in place.shelf.records
    assert "1 of 3 records; they are kept, without loss" in place.told("memory.plan_partial")[0]


async def test_a_bare_list_of_records_is_update_or_merge(place: Workplace) -> None:
    place.put(*THREE)
    merged = {**MERGED["record"], "from": ["tabs", "indent"]}  # type: ignore[dict-item]
    updated = {"name": "port", "type": "project", "description": "the port",
               "body": "The service listens on port 8080 by default."}  # fmt: skip
    done = await run(place, json.dumps([merged, updated]))
    assert [op.kind for op in done.operations] == ["merge", "update"]
    assert "by default" in place.bodies()["port"]


async def test_an_update_that_says_the_same_changes_no_byte(place: Workplace) -> None:
    place.put(*THREE)
    before = dict(place.shelf.records)
    same = {"name": "port", "type": "project", "description": "about port",
            "body": "The service listens on port 8080."}  # fmt: skip
    done = await run(place, json.dumps([same]))
    assert done.outcome == "nothing to do"
    assert place.shelf.records == before


async def test_identical_twins_become_one(place: Workplace) -> None:
    place.put(
        Record(name="a", description="same", type="user", body="A"),
        Record(name="b", description="same", type="user", body="A"),
    )
    twin = {"name": "a", "type": "user", "description": "same", "body": "A", "from": ["a", "b"]}
    done = await run(place, json.dumps([twin]))
    assert done.outcome == "applied"
    assert place.bodies() == {"a": "A"}


async def test_a_project_record_may_be_retired_with_a_reason(place: Workplace) -> None:
    place.put(*THREE, *(record(f"r{n}", f"Lasting fact number {n} of many.") for n in range(6)))
    done = await run(place, plan({"op": "retire", "files": ["port.md"], "reason": "gone"}))
    assert done.outcome == "applied"
    assert "port" not in place.shelf.records


@pytest.mark.parametrize(
    ("said", "outcome"),
    [(ModelUnreachable("down"), "failed"), ("prose", "refused"), ('{"x": [', "refused")],
)
async def test_no_usable_reply_changes_nothing(
    place: Workplace, said: str | Exception, outcome: str
) -> None:
    place.put(*THREE)
    assert (await run(place, said)).outcome == outcome
    assert len(place.shelf.records) == 3


async def test_few_records_are_left_alone(place: Workplace) -> None:
    place.put(*THREE)
    side = Says()
    done = await consolidate(place.store(), side)
    assert done.outcome == "too few"
    assert side.asked == []


async def test_a_second_one_steps_aside_at_once(place: Workplace) -> None:
    place.put(*THREE)
    asked, go_on = anyio.Event(), anyio.Event()

    class Waits(Says):
        async def __call__(self, *arguments: Any) -> str:
            asked.set()
            await go_on.wait()
            return await super().__call__(*arguments)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consolidate, place.store(), Waits(plan(MERGED)))
        # at_least is not met there, so the lease itself is taken by hand
        await place.shelf.storage(place.clock).leases.acquire(
            LEASE, holder="other", seconds=60, wait_seconds=1
        )
        side = Says(plan(MERGED))
        done = await consolidate(place.store(), side, at_least=1, watch=place.events.append)
        go_on.set()
        tasks.cancel_scope.cancel()
    assert done.outcome == "skipped_locked"
    assert side.asked == []
    assert "other" in place.told("memory.consolidation_skipped")[0]


async def test_what_somebody_wrote_meanwhile_is_left_out(place: Workplace) -> None:
    place.put(*THREE)
    mine = render(record("tabs", "Mine, by hand.", type="feedback")).encode()

    class Edits(Says):
        async def __call__(self, *arguments: Any) -> str:
            place.shelf.records["tabs"] = mine
            return await super().__call__(*arguments)

    better = {"op": "update", "files": ["port.md"],
              "record": {"body": "The service listens on port 8080, on every host."}}  # fmt: skip
    done = await consolidate(place.store(), Edits(plan(MERGED, better)), at_least=1)
    assert done.left == ("tabs.md",)
    assert place.shelf.records["tabs"] == mine
    assert "indent" in place.shelf.records
    assert "every host" in place.bodies()["port"]


async def test_a_plan_under_review_waits_and_can_be_done_later(place: Workplace) -> None:
    place.put(*THREE)
    done = await run(place, plan(MERGED), review=True)
    assert done.outcome == "waiting for review"
    assert len(place.shelf.records) == 3
    (name,) = place.shelf.inbox
    applied = await apply_plan(place.store(), name)
    assert applied.outcome == "applied"
    assert sorted(place.shelf.records) == ["port", "python-indentation"]
    assert place.shelf.inbox == {}
    with pytest.raises(NotFound):
        await apply_plan(place.store(), name)


async def test_a_waiting_plan_leaves_out_what_changed_since(place: Workplace) -> None:
    place.put(*THREE)
    await run(place, plan(MERGED), review=True)
    place.put(record("tabs", "Mine.", type="feedback"))
    (name,) = place.shelf.inbox
    assert (await apply_plan(place.store(), name)).outcome == "nothing to do"
    assert len(place.shelf.records) == 3


async def test_large_memories_are_asked_about_in_batches_that_cover_all() -> None:
    place = Workplace(MemoryLimits(consolidate_batch_chars=1_000))
    place.put(*(record(f"r{n}", f"Fact {n} " + "text " * 60) for n in range(9)))
    side = Says(*[plan({"op": "keep", "files": [f"r{n}.md"]}) for n in range(9)])
    await consolidate(place.store(), side, at_least=1)
    assert len(side.asked) > 2
    assert all(any(f'file="r{n}.md"' in asked for asked in side.asked) for n in range(9))


def test_batches_put_like_beside_like_within_a_type() -> None:
    def held(name: str, body: str, kind: str) -> Held:
        made = record(name, body, type=kind)
        return Held(file=f"{name}.md", content=render(made).encode(), record=made)

    records = [
        held("a", "the deploy runs on friday " * 20, "project"),
        held("b", "tea and coffee in the kitchen " * 20, "project"),
        held("c", "the deploy on friday is announced " * 20, "project"),
        held("d", "the deploy runs on friday " * 20, "user"),
    ]
    made = batches(records, 1_400)
    assert [[h.file for h in group] for group in made] == [["d.md"], ["a.md", "c.md"], ["b.md"]]


async def test_an_operation_a_hook_keeps_out_is_left_out_whole(place: Workplace) -> None:
    place.put(*THREE)
    before = dict(place.shelf.records)
    store = place.store()
    shown: list[Any] = []

    async def ask(write: Any) -> str:
        shown.append(write)
        return "hands off" if write["operation"] == "merge" else ""

    store.ask_first = ask
    update = {
        "op": "update",
        "files": ["port.md"],
        "record": {
            "name": "port",
            "type": "project",
            "description": "about port",
            "body": "The service listens on port 9090.",
        },
    }
    done = await consolidate(store, Says(plan(MERGED, update)), at_least=1)
    assert done.outcome == "applied"
    assert any("hands off" in refusal for refusal in done.refusals)
    assert [(w["tool"], w["operation"]) for w in shown] == [
        ("consolidation", "merge"),
        ("consolidation", "update"),
    ]
    after = dict(place.shelf.records)
    assert b"9090" in after.pop("port")
    assert after == {name: text for name, text in before.items() if name != "port"}
