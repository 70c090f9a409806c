"""What other tools remember, as candidates: memory folders of Claude Code, bullet lists of
`CLAUDE.md` and `AGENTS.md`, exports of mem0, notes of basic-memory.

Everything passes the gate like any other write; what a record here says already is never written
over by an import, it waits for review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from wayfare.memory.candidate import Candidate, Evidence, candidate_of
from wayfare.memory.index import shortened
from wayfare.memory.journal import Source
from wayfare.memory.memory_store import MemoryStore
from wayfare.memory.notices import Offered
from wayfare.memory.record import INDEX_FILE, RecordType, first_line, one_line, read_record
from wayfare.memory.slug import is_record_file, name_key

NAME_WORDS = 6
DESCRIPTION_CHARS = 160

_OWNER = Evidence(origin="owner")
_BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<text>.*?)[ \t#]*$")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_INDEX_LINE = re.compile(r"^[ \t]*[-*+][ \t]+\[[^\]]*\]\(<?(?P<file>[^)>]+\.md)>?\)")
_MARKUP = re.compile(r"(?<=\])\([^)\n]*\)|[*`\[\]]|(?<!\w)_|_(?!\w)")
_SECTIONS: tuple[tuple[re.Pattern[str], RecordType], ...] = (
    (re.compile(r"about me|who i am|preferences?\b|user\b|偏好|关于我|好み|선호", re.I), "user"),
    (
        re.compile(
            r"links?\b|references?\b|resources?\b|dashboards?\b|链接|参考|リンク|링크", re.I
        ),
        "reference",
    ),
    (
        re.compile(
            r"overview|architecture|structure|stack|background|key files|layout|environment"
            r"|概述|架构|背景|構成|概要|개요|구조",
            re.I,
        ),
        "project",
    ),
)
# mem0's own categories and the usual metadata types; what is not here is about the user too, as
# nearly everything mem0 keeps is.
_MEM0_TYPES: Mapping[str, RecordType] = {
    "project": "project",
    "projects": "project",
    "work": "project",
    "instruction": "feedback",
    "instructions": "feedback",
    "feedback": "feedback",
    "rule": "feedback",
    "reference": "reference",
    "link": "reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a source held: candidates, and places that were left out with the reason."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


def from_memory_folder(files: Mapping[str, bytes]) -> Found:
    """The records of a memory folder, and what its index says that is no line about a record.

    Args:
        files: Contents by file name.
    """
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    for file, content in sorted(files.items()):
        if not is_record_file(file):
            continue
        found = read_record(file, content)
        if not found.record.body:
            skipped.append((file, found.problems[0].detail if found.problems else "it is empty"))
            continue
        candidates.append(candidate_of(found.record, evidence=_OWNER))
    index = files.get(INDEX_FILE, b"").decode("utf-8", "replace")
    rest: list[str] = []
    for line in index.splitlines():
        linked = _INDEX_LINE.match(line)
        if linked is None:
            rest.append(line)
        elif linked["file"] not in files:
            skipped.append((INDEX_FILE, f"it lists {linked['file']}, which is not there"))
    bullets = from_bullets(INDEX_FILE, "\n".join(rest))
    return Found(
        candidates=distinct([*candidates, *bullets.candidates]),
        skipped=(*skipped, *bullets.skipped),
    )


def from_bullets(file: str, text: str) -> Found:
    """Every bullet of a Markdown text with what is nested under it; the nearest heading tells what
    sort of thing it is. Prose between the bullets and code are left out.

    Args:
        file: Its name, for what is said about it.
        text: Such as `CLAUDE.md` or `AGENTS.md`.
    """
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    for heading, lines, number in _bullets(text):
        first = one_line(_MARKUP.sub(" ", lines[0]))
        if len(first.split()) < 2 and len(first) < 8:
            skipped.append((f"{file}:{number}", "it is a single word"))
            continue
        candidates.append(
            Candidate(
                name=_name(first),
                description=shortened(first, DESCRIPTION_CHARS),
                type=_section_type(heading),
                body="\n".join(lines),
                scope="persistent",
                evidence=_OWNER,
            )
        )
    return Found(candidates=distinct(candidates), skipped=tuple(skipped))


def from_mem0(text: str) -> Found:
    """The memories of a mem0 export: the JSON of `get_all` or of an export job.

    Raises:
        ValueError: it is no JSON, or holds no list of memories.
    """
    items = _listed(cast(object, json.loads(text)))
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    for number, item in enumerate(items, 1):
        found = _mapping(item)
        texts = [found.get(key) for key in ("memory", "text", "content", "data")]
        said = next((text for text in texts if isinstance(text, str)), "")
        if not said.strip():
            skipped.append((f"memory {number}", "it has no text"))
            continue
        first = first_line(said) or one_line(said)
        candidates.append(
            Candidate(
                name=_name(first),
                description=shortened(first, DESCRIPTION_CHARS),
                type=_mem0_type(found),
                body=said.strip(),
                scope="persistent",
                expires=str(found.get("expiration_date") or "")[:10],
                evidence=_OWNER,
            )
        )
    return Found(candidates=distinct(candidates), skipped=tuple(skipped))


def from_basic_memory(files: Mapping[str, bytes]) -> Found:
    """The notes of a basic-memory project: title, tags and text; relations stay links in the text.

    Args:
        files: Contents by path within the project.
    """
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    for path, content in sorted(files.items()):
        if not path.endswith(".md"):
            continue
        found = read_record(path.rsplit("/", 1)[-1], content)
        record = found.record
        body = _without_title(record.body, record.name)
        if not body.strip():
            skipped.append((path, "it is empty"))
            continue
        permalink = record.extra.get("permalink")
        names = [permalink] if isinstance(permalink, str) else []
        description = record.description
        if any(p.code == "no_description" for p in found.problems):
            description = first_line(_observed(body)) or record.name
        candidates.append(
            Candidate(
                name=record.name,
                description=shortened(one_line(description), DESCRIPTION_CHARS),
                type=record.type,
                body=body,
                scope="persistent",
                aliases=tuple(n for n in names if name_key(n) != name_key(record.name)),
                evidence=_OWNER,
            )
        )
    return Found(candidates=distinct(candidates), skipped=tuple(skipped))


async def import_found(store: MemoryStore, found: Found, *, origin: str) -> Offered:
    """Bring what was found to the gate, as one transaction.

    Args:
        origin: Where it came from, for the journal.

    Raises:
        LeaseHeld: somebody else kept writing.
        WriteFailed: the storage refused; the records are as before.
    """
    return await store.offer(
        found.candidates,
        actor="import",
        source=Source(origin=origin),
        reason=f"import from {origin}",
    )


def _bullets(text: str) -> Iterable[tuple[str, list[str], int]]:
    """Each top-level bullet: its heading, its lines without the common indent, its line number."""
    heading, fenced = "", False
    lines: list[str] = []
    number, width = 0, 0
    for at, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        bullet = None if fenced else _BULLET.match(line)
        head = None if fenced else _HEADING.match(line)
        indent = len(line) - len(line.lstrip())
        starts = bullet is not None and (not lines or len(bullet["indent"]) <= width)
        inside = (
            bool(lines) and not starts and head is None and (indent > width or not line.strip())
        )
        if inside:
            lines.append(line[width + 2 :] if line.strip() else "")
            continue
        if lines:
            yield heading, _trimmed(lines), number
            lines = []
        if head is not None:
            heading = head["text"]
        elif bullet is not None:
            lines, number, width = [bullet["text"]], at, len(bullet["indent"])
    if lines:
        yield heading, _trimmed(lines), number


def _trimmed(lines: Sequence[str]) -> list[str]:
    return "\n".join(lines).rstrip().split("\n")


def _section_type(heading: str) -> RecordType:
    for pattern, kind in _SECTIONS:
        if pattern.search(heading):
            return kind
    return "feedback"


def _mem0_type(found: Mapping[str, Any]) -> RecordType:
    words: list[str] = []
    categories = found.get("categories")
    if isinstance(categories, list):
        words += [str(c) for c in cast("list[object]", categories)]
    metadata = found.get("metadata")
    if isinstance(metadata, Mapping):
        inner = cast("Mapping[str, Any]", metadata)
        words += [str(inner.get(key, "")) for key in ("type", "category")]
    for word in words:
        if word.casefold() in _MEM0_TYPES:
            return _MEM0_TYPES[word.casefold()]
    return "user"


def _mapping(item: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", item) if isinstance(item, Mapping) else {"memory": item}


def _listed(loaded: object) -> list[object]:
    if isinstance(loaded, list):
        return cast("list[object]", loaded)
    if isinstance(loaded, Mapping):
        inner = cast("Mapping[str, object]", loaded)
        for key in ("results", "memories", "data", "export"):
            if isinstance(inner.get(key), list):
                return cast("list[object]", inner[key])
    raise ValueError("no list of memories in it; expected the JSON of get_all or of an export")


def _name(text: str) -> str:
    words = text.split()
    if len(words) > 1:
        return " ".join(words[:NAME_WORDS]).rstrip(".,;:!?。，；：")
    return text[:24].rstrip(".,;:!?。，；：")


def _without_title(body: str, title: str) -> str:
    head, _, rest = body.lstrip("\n").partition("\n")
    found = _HEADING.match(head)
    return rest.strip("\n") if found and name_key(found["text"]) == name_key(title) else body


def _observed(body: str) -> str:
    """A note's text without headings and the marks of observations."""
    lines = [line for line in body.splitlines() if _HEADING.match(line) is None]
    return "\n".join(re.sub(r"^([ \t]*[-*])[ \t]*\[[^\]]+\][ \t]*", r"\1 ", line) for line in lines)


def distinct(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates under names that no two of them share, so that none replaces another."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    named: list[Candidate] = []
    for candidate in candidates:
        name, key = candidate.name, name_key(candidate.name)
        while name_key(name) in taken:
            # Where the last of the same name ended: a stranger's file may hold ten thousand.
            number = numbers[key] = numbers.get(key, 1) + 1
            name = f"{candidate.name} {number}"
        taken.add(name_key(name))
        named.append(candidate if name == candidate.name else replace(candidate, name=name))
    return tuple(named)
