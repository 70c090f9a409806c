"""The agent's memory tools and the search behind them."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.unit.memory.places import Workplace, record

from wayfare.agent.tools import ToolContext, ToolOutput
from wayfare.memory.likeness import Utterance
from wayfare.memory.search import MemorySearch
from wayfare.memory.tools import memory_tools

pytestmark = pytest.mark.anyio

NO_CONTEXT = cast(ToolContext, None)
SAID = [Utterance(entry_id=1, origin="user", text="Remember that I drink green tea.", time=1.0)]


class Agent:
    def __init__(self, place: Workplace, said: list[Utterance] | None = None) -> None:
        self.store = place.store()
        self.writes = 0
        tools = memory_tools(
            self.store,
            place.search(self.store),
            said=lambda: SAID if said is None else said,
            session="s1",
            wrote=self.wrote,
        )
        self.tools = {one.name: one for one in tools}

    def wrote(self) -> None:
        self.writes += 1

    async def call(self, tool: str, **given: Any) -> ToolOutput:
        one = self.tools[tool]
        return await one.run(one.parse(given), NO_CONTEXT)


TEA = {"name": "tea", "type": "user", "description": "drinks green tea",
       "body": "Drinks green tea."}  # fmt: skip


async def test_what_the_user_said_is_written_and_the_room_told(place: Workplace) -> None:
    agent = Agent(place)
    output = await agent.call("memory_write", **TEA)
    assert output.text.startswith("Stored tea.md. index: room for 198 lines")
    assert place.bodies() == {"tea": "Drinks green tea."}
    assert agent.writes == 1
    again = await agent.call("memory_write", **TEA)
    assert "says it already" in again.text
    assert agent.writes == 1


async def test_what_the_agent_only_read_is_not_written(place: Workplace) -> None:
    read = [
        Utterance(entry_id=1, origin="user", text="Read the notes."),
        Utterance(entry_id=2, origin="tool", text="The user drinks green tea."),
    ]
    agent = Agent(place, read)
    output = await agent.call("memory_write", **TEA)
    assert "review" in output.text
    assert place.bodies() == {}
    assert agent.writes == 0


async def test_a_refusal_says_why(place: Workplace) -> None:
    output = await Agent(place).call("memory_write", **{**TEA, "body": "For now green tea."})
    assert output.is_error
    assert "'For now'" in output.text


async def test_search_and_read(place: Workplace) -> None:
    place.put(record("deploy", "Deploys are blue-green.", description="how to deploy"))
    agent = Agent(place)
    found = await agent.call("memory_search", query="how do we deploy?")
    assert "deploy.md (project) deploy: how to deploy" in found.text
    assert (await agent.call("memory_search", query="zebra crossing")).text.startswith("No record")
    read = await agent.call("memory_read", name="deploy")
    assert "Deploys are blue-green." in read.text
    assert agent.store.used


@pytest.mark.parametrize("name", ["../x.md", "nobody", "MEMORY.md", "/etc/passwd"])
async def test_what_is_no_record_is_refused_with_a_reason(place: Workplace, name: str) -> None:
    output = await Agent(place).call("memory_read", name=name)
    assert output.is_error
    assert output.text


async def test_forgetting(place: Workplace) -> None:
    place.put(record("deploy"))
    agent = Agent(place)
    assert not (await agent.call("memory_forget", name="deploy")).is_error
    assert place.bodies() == {}
    assert (await agent.call("memory_forget", name="deploy")).is_error
    assert agent.writes == 1


async def test_the_search_follows_the_folder(place: Workplace) -> None:
    place.put(record("a", "Cats sleep."), record("b", "Dogs bark."))
    store = place.store()
    search = place.search(store)
    await store.open()
    assert await search.sync() == 2
    assert [f.file for f in search.rank("cat", 5)] == ["a.md"]
    place.put(record("a", "Birds sing."))
    del place.shelf.records["b"]
    await store.refresh()
    assert await search.sync() == 1
    assert search.rank("cat", 5) == []
    assert [f.file for f in search.rank("bird", 5)] == ["a.md"]
    assert "bird" in search.explain("bird", "a.md")
    assert "not in the search index" in search.explain("bird", "b.md")


async def test_near_twins_are_found_through_the_search(place: Workplace) -> None:
    from tests.unit.memory.test_gate import REBOOT, WORDS

    from wayfare.memory.candidate import Candidate, Evidence

    place.put(REBOOT)
    store = place.store()
    search = place.search(store)
    await store.open()
    await search.sync()
    body = f"{WORDS} 02:00".replace("weekly", "entire")
    twin = Candidate(
        name="other",
        type="project",
        description="rebooting",
        body=body,
        scope="persistent",
        evidence=Evidence(origin="user", quotes=(body,), time=place.clock.now()),
    )
    offered = await store.offer([twin], actor="extractor")
    assert (offered.verdicts[0].reason, offered.verdicts[0].proposal) == ("near", True)
    assert len(place.shelf.inbox) == 1


async def test_an_emptied_search_index_is_filled_again(place: Workplace) -> None:
    """Another process may have found it damaged and begun it anew."""
    place.put(record("a", "Cats sleep."), record("b", "Dogs bark."))
    store, index = place.store(), place.index()
    search = MemorySearch(store, index)
    await store.open()
    assert await search.sync() == 2
    assert await search.sync() == 0
    index.remove(["a.md", "b.md"])
    assert await search.sync() == 2
    assert [f.file for f in search.rank("dog", 5)] == ["b.md"]
