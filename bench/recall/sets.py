"""A set: documents, and queries with the documents that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A document of a set; `groups` are the names a query's `within` may use for it."""

    id: str
    text: str
    name: str
    description: str
    aliases: tuple[str, ...]
    parent: str | None
    order: int | None
    groups: frozenset[str]

    @property
    def whole(self) -> str:
        """All of its text, as a ranker without fields reads it."""
        return "\n".join(filter(None, (self.name, *self.aliases, self.description, self.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question; nothing in `relevant` means that no document answers it."""

    query: str
    relevant: frozenset[str]
    within: tuple[str, ...]
    language: str
    kind: str


@dataclass(frozen=True)
class Collection:
    """A whole set; `problems` says what could not be read as meant."""

    documents: tuple[Text, ...]
    queries: tuple[Query, ...]
    problems: tuple[str, ...]

    @cached_property
    def by_id(self) -> dict[str, Text]:
        return {text.id: text for text in self.documents}

    @cached_property
    def parents(self) -> frozenset[str]:
        return frozenset(text.parent for text in self.documents if text.parent is not None)

    @property
    def has_turns(self) -> bool:
        """Whether documents are turns, so that their surroundings can count."""
        return any(text.parent is not None for text in self.documents)

    def inside(self, query: Query) -> frozenset[str] | None:
        """Ids of the documents a query is confined to; None for all.

        A name stands for the documents whose parent, group or any other short field it is, and
        else for those whose parent or id it begins (`chat-7` for `chat-7/session-2`).
        """
        if not query.within:
            return None
        found: set[str] = set()
        for name in query.within:
            named = self._groups.get(name)
            if named is None:
                beginning = re.compile(re.escape(name) + r"(?![A-Za-z0-9])")
                named = frozenset(
                    text.id
                    for text in self.documents
                    if beginning.match(text.parent or "") or beginning.match(text.id)
                )
            found |= named
        return frozenset(found) or None

    @cached_property
    def _groups(self) -> dict[str, frozenset[str]]:
        groups: dict[str, set[str]] = {}
        for text in self.documents:
            for group in text.groups:
                groups.setdefault(group, set()).add(text.id)
        return {group: frozenset(ids) for group, ids in groups.items()}


def load(folder: Path) -> Collection:
    """Read `documents.jsonl` and `queries.jsonl` of a folder.

    Raises:
        FileNotFoundError: One of the two is missing.
        ValueError: A line is not a JSON object with what it must have; names file and line.
    """
    problems: list[str] = []
    documents = tuple(
        _text(line, where, place)
        for place, (line, where) in enumerate(_objects(folder / "documents.jsonl"))
    )
    ids = {text.id for text in documents}
    if len(ids) < len(documents):
        problems.append(f"{len(documents) - len(ids)} documents repeat an id")
    known = ids | {text.parent for text in documents}
    queries = tuple(_query(line, where) for line, where in _objects(folder / "queries.jsonl"))
    lost = sum(not query.relevant <= known for query in queries)
    if lost:
        problems.append(f"{lost} queries name a relevant document that is not there")
    collection = Collection(documents, queries, ())
    unmet = sum(bool(query.within) and collection.inside(query) is None for query in queries)
    if unmet:
        problems.append(f"{unmet} queries are within a group that no document names: all searched")
    return Collection(documents, queries, tuple(problems))


def language_of(text: str) -> str:
    """By script: `ja` with kana, `ko` with Hangul, `zh` with Han alone, else `en`."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\uac00-\ud7af]", text):
        return "ko"
    return "zh" if re.search(r"[\u3400-\u9fff]", text) else "en"


def _objects(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"{path.name}:{number}"
                try:
                    value = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from None
                if not isinstance(value, dict):
                    raise ValueError(f"{where}: not an object")
                yield value, where


def _text(line: dict[str, Any], where: str, place: int) -> Text:
    """A document; one with a parent and no order stands where the file has it."""
    if "id" not in line or "text" not in line:
        raise ValueError(f"{where}: a document needs id and text")
    order = line.get("order")
    if order is None and line.get("parent") is not None:
        order = place
    aside = {"id", "text", "name", "description", "aliases", "order"}
    return Text(
        id=str(line["id"]),
        text=str(line["text"]),
        name=str(line.get("name") or ""),
        description=str(line.get("description") or ""),
        aliases=tuple(map(str, line.get("aliases") or ())),
        parent=None if line.get("parent") is None else str(line["parent"]),
        order=_whole(order, where),
        groups=frozenset(
            str(value)
            for field, value in line.items()
            if field not in aside and isinstance(value, str | int)
        ),
    )


def _query(line: dict[str, Any], where: str) -> Query:
    if "query" not in line:
        raise ValueError(f"{where}: a query needs query")
    text = str(line["query"])
    return Query(
        query=text,
        relevant=frozenset(_names(line.get("relevant"))),
        within=_names(line.get("within")),
        language=str(line.get("lang") or line.get("language") or language_of(text)),
        kind=str(line.get("kind") or ""),
    )


def _whole(order: Any, where: str) -> int | None:
    try:
        return None if order is None else int(order)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: order {order!r} is no number") from None


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
