"""One remembered thing: what a record says, and reading it tolerantly from a Markdown file.

Reading never fails and never changes a byte: what cannot be understood becomes a `Problem` beside
the record, which then has type `project` and a description taken from its first line.
Writing lives in `record_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, TypeAlias, cast

from wayfare import json_text
from wayfare.formats.json_reply import without_surrogates
from wayfare.memory.header import Problem, decode, lay_out, read_header
from wayfare.store.ref import digest

RecordType: TypeAlias = Literal["user", "feedback", "project", "reference"]
TYPES: tuple[RecordType, ...] = ("user", "feedback", "project", "reference")

INDEX_FILE = "MEMORY.md"
DERIVED_DESCRIPTION_CHARS = 160
"""How much of a first line stands in for a missing description: about one index line."""

_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_TRUE = frozenset({"true", "yes", "on", "y", "1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a record says. The first four are complete in themselves; the rest is optional.

    `subject` is a slot: records with one subject replace each other. `created`, `updated` and
    `expires` are ISO dates. `always` marks a standing record, outside relevance ranking. `extra`
    holds the header keys wayfare does not know, as text, lists and mappings.
    """

    name: str
    description: str
    type: RecordType
    body: str
    subject: str = ""
    created: str = ""
    updated: str = ""
    expires: str = ""
    supersedes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    always: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def expired(self, today: date) -> bool:
        """Whether `expires` lies before `today`; an unreadable date never expires."""
        day = read_date(self.expires)
        return day is not None and day < today


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """A record as it stands in a file.

    `rewritable` is False where writing would lose bytes (text in an unknown encoding, binary).
    `places` says under which header keys each field was found, for edits that touch nothing else.
    """

    file: str
    record: Record
    sha256: str
    size_bytes: int
    problems: tuple[Problem, ...] = ()
    rewritable: bool = True
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def read_record(file: str, content: bytes) -> RecordFile:
    """Read a file, whatever is in it.

    Args:
        file: Its name in the folder; the record's name where the header gives none.
        content: Its bytes.
    """
    text, encoding_problem = decode(content)
    problems: list[Problem] = [] if encoding_problem is None else [encoding_problem]
    stem = file.rsplit("/", 1)[-1].removesuffix(".md")
    if text is None:
        record = Record(
            name=stem,
            description=f"(not text: {len(content)} bytes)",
            type="project",
            body="",
        )
        return _found(file, content, record, problems, rewritable=False)
    layout = lay_out(text)
    header: dict[str, Any] = {}
    places: dict[str, tuple[str, ...]] = {}
    broken: Problem | None = None
    if layout is not None:
        header, places, broken = read_header(layout)
    if layout is None:
        code = "empty" if not text.strip() else "no_header"
        problems.append(Problem(code=code, detail="no frontmatter"))
    elif not layout.closed:
        problems.append(Problem(code="unclosed_header", detail="the frontmatter has no end"))
    if broken is not None:
        problems.append(broken)
    body = _body(text if layout is None else layout.body)
    record = _record(header, places, body, stem, problems, has_header=layout is not None)
    return _found(file, content, record, problems, rewritable=encoding_problem is None, at=places)


def read_date(text: str) -> date | None:
    """The day an ISO date or date-time names, or None."""
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def one_line(text: str) -> str:
    """A text on one line: line ends and other control characters become single spaces."""
    if text.isprintable() and "  " not in text:  # nearly every one, at a tenth of the time
        return text.strip(" ")
    return " ".join(_BREAKS.sub(" ", text).split())


def _found(
    file: str,
    content: bytes,
    record: Record,
    problems: Sequence[Problem],
    *,
    rewritable: bool,
    at: Mapping[str, tuple[str, ...]] | None = None,
) -> RecordFile:
    return RecordFile(
        file=file,
        record=record,
        sha256=digest(content),
        size_bytes=len(content),
        problems=tuple(problems),
        rewritable=rewritable,
        places=dict(at or {}),
    )


def _record(
    header: Mapping[str, Any],
    places: Mapping[str, tuple[str, ...]],
    body: str,
    stem: str,
    problems: list[Problem],
    *,
    has_header: bool,
) -> Record:
    def text(name: str) -> str:
        return "" if name not in places else _text(_at(header, places[name]), name, problems)

    def texts(name: str) -> tuple[str, ...]:
        return () if name not in places else _texts(_at(header, places[name]), name, problems)

    expires = text("expires")
    if expires and read_date(expires) is None:
        problems.append(Problem(code="bad_date", detail=f"expires: {expires[:40]}"))
    found_description = one_line(text("description"))
    description = found_description or first_line(body) or "(empty)"
    if has_header and not found_description:
        problems.append(Problem(code="no_description", detail="taken from the first line"))
    known = {place[0].casefold() for place in places.values()}
    return Record(
        name=one_line(text("name")) or stem,
        description=description,
        type=_type(text("type"), problems, has_header=has_header),
        body=body,
        subject=one_line(text("subject")),
        created=text("created"),
        updated=text("updated"),
        expires=expires,
        supersedes=texts("supersedes"),
        aliases=texts("aliases"),
        applies_to=texts("applies_to"),
        always=text("always").casefold() in _TRUE,
        extra={k: v for k, v in header.items() if k == "metadata" or k.casefold() not in known},
    )


def _type(raw: str, problems: list[Problem], *, has_header: bool) -> RecordType:
    wanted = raw.strip().casefold()
    for known in TYPES:
        if wanted == known:
            return known
    if has_header:
        code, detail = ("unknown_type", raw[:40]) if wanted else ("no_type", "read as project")
        problems.append(Problem(code=code, detail=detail))
    return "project"


def _at(keys: Mapping[str, Any], place: Sequence[str]) -> Any:
    value: Any = keys
    for part in place:
        value = value[part]
    return value


def _text(value: object, name: str, problems: list[Problem]) -> str:
    if isinstance(value, str):
        return without_surrogates(value.strip())
    if isinstance(value, Sequence):
        items = [without_surrogates(v) for v in cast(Sequence[object], value) if isinstance(v, str)]
        problems.append(Problem(code="wrong_type", detail=f"{name} is a list"))
        return " ".join(items)
    problems.append(Problem(code="wrong_type", detail=f"{name} is no text"))
    return ""


def _texts(value: object, name: str, problems: list[Problem]) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in (_entry(p) for p in _split(value)) if part)
    if isinstance(value, Sequence):
        items = cast(Sequence[object], value)
        if any(not isinstance(v, str) for v in items):
            problems.append(Problem(code="wrong_type", detail=f"{name} holds more than texts"))
        return tuple(_entry(v) for v in items if isinstance(v, str) and _entry(v))
    problems.append(Problem(code="wrong_type", detail=f"{name} is no list"))
    return ()


def _entry(text: str) -> str:
    """An entry of a list as it can be written, whatever escapes it was made of."""
    return one_line(without_surrogates(text))


def _split(value: str) -> list[str]:
    """A list written on one line, in JSON or with commas."""
    bare = value.strip()
    if bare.startswith("[") and bare.endswith("]"):
        with suppress(ValueError):
            loaded = cast(object, json_text.loads(bare))
            if isinstance(loaded, list):
                return [str(item) for item in cast(list[object], loaded)]
        bare = bare[1:-1]
    return bare.split(",")


def first_line(body: str) -> str:
    """The first line that says something, without Markdown marks, cut at a word."""
    in_comment = False
    for line in body.split("\n"):
        bare = line.strip()
        if in_comment or bare.startswith("<!--"):
            in_comment = "-->" not in bare
            continue
        bare = one_line(bare.lstrip("#>*-=`~ \t").rstrip("*`"))
        if any(c.isalnum() for c in bare):
            if len(bare) <= DERIVED_DESCRIPTION_CHARS:
                return bare
            cut = bare[:DERIVED_DESCRIPTION_CHARS]
            return cut.rsplit(" ", 1)[0].rstrip() + "…"
    return ""


def _body(text: str) -> str:
    flat = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return flat.strip("\n") if flat.strip() else ""
