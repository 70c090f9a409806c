"""The gate: one door for every write, nine checks in one list, each a reason of its own.

Whoever writes passes the same checks in the same order. A check that has nothing against a
candidate says `accept`, perhaps with a mended candidate; `update` names the record it would change
and lets the checks behind it still refuse; anything else is final.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from wayfare.formats.json_reply import without_surrogates
from wayfare.memory.candidate import OWNER_ACTORS, Actor, Candidate, Verdict
from wayfare.memory.derivable import derivable
from wayfare.memory.likeness import fingerprint, likeness, words
from wayfare.memory.limits import DEFAULT_LIMITS, MemoryLimits
from wayfare.memory.record import TYPES, one_line
from wayfare.memory.slug import name_key, slug
from wayfare.memory.wording import addresses_agent, explicitly_once, one_off, temporary
from wayfare.redaction import Scanner, rest, scrub


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the gate needs of a record that is there.

    `changed` is when it was last written through the gate, `edited` when an edit by hand was
    noticed (unix seconds; 0: never or unknown).
    """

    file: str
    name: str
    description: str
    type: str
    subject: str = ""
    description_print: str = ""
    body_print: str = ""
    changed: float = 0.0
    edited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of a forgotten record: enough to know it again, nothing to read."""

    file: str
    name: str
    subject: str = ""
    description_print: str = ""
    body_print: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """The records a candidate meets. `similar` holds whole texts (description and body, by file) of
    the few that share most of its words; whoever keeps a search index fills it."""

    by_file: Mapping[str, Known] = field(default_factory=dict[str, Known])
    by_name: Mapping[str, str] = field(default_factory=dict[str, str])
    by_subject: Mapping[str, str] = field(default_factory=dict[str, str])
    by_description: Mapping[str, str] = field(default_factory=dict[str, str])
    by_body: Mapping[str, str] = field(default_factory=dict[str, str])
    tombstones: Sequence[Tombstone] = ()
    similar: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class GateContext:
    """Who writes, under which limits, with which additional scanner for secrets.

    `insist`: the owner has seen the reason and wants the record nevertheless; temporary wording,
    likeness and derivable contents then no longer count. Shape and secrets always do.
    `now` (unix seconds): times beyond it come from a clock that was wrong and count as unknown.
    """

    actor: Actor
    limits: MemoryLimits = DEFAULT_LIMITS
    scanner: Scanner | None = None
    insist: bool = False
    now: float = 0.0

    @property
    def owner(self) -> bool:
        """Whether the owner writes."""
        return self.actor in OWNER_ACTORS

    def after(self, time: float, said: float) -> bool:
        """Whether something happened after something was said, both times being known."""
        return said > 0 and time > said and not 0 < self.now < time


Check: TypeAlias = Callable[[Candidate, Existing, GateContext], Verdict]


def judge(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """Ask every check in turn; the first that refuses, quarantines or finds a twin decides."""
    standing = Verdict(outcome="accept", candidate=candidate)
    for check in CHECKS:
        verdict = check(standing.candidate, existing, context)
        secrets = standing.secrets + verdict.secrets
        if verdict.outcome not in ("accept", "update"):
            return replace(verdict, secrets=secrets)
        if verdict.outcome == "accept":
            standing = replace(standing, candidate=verdict.candidate, secrets=secrets)
            continue
        standing = replace(verdict, secrets=secrets)
    return standing


def kept_out_by_hook(candidate: Candidate, reason: str) -> Verdict:
    """What a hook of the owner's refused before the gate saw it."""
    return _reject(candidate, "hook", f"a hook kept it out: {reason}")


def check_shape(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """1. Name, description and body are there, the type is known, sizes are within limits."""
    for part, text in zip(_PARTS, candidate.texts, strict=True):
        most: int = getattr(context.limits, f"{part}_chars")
        if len(text) > most:
            detail = f"its {part} has {len(text)} of at most {most} characters"
            return _reject(candidate, f"shape:long_{part}", detail)
    mended = replace(
        candidate,
        name=one_line(without_surrogates(candidate.name)),
        description=one_line(without_surrogates(candidate.description)),
        body=_plain(candidate.body),
        subject=one_line(without_surrogates(candidate.subject)),
    )
    for part, text in zip(_PARTS, mended.texts, strict=True):
        if not any(c.isalnum() or not c.isascii() for c in text):
            return _reject(mended, f"shape:no_{part}", f"it has no {part}")
    if candidate.record_type is None:
        shown = one_line(candidate.type)[:40]
        return _reject(mended, "shape:type", f"type {shown!r} is none of {', '.join(TYPES)}")
    return _accept(replace(mended, type=candidate.record_type))


def check_scope(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """2. It is meant to last; the current task's state, and a missing scope, are not."""
    scope = candidate.scope.strip().casefold()
    if scope == "persistent":
        return _accept(candidate)
    if not scope:
        return _reject(candidate, "scope:missing", "it does not say that it is persistent")
    if scope == "current_task":
        return _reject(candidate, "scope:current_task", "it belongs to the current task")
    return _reject(candidate, "scope:unknown", f"scope {scope[:40]!r} is not persistent")


def check_temporary(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """3. It does not say itself that it holds for now only."""
    if context.insist:
        return _accept(candidate)
    said = temporary(candidate.texts)
    if said:
        return _reject(candidate, "temporary", f"it says {said!r}")
    return _accept(candidate)


def check_secrets(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """4. Secrets are replaced; only what has nothing else to say is refused."""
    kinds: list[str] = []

    def clean(text: str) -> str:
        scrubbed, found = scrub(text, context.scanner)
        kinds.extend(found)
        return scrubbed

    mended = candidate.with_texts(*map(clean, (*candidate.texts, candidate.subject)))
    mended = replace(
        mended,
        aliases=tuple(map(clean, mended.aliases)),
        applies_to=tuple(map(clean, mended.applies_to)),
        evidence=replace(
            mended.evidence,
            quotes=tuple(scrub(q, context.scanner)[0] for q in mended.evidence.quotes),
        ),
    )
    if kinds and len(rest(mended.body).split()) < 2 and not _speaks(rest(mended.body)):
        return replace(
            _reject(mended, "secret", "beside the secret nothing is left"), secrets=tuple(kinds)
        )
    return Verdict(outcome="accept", candidate=mended, secrets=tuple(kinds))


def check_origin(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """5. It rests on what the user said; what others said waits for the owner."""
    origin = candidate.evidence.origin
    if context.owner or candidate.evidence.trusted:
        return _accept(candidate)
    if origin in ("memory", "notes", "summary", "system"):
        return _reject(candidate, "echo", f"it repeats {origin}, which is no evidence")
    order = addresses_agent(f"{candidate.description}\n{candidate.body}")
    said_by = f"said by {origin}, not by the user" if origin != "none" else "said by nobody"
    if order:
        detail = f"{said_by}, and it gives orders ({one_line(order)!r})"
        return _quarantine(candidate, "instruction", detail)
    return _quarantine(candidate, "evidence", said_by)


def check_duplicates(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """6. The same thing again is no news; a correction updates; near-twins wait for review."""
    target = _target(candidate, existing)
    body = fingerprint(candidate.body)
    if target is None:
        twin = existing.by_body.get(body)
        if twin is not None and twin in existing.by_file:
            return _duplicate(candidate, twin, "body", "its body is there already")
        return _near(candidate, existing, context)
    known = existing.by_file[target]
    same_words = (known.body_print, known.description_print) == (
        body,
        fingerprint(candidate.description),
    )
    if context.actor == "import" and not same_words:
        return _propose(candidate, target, "import", f"{known.name!r} says something else here")
    if context.owner and candidate.file:
        return _update(candidate, target, "edit", f"edits {known.name!r}")
    same_fields = known.type == candidate.type and known.subject == candidate.subject
    if same_words and same_fields and not candidate.expires:
        return _duplicate(candidate, target, "identical", "it is there already")
    if not context.owner and candidate.evidence.origin == "user":
        said = candidate.evidence.time
        if context.after(known.edited, said):
            return _propose(
                candidate, target, "edited_since", "the record was edited by hand since"
            )
        if context.after(known.changed, said):
            return _propose(candidate, target, "older", "the record is newer than what was said")
    return _update(candidate, target, "correction", f"changes {known.name!r}")


def check_derivable(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """7. It is no list of paths, stack trace, code or hashes: the repository knows those."""
    if context.insist:
        return _accept(candidate)
    what = derivable(candidate.body)
    if what:
        return _reject(candidate, "derivable", f"its body is chiefly {what}")
    return _accept(candidate)


def check_one_off(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """8. An exception changes no record, and makes none when it says it is for once only."""
    if context.owner or candidate.evidence.origin != "user":
        return _accept(candidate)
    quotes = candidate.evidence.quotes
    updates = _target(candidate, existing) is not None
    said = one_off(quotes) if updates else explicitly_once(quotes)
    if said:
        return _reject(candidate, "one_off", f"the user said {said!r}")
    return _accept(candidate)


def check_tombstones(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    """9. What the user had forgotten comes back only when the user says it anew."""
    if context.owner:
        return _accept(candidate)
    for stone in existing.tombstones:
        if not _same_thing(candidate, stone):
            continue
        said = candidate.evidence.time
        anew = said > stone.at or (said > 0 and 0 < context.now < stone.at)
        if candidate.evidence.origin == "user" and anew:
            continue
        return _reject(candidate, "forgotten", f"{stone.name!r} was forgotten on purpose")
    return _accept(candidate)


_PARTS = ("name", "description", "body")

CHECKS: tuple[Check, ...] = (
    check_shape,
    check_scope,
    check_temporary,
    check_secrets,
    check_origin,
    check_duplicates,
    check_derivable,
    check_one_off,
    check_tombstones,
)
"""The door. The order is that of the specification: cheap refusals first, secrets gone before
anything is compared or kept for review."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def _target(candidate: Candidate, existing: Existing) -> str | None:
    """The record a candidate speaks about: the one it names, its name's, its slot's."""
    if candidate.file and candidate.file in existing.by_file:
        return candidate.file
    named = existing.by_name.get(name_key(candidate.name))
    if named is not None:
        return named
    if candidate.subject:
        held = existing.by_subject.get(name_key(candidate.subject))
        if held is not None:
            return held
    # A file of that name may hold a record called otherwise: the same thing only if it reads so.
    file = f"{slug(candidate.name)}.md"
    known = existing.by_file.get(file)
    if known is None or not _same_slug(candidate.name, known):
        return None
    return file


def _same_slug(name: str, known: Known) -> bool:
    """Whether a name that gives a record's file name is that file's name, written another way."""
    return name_key(name) in (name_key(known.name), name_key(known.file.removesuffix(".md")))


def _near(candidate: Candidate, existing: Existing, context: GateContext) -> Verdict:
    if context.insist:
        return _accept(candidate)
    same_line = existing.by_description.get(fingerprint(candidate.description))
    if same_line is not None and len(words(candidate.description)) < 3:
        same_line = None  # two words are a heading, not a statement
    text = f"{candidate.description}\n{candidate.body}"
    containing: str | None = None
    near: str | None = same_line
    for file, other in existing.similar.items():
        how = likeness(text, other)
        if how == "same" or (how == "contained" and not context.owner):
            return _duplicate(candidate, file, "contained", "what it says is there already")
        if how == "containing":
            containing = file
        elif how == "near":
            near = near or file
    if context.owner:
        return _accept(candidate)
    if containing is not None:
        return _update(candidate, containing, "adds", "says more than the record it is like")
    if near is None:
        return _accept(candidate)
    return _propose(candidate, near, "near", "it is nearly a record that is there")


def _same_thing(candidate: Candidate, stone: Tombstone) -> bool:
    if name_key(candidate.name) == name_key(stone.name):
        return True
    if stone.subject and name_key(candidate.subject) == name_key(stone.subject):
        return True
    if fingerprint(candidate.body) == stone.body_print:
        return True
    said = fingerprint(candidate.description)
    return said == stone.description_print and len(words(candidate.description)) >= 3


def _plain(body: str) -> str:
    flat = body.replace("\r\n", "\n").replace("\r", "\n")
    kept = _CONTROLS.sub("", without_surrogates(flat))
    return kept.strip("\n") if kept.strip() else ""


def _speaks(text: str) -> bool:
    """Whether a rest without blanks between words still says something."""
    return sum(not c.isascii() for c in text) >= 4


def _accept(candidate: Candidate) -> Verdict:
    return Verdict(outcome="accept", candidate=candidate)


def _reject(candidate: Candidate, reason: str, detail: str) -> Verdict:
    return Verdict(outcome="reject", candidate=candidate, reason=reason, detail=detail)


def _quarantine(candidate: Candidate, reason: str, detail: str) -> Verdict:
    return Verdict(outcome="quarantine", candidate=candidate, reason=reason, detail=detail)


def _duplicate(candidate: Candidate, file: str, reason: str, detail: str) -> Verdict:
    return Verdict(
        outcome="duplicate", candidate=candidate, file=file, reason=reason, detail=detail
    )


def _update(candidate: Candidate, file: str, reason: str, detail: str) -> Verdict:
    return Verdict(outcome="update", candidate=candidate, file=file, reason=reason, detail=detail)


def _propose(candidate: Candidate, file: str, reason: str, detail: str) -> Verdict:
    return replace(_update(candidate, file, reason, detail), proposal=True)
