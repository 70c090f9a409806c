"""What somebody wants remembered, on which evidence, and what the gate says to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from wayfare.memory.record import TYPES, Record, RecordType

Actor: TypeAlias = Literal[
    "user", "agent", "extractor", "consolidator", "dream", "import", "external"
]
"""Who writes: a person at the command line, the agent's tool, the work after a turn, upkeep, an
import, or an editor beside us."""

Outcome: TypeAlias = Literal["accept", "update", "duplicate", "reject", "quarantine"]

OWNER_ACTORS: frozenset[Actor] = frozenset({"user", "import", "external"})
"""What these write is the owner's own word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """On what a candidate rests.

    `origin` is who said it: `user`, `owner` (written by the owner's own hand), `record` (made of
    records that passed before), or one that is no evidence: `assistant`, `tool`, `memory`, `notes`,
    `summary`, `system`, `none`. `quotes` are the sentences that support it, `entries` the
    transcript entries they stand in, `time` when the latest of them was said (unix seconds).
    """

    origin: str = "none"
    quotes: tuple[str, ...] = ()
    entries: tuple[int, ...] = ()
    session: str = ""
    time: float = 0.0

    @property
    def trusted(self) -> bool:
        """Whether it may become memory without the owner looking at it."""
        return self.origin in ("user", "owner", "record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record to be, not yet looked at. `file` names the record it means to change, if any."""

    name: str
    description: str
    type: str
    body: str
    scope: str = ""
    subject: str = ""
    expires: str = ""
    aliases: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    always: bool = False
    file: str = ""
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def texts(self) -> tuple[str, str, str]:
        """What will be read of it: name, description, body."""
        return self.name, self.description, self.body

    @property
    def record_type(self) -> RecordType | None:
        """Its type, if it is one."""
        wanted = self.type.strip().casefold()
        return next((known for known in TYPES if known == wanted), None)

    def with_texts(self, name: str, description: str, body: str, subject: str) -> Candidate:
        """The same candidate saying something else."""
        return replace(self, name=name, description=description, body=body, subject=subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate decided.

    `reason` is a short code, `detail` words for a person (never a secret). `file` is the record
    that an update or a duplicate is about. `proposal`: the update waits for the owner's review.
    `secrets` are the kinds of secrets that were replaced.
    """

    outcome: Outcome
    reason: str = ""
    detail: str = ""
    candidate: Candidate
    file: str = ""
    proposal: bool = False
    secrets: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether it changes records now."""
        return self.outcome == "accept" or (self.outcome == "update" and not self.proposal)


def candidate_of(record: Record, *, evidence: Evidence, scope: str = "persistent") -> Candidate:
    """A record as a candidate, for imports, edits and what consolidation makes."""
    return Candidate(
        name=record.name,
        description=record.description,
        type=record.type,
        body=record.body,
        scope=scope,
        subject=record.subject,
        expires=record.expires,
        aliases=record.aliases,
        applies_to=record.applies_to,
        supersedes=record.supersedes,
        always=record.always,
        evidence=evidence,
    )
