"""A memory as one plain Markdown text, for reading elsewhere or for taking along, and back."""

from __future__ import annotations

import re

from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.importing import DESCRIPTION_CHARS, Found, distinct
from wayfare.memory.index import shortened
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import TYPES, Record, RecordType, first_line

_TITLE = "# Memory"
_TITLES: dict[RecordType, str] = {
    "user": "About the user",
    "feedback": "How to work",
    "project": "About the project",
    "reference": "Where things are",
}
_DOWN = 3
"""How many levels headings in a body are moved down: below the type's and the record's."""
_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)
_PART = re.compile(r"^(?P<level>#{2,3}) (?P<title>.+)$", re.MULTILINE)
_DESCRIPTION = re.compile(r"\*(?P<text>[^\n]+)\*(?:\n\n|\n*\Z)")


async def to_markdown(store: MemoryStore) -> str:
    """All records by type, in order of their files; headings in bodies are moved down.

    Raises:
        NotFound: a record is there and cannot be read.
    """
    await store.refresh()
    records: list[Record] = []
    for entry in store.folder.in_order():
        found = await store.read(entry.file)
        if found is not None:
            records.append(found.record)
    parts: list[str] = [_TITLE]
    for kind in TYPES:
        chosen = [record for record in records if record.type == kind]
        if chosen:
            parts.append(f"## {_TITLES[kind]}")
            parts += [_section(record) for record in chosen]
    return "\n\n".join(parts) + "\n"


def _section(record: Record) -> str:
    lines = [f"### {record.name}"]
    if record.description not in ("", _derived(record.body), record.body):
        lines.append(f"*{record.description}*")
    body = _HEADING.sub(lambda found: "#" * min(len(found[1]) + _DOWN, 6), record.body)
    if body:
        lines.append(body)
    return "\n\n".join(lines)


def _derived(body: str) -> str:
    """What describes a record that says nothing else about itself."""
    return shortened(first_line(body), DESCRIPTION_CHARS)


def is_export(text: str) -> bool:
    """Whether a text is one that `to_markdown` wrote."""
    found = _PART.search(text)
    return (
        text.startswith(f"{_TITLE}\n")
        and found is not None
        and found["level"] == "##"
        and found["title"] in _TITLES.values()
    )


def from_markdown(file: str, text: str) -> Found:
    """The records of an export: name, type, description and body; what else a header held is not
    in it.

    Args:
        file: Its name, for what is said about it.
        text: As `to_markdown` wrote it.
    """
    types: dict[str, RecordType] = {title: kind for kind, title in _TITLES.items()}
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    kind: RecordType | None = None
    parts = list(_PART.finditer(text))
    for part, end in zip(parts, [*(p.start() for p in parts[1:]), len(text)], strict=True):
        if part["level"] == "##":
            kind = types.get(part["title"])
            continue
        name, content = part["title"].strip(), text[part.end() : end].strip("\n")
        described = _DESCRIPTION.match(content)
        body = content if described is None else content[described.end() :]
        body = _HEADING.sub(lambda found: "#" * max(len(found[1]) - _DOWN, 1), body.strip("\n"))
        if kind is None or not body:
            skipped.append((f"{file}: {name}", "it is empty" if kind else "of no known type"))
            continue
        description = _derived(body) or name if described is None else described["text"]
        candidates.append(
            Candidate(
                name=name,
                description=description,
                type=kind,
                body=body,
                scope="persistent",
                evidence=Evidence(origin="owner"),
            )
        )
    return Found(candidates=distinct(candidates), skipped=tuple(skipped))
