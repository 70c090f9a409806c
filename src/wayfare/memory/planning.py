"""From verdicts to changes of files: what a write will do, before anything is done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from wayfare.formats.json_reply import without_surrogates
from wayfare.memory.candidate import Actor, Candidate, Verdict
from wayfare.memory.journal import JournalLine, Source
from wayfare.memory.record import Record, one_line, read_record
from wayfare.memory.record_text import render, rewrite
from wayfare.memory.slug import name_key
from wayfare.memory.transaction import Change
from wayfare.redaction import scrub

SHOWN_CHARS = 300
"""So much of a candidate's description, and of the reason, a verdict's journal line quotes."""


class Draft:
    """The files a write will change, each with what it holds now and what it will hold."""

    def __init__(self, at: float) -> None:
        self.at = at
        self._changes: dict[str, Change] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Files that change."""
        return tuple(self._changes)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes, one a file, those that change nothing left out."""
        return tuple(c for c in self._changes.values() if c.before != c.after)

    def text(self, file: str) -> bytes | None:
        """What a file will hold, if it is among those that change."""
        change = self._changes.get(file)
        return None if change is None else change.after

    def write(self, file: str, present: bytes | None, verdict: Verdict) -> bytes:
        """Let a candidate into a file that holds `present` now; returns its new text.

        Raises:
            RecordError: the file holds something that cannot be written over without loss.
        """
        earlier = self._changes.get(file)
        now = present if earlier is None else earlier.after
        day = datetime.fromtimestamp(self.at, UTC).date().isoformat()
        if now is None:
            text = render(record_of(verdict.candidate, created=day)).encode()
        else:
            old = read_record(file, now).record
            text = rewrite(file, now, merged(old, verdict, updated=day))
        before = present if earlier is None else earlier.before
        self._changes[file] = Change(
            file=file, before=before, after=text, reason=verdict.reason or "new"
        )
        return text


def record_of(candidate: Candidate, *, created: str = "") -> Record:
    """A new record that says what a candidate that passed the gate says."""
    return Record(
        name=candidate.name,
        description=candidate.description,
        type=candidate.record_type or "project",
        body=candidate.body,
        subject=candidate.subject,
        created=created,
        expires=candidate.expires,
        supersedes=candidate.supersedes,
        aliases=candidate.aliases,
        applies_to=candidate.applies_to,
        always=candidate.always,
    )


def merged(old: Record, verdict: Verdict, *, updated: str) -> Record:
    """The record with what the candidate says put in its place; what it leaves open stays."""
    candidate = verdict.candidate
    edit = verdict.reason == "edit"
    same_name = name_key(old.name) == name_key(candidate.name)
    keep_name = not edit and (same_name or verdict.reason == "adds")
    new = replace(
        old,
        name=old.name if keep_name else candidate.name,
        description=candidate.description,
        type=candidate.record_type or old.type,
        body=candidate.body,
        subject=candidate.subject or ("" if edit else old.subject),
        expires=candidate.expires or ("" if edit else old.expires),
        supersedes=candidate.supersedes or (() if edit else old.supersedes),
        aliases=candidate.aliases or (() if edit else old.aliases),
        applies_to=candidate.applies_to or (() if edit else old.applies_to),
        always=candidate.always or (not edit and old.always),
    )
    return new if new == old else replace(new, updated=updated)


def verdict_line(
    verdict: Verdict, *, at: float, actor: Actor, source: Source | None
) -> JournalLine:
    """The journal line for a verdict. It quotes name and description, without secrets."""

    def shown(text: str) -> str:
        flat = one_line(without_surrogates(text[: SHOWN_CHARS * 4]))
        return scrub(flat)[0][:SHOWN_CHARS]

    candidate = verdict.candidate
    said = candidate.evidence
    return JournalLine(
        op="verdict",
        at=at,
        actor=actor,
        outcome="review" if verdict.proposal else verdict.outcome,
        reason=verdict.reason,
        detail=shown(verdict.detail),
        file=verdict.file,
        name=shown(candidate.name),
        description=shown(candidate.description),
        source=Source(
            session=said.session or (source.session if source else ""),
            entries=said.entries or (source.entries if source else ()),
            origin=said.origin,
        ),
    )
