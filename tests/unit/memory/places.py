"""A memory on a shelf, with a movable clock, and a side query that is told what to say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import finalize

from wayfare.clock import MovableClock
from wayfare.errors import ModelUnreachable
from wayfare.events import Event
from wayfare.lexical import LexicalIndex
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import Record
from wayfare.memory.record_text import render
from wayfare.memory.search import MemorySearch
from wayfare.testing.memory_storage import MemoryShelf


class Says:
    """A side query that gives its replies in order; an exception is raised instead of given."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self.systems: list[str] = []

    async def __call__(
        self, system: str, prompt: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> str:
        self.asked.append(prompt)
        self.systems.append(system)
        if not self.replies:
            raise ModelUnreachable("nothing more to say")
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


class Workplace:
    """One memory and what was told about it."""

    def __init__(self, limits: MemoryLimits | None = None) -> None:
        self.clock = MovableClock()
        self.shelf = MemoryShelf()
        self.events: list[Event] = []
        self.limits = limits or MemoryLimits()
        self.holders = 0

    def store(self) -> MemoryStore:
        self.holders += 1
        return MemoryStore(
            self.shelf.storage(self.clock),
            holder=f"holder-{self.holders}",
            clock=self.clock,
            limits=self.limits,
            watch=self.events.append,
        )

    def search(self, store: MemoryStore) -> MemorySearch:
        search = MemorySearch(store, self.index())
        store.likely = search.likely
        return search

    def index(self) -> LexicalIndex:
        """A search index in memory, closed with the place."""
        made = LexicalIndex(":memory:")
        finalize(self, made.close)
        return made

    def put(self, *records: Record) -> None:
        """Records as if they had been there for ever."""
        for record in records:
            self.shelf.records[record.name] = render(record).encode()

    def told(self, name: str) -> list[str]:
        return [e.text for e in self.events if e.name == name]

    def bodies(self) -> dict[str, str]:
        return {
            name: content.decode().split("\n---\n", 1)[-1].strip()
            for name, content in sorted(self.shelf.records.items())
        }


def record(name: str, body: str = "", **more: Any) -> Record:
    fields: dict[str, Any] = {
        "description": f"about {name}",
        "type": "project",
        "body": body or f"Fact of {name}.",
    }
    return Record(name=name, **{**fields, **more})


def owned(name: str, body: str, **more: Any) -> Candidate:
    fields: dict[str, Any] = {
        "description": f"about {name}",
        "type": "project",
        "scope": "persistent",
        "evidence": Evidence(origin="owner"),
    }
    return Candidate(name=name, body=body, **{**fields, **more})


def reply(items: Sequence[Mapping[str, Any]], key: str = "memories") -> str:
    return json.dumps({key: list(items)}, ensure_ascii=False)
