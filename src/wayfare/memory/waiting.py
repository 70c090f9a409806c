"""What waits for the owner: quarantined candidates, updates and plans to be reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wayfare.errors import Conflict, StoreError
from wayfare.json_text import UNREADABLE
from wayfare.memory.candidate import Candidate, Evidence, Verdict, candidate_of
from wayfare.memory.journal import Source
from wayfare.memory.planning import record_of
from wayfare.memory.record import read_record
from wayfare.memory.record_text import render
from wayfare.memory.slug import slug
from wayfare.memory.storage import MemoryStorage
from wayfare.store import Docs
from wayfare.store.ref import digest

_NAME_BYTES = 80


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An update that waits: the record it would change, as it was then, and what it would say."""

    kind: str = "update"
    file: str
    expected: str
    name: str
    description: str
    type: str
    body: str
    subject: str = ""
    reason: str = ""
    detail: str = ""
    at: float = 0.0
    session: str = ""
    entries: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One thing that waits: its id, where it is kept, and the candidate itself.

    `file` is the record it would change, empty for a new one; `expected` that record's hash then.
    """

    id: str
    kind: str
    candidate: Candidate
    reason: str
    detail: str
    at: float
    file: str = ""
    expected: str = ""


async def keep_waiting(
    storage: MemoryStorage,
    verdicts: Sequence[Verdict],
    *,
    hashes: Mapping[str, str],
    source: Source | None,
    at: float,
) -> tuple[str, ...]:
    """Store what the gate put aside; returns, in words, what could not be stored."""
    problems: list[str] = []
    for verdict in verdicts:
        try:
            if verdict.outcome == "quarantine":
                await _put(storage.quarantine, *_quarantined(verdict, source, at))
            elif verdict.proposal:
                await _put(storage.inbox, *_proposed(verdict, hashes, source, at))
        except StoreError as error:
            problems.append(f"{verdict.candidate.name!r} could not be kept for review: {error}")
    return tuple(problems)


async def waiting(storage: MemoryStorage) -> list[Waiting]:
    """Everything that waits, oldest first. Plans of a consolidation are not among them."""
    found: list[Waiting] = []
    for name in await storage.quarantine.names():
        content = await storage.quarantine.read(name)
        if content is not None:
            found.append(_read_quarantined(name, content))
    for name in await storage.inbox.names():
        content = await storage.inbox.read(name)
        proposal = None if content is None else _read_proposal(content)
        if proposal is not None:
            found.append(_read_proposed(name, proposal))
    return sorted(found, key=lambda item: (item.at, item.id))


async def drop_waiting(storage: MemoryStorage, id: str) -> bool:
    """Take one thing off the list; False when it is not there.

    Raises:
        WriteFailed: the storage refused.
    """
    for docs in (storage.quarantine, storage.inbox):
        content = await docs.read(id)
        if content is not None:
            await docs.delete(id, expected=digest(content))
            return True
    return False


async def _put(docs: Docs, name: str, content: bytes) -> None:
    try:
        await docs.write(name, content, expected=None)
    except Conflict:
        return  # the same thing waits already


def _quarantined(verdict: Verdict, source: Source | None, at: float) -> tuple[str, bytes]:
    candidate = verdict.candidate
    said = candidate.evidence
    record = record_of(candidate)
    extra = {
        "quarantined": verdict.reason,
        "because": verdict.detail,
        "origin": said.origin,
        "session": said.session or (source.session if source else ""),
        "entries": " ".join(map(str, said.entries)),
        "at": f"{at:.0f}",
    }
    return _id(candidate), render(replace(record, extra=extra)).encode()


def _proposed(
    verdict: Verdict, hashes: Mapping[str, str], source: Source | None, at: float
) -> tuple[str, bytes]:
    candidate = verdict.candidate
    said = candidate.evidence
    proposal = Proposal(
        file=verdict.file,
        expected=hashes.get(verdict.file, ""),
        name=candidate.name,
        description=candidate.description,
        type=candidate.type,
        body=candidate.body,
        subject=candidate.subject,
        reason=verdict.reason,
        detail=verdict.detail,
        at=at,
        session=said.session or (source.session if source else ""),
        entries=said.entries,
    )
    return _id(candidate), msgspec.json.format(msgspec.json.encode(proposal), indent=1)


def _read_quarantined(name: str, content: bytes) -> Waiting:
    record = read_record(f"{name}.md", content).record
    extra = {key: str(value) for key, value in record.extra.items()}
    numbers = [n for n in extra.get("entries", "").split() if n.isdecimal()]
    evidence = Evidence(
        origin=extra.get("origin", "none"),
        session=extra.get("session", ""),
        entries=tuple(map(int, numbers)),
    )
    at = extra.get("at", "")
    return Waiting(
        id=name,
        kind="quarantine",
        candidate=candidate_of(record, evidence=evidence),
        reason=extra.get("quarantined", ""),
        detail=extra.get("because", ""),
        at=float(at) if at.isdecimal() else 0.0,
    )


def _read_proposal(content: bytes) -> Proposal | None:
    try:
        proposal = _PROPOSAL.decode(content)
    except UNREADABLE:
        return None
    return proposal if proposal.kind == "update" else None


def _read_proposed(name: str, proposal: Proposal) -> Waiting:
    candidate = Candidate(
        name=proposal.name,
        description=proposal.description,
        type=proposal.type,
        body=proposal.body,
        scope="persistent",
        subject=proposal.subject,
        file=proposal.file,
        evidence=Evidence(
            origin="user", session=proposal.session, entries=proposal.entries, time=proposal.at
        ),
    )
    return Waiting(
        id=name,
        kind="update",
        candidate=candidate,
        reason=proposal.reason,
        detail=proposal.detail,
        at=proposal.at,
        file=proposal.file,
        expected=proposal.expected,
    )


def _id(candidate: Candidate) -> str:
    """A name that is the same for the same text, so that nothing waits twice."""
    text = "\0".join(candidate.texts)
    stem = slug(candidate.name).encode()[:_NAME_BYTES].decode(errors="ignore").rstrip("-")
    return f"{stem}-{digest(text.encode(errors='replace'))[:8]}"


_PROPOSAL = msgspec.json.Decoder(Proposal)
