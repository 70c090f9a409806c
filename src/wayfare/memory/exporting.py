"""A memory as one plain Markdown text, for reading elsewhere or for taking along."""

from __future__ import annotations

import re

from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.record import TYPES, Record

_TITLES = {
    "user": "About the user",
    "feedback": "How to work",
    "project": "About the project",
    "reference": "Where things are",
}
_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)


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
    parts: list[str] = ["# Memory"]
    for kind in TYPES:
        chosen = [record for record in records if record.type == kind]
        if chosen:
            parts.append(f"## {_TITLES[kind]}")
            parts += [_section(record) for record in chosen]
    return "\n\n".join(parts) + "\n"


def _section(record: Record) -> str:
    lines = [f"### {record.name}"]
    if record.description and record.description not in record.body:
        lines.append(f"*{record.description}*")
    body = _HEADING.sub(lambda found: "#" * min(len(found[1]) + 3, 6), record.body)
    if body:
        lines.append(body)
    return "\n\n".join(lines)
