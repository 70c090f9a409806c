"""A record as it is put before the model: fenced, dated, cut to its room, with its doubts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from wayfare.memory.limits import MemoryLimits
from wayfare.memory.manifest import age
from wayfare.memory.record import Record, RecordFile
from wayfare.memory.side_query import fenced

Cited: TypeAlias = Callable[[str], bool]
"""Whether a path, as a record writes it, is there."""

CITED_PATHS = 20
"""So many paths of one record are looked up; one with more is a list of files."""

_PATH = re.compile(
    r"(?<![\w/:.@~-])(?:\.{1,2}/)?(?:[\w.@-]+/)+[\w.@-]*\w(?:\.\w+)?|`(?P<bare>[\w-]+\.[A-Za-z]{1,5})`"
)
# A person who reads the rendered record does not see them: banners, or orders hidden from view.
_COMMENT = re.compile(r"<!--.*?-->[ \t]*\n?", re.DOTALL)
_AUTHORS = {
    "user": "written by the owner",
    "external": "written by hand",
    "import": "imported by the owner",
    "extractor": "from what the user said",
    "agent": "stored by the agent on the user's word",
    "consolidator": "merged from earlier records",
    "dream": "merged from earlier records",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One recalled record. `doubts` are reasons not to rely on it, already in the text."""

    file: str
    name: str
    sha256: str
    text: str
    cut: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes of its text."""
        return len(self.text.encode(errors="replace"))


def attach(
    found: RecordFile,
    *,
    key: str = "",
    address: str = "",
    age_seconds: float | None,
    author: str,
    today: date,
    exists: Cited | None,
    limits: MemoryLimits,
) -> Attachment:
    """Put a record into its fence.

    Args:
        found: The record as it stands in its file.
        key: What tells it from the records of other memories; empty: its file.
        address: Where the reader finds the whole of it; empty: in the project's memory.
        age_seconds: Since its last change; None: unknown.
        author: Who changed it last, as the journal names actors.
        today: For `expires`.
        exists: For the paths it cites.
        limits: `recall_body_lines` and `recall_body_bytes`.
    """
    record = found.record
    doubts = tuple(doubts_of(record, today=today, exists=exists))
    shown = _COMMENT.sub("", record.body).strip("\n")
    body, cut = cut_body(shown, limits.recall_body_lines, limits.recall_body_bytes)
    lines = [f"{record.name}: {record.description}"]
    lines += [f"(careful: {doubt})" for doubt in doubts]
    if body:
        lines += ["", body]
    if cut:
        lines.append(f"… (cut here; the whole record is in {address or f'.memory/{found.file}'})")
    text = fenced(
        "memory",
        "\n".join(lines),
        file=key or found.file,
        type=record.type,
        age="unknown" if age_seconds is None else age(age_seconds),
        trust=_AUTHORS.get(author, author),
    )
    return Attachment(
        file=key or found.file,
        name=record.name,
        sha256=found.sha256,
        text=text,
        cut=cut,
        doubts=doubts,
    )


def doubts_of(record: Record, *, today: date, exists: Cited | None) -> list[str]:
    """Why a record may no longer hold: past its date, citing what is gone."""
    doubts: list[str] = []
    if record.expired(today):
        doubts.append(f"it expired on {record.expires[:10]}")
    if exists is not None:
        gone = [path for path in cited_paths(record.body) if not exists(path)]
        if gone:
            shown = ", ".join(gone[:3]) + (" …" if len(gone) > 3 else "")
            doubts.append(f"it cites what is not there: {shown}")
    return doubts


def cited_paths(body: str) -> list[str]:
    """Relative paths a text cites, each once."""
    found: dict[str, None] = {}
    for match in _PATH.finditer(body):
        path = match["bare"] or match[0]
        if "://" in body[max(match.start() - 3, 0) : match.end()]:
            continue
        found[path.rstrip(".")] = None
        if len(found) == CITED_PATHS:
            break
    return list(found)


def cut_body(body: str, lines: int, size_bytes: int) -> tuple[str, bool]:
    """The first lines and bytes of a body, whole characters only, and whether more is missing."""
    kept = "\n".join(body.split("\n")[:lines])
    content = kept.encode(errors="replace")
    if len(content) > size_bytes:
        kept = content[:size_bytes].decode(errors="ignore")
    return kept.rstrip("\n") if kept != body else kept, kept != body
