"""A consolidation's plan: operations on records, read from a reply and checked before anything is
done. Plain functions over values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from wayfare.formats.json_reply import reply_objects
from wayfare.memory.candidate import Candidate, Evidence
from wayfare.memory.gate import Existing, GateContext, judge
from wayfare.memory.likeness import normal, support, words
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.planning import merged, record_of
from wayfare.memory.record import Record, read_record
from wayfare.memory.record_text import render, rewrite
from wayfare.memory.slug import fold, free_file, name_key
from wayfare.memory.transaction import Change

Kind: TypeAlias = Literal["keep", "merge", "update", "retire"]

SOURCE_KEPT = 0.5
"""At least half of what each merged or updated record says must be in its result: a record that is
named in a merge and then left out of it would be a deletion nobody ordered."""
GROUNDED = 0.5
"""At least half of a result's words must come from its records; the rest may join them."""

_KEYS = ("operations", "ops", "plan", "records", "memories", "results")
_SOURCES = ("files", "from", "sources", "merged_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A record as it was when the plan was asked for: file, bytes, what it says."""

    file: str
    content: bytes
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: on which files, with which result, for which reason."""

    kind: Kind
    files: tuple[str, ...]
    result: Candidate | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Operations on records. `refusal` is why it must not be done; empty when it may."""

    operations: tuple[Operation, ...] = ()
    unnamed: tuple[str, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An operation with the changes it comes to."""

    operation: Operation
    changes: tuple[Change, ...]


def read_plan(reply: str, held: Sequence[Held]) -> Plan:
    """The operations of a reply.

    A bare list of records is read as update by name, or merge where it says from which files.

    Raises:
        ValueError: there is no list of operations in it.
    """
    objects = reply_objects(reply, keys=_KEYS)
    if not objects:
        return Plan(refusal="it is empty")
    finder = _Finder(held)
    operations: list[Operation] = []
    for found in objects:
        operation = _operation(found, finder)
        if isinstance(operation, str):
            return Plan(operations=tuple(operations), refusal=operation)
        operations.append(operation)
    named = {file for op in operations for file in op.files}
    unnamed = tuple(h.file for h in held if h.file not in named)
    return Plan(operations=tuple(operations), unnamed=unnamed)


def resolve(
    plan: Plan,
    held: Sequence[Held],
    existing: Existing,
    context: GateContext,
    *,
    day: str,
    limits: MemoryLimits,
) -> tuple[list[Resolved], str]:
    """The changes a plan comes to, or why it is refused.

    Args:
        plan: As read.
        held: The records it was made from.
        existing: All records of the memory, those of the plan among them.
        context: For the gate, which every result passes.
        day: Today, for `updated`.
        limits: Results a plan may have, share of text that may vanish.
    """
    by_file = {h.file: h for h in held}
    if plan.refusal:
        return [], plan.refusal
    refusal = _against_rules(plan, by_file, limits)
    if refusal:
        return [], refusal
    touched = {f for op in plan.operations if op.kind != "keep" for f in op.files}
    others = _without(existing, touched)
    resolved: list[Resolved] = []
    taken = {fold(file) for file in others.by_file}
    for operation in plan.operations:
        if operation.kind == "keep":
            continue
        changes, refusal = _resolve(operation, by_file, others, context, taken, day)
        if refusal:
            return [], refusal
        if changes:
            taken |= {fold(c.file) for c in changes if c.after is not None}
            resolved.append(Resolved(operation=operation, changes=tuple(changes)))
    refusal = _loss(held, resolved, limits) or _twins(resolved, others)
    return ([], refusal) if refusal else (resolved, "")


def _operation(found: Mapping[str, Any], finder: _Finder) -> Operation | str:
    """One operation, or why it cannot be one."""
    kind = str(found.get("op") or found.get("operation") or found.get("action") or "").casefold()
    sources = next((found[key] for key in _SOURCES if isinstance(found.get(key), list)), None)
    named: object = found.get("file") or (found.get("name") if sources is None else None)
    wanted = cast("list[object]", sources) if sources is not None else [named]
    files = [finder.find(name) for name in wanted]
    if not kind:
        kind = "merge" if sources is not None else "update"
    if kind not in ("keep", "merge", "update", "retire"):
        return f"it holds an operation {kind[:30]!r} that does not exist"
    if None in files or not files:
        missing = [str(n)[:60] for n, f in zip(wanted, files, strict=True) if f is None]
        return f"it names records that do not exist: {', '.join(missing) or 'none'}"
    unique = tuple(dict.fromkeys(cast("list[str]", files)))
    reason = str(found.get("reason") or "")[:200]
    if kind in ("keep", "retire"):
        return Operation(kind=cast(Kind, kind), files=unique, reason=reason)
    inner = found.get("record") or found.get("result") or found.get("into")
    text = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else found
    if len(unique) == 1:
        kind = "update"
    return Operation(
        kind=cast(Kind, kind), files=unique, result=_result(text, finder, unique), reason=reason
    )


def _result(text: Mapping[str, Any], finder: _Finder, files: Sequence[str]) -> Candidate:
    """What a merge or update would say; what it leaves open is taken from its records."""
    olds = [finder.held(file).record for file in files]

    def said(key: str, default: str) -> str:
        value = text.get(key)
        return value if isinstance(value, str) else default

    def shared(values: Sequence[str]) -> str:
        return values[0] if len(set(values)) == 1 else ""

    return Candidate(
        name=said("name", olds[0].name),
        description=said("description", olds[0].description),
        type=said("type", olds[0].type),
        body=said("body", olds[0].body if len(olds) == 1 else ""),
        scope="persistent",
        subject=shared([old.subject for old in olds]),
        expires=shared([old.expires for old in olds]),
        aliases=tuple(dict.fromkeys(a for old in olds for a in old.aliases)),
        applies_to=tuple(dict.fromkeys(p for old in olds for p in old.applies_to)),
        supersedes=tuple(dict.fromkeys(s for old in olds for s in old.supersedes)),
        always=any(old.always for old in olds),
        evidence=Evidence(origin="record"),
    )


def _against_rules(plan: Plan, held: Mapping[str, Held], limits: MemoryLimits) -> str:
    used = Counter(f for op in plan.operations if op.kind != "keep" for f in op.files)
    twice = [file for file, count in used.items() if count > 1]
    if twice:
        return f"it uses {twice[0]} in more than one operation"
    results = sum(op.result is not None for op in plan.operations)
    if results > limits.consolidate_results:
        return f"it has {results} results, more than {limits.consolidate_results}"
    for op in plan.operations:
        if op.kind == "retire":
            kept = [f for f in op.files if held[f].record.type in ("user", "feedback")]
            if kept:
                return f"it retires {kept[0]}, which is the user's own word, without a successor"
    return ""


def _resolve(
    operation: Operation,
    held: Mapping[str, Held],
    others: Existing,
    context: GateContext,
    taken: set[str],
    day: str,
) -> tuple[list[Change], str]:
    sources = [held[file] for file in operation.files]
    gone = [Change(file=s.file, before=s.content, after=None, reason="retire") for s in sources]
    if operation.result is None:
        return gone, ""
    verdict = judge(operation.result, others, context)
    if verdict.outcome == "update":
        return [], f"its result {operation.result.name!r} would take the place of {verdict.file}"
    if verdict.outcome != "accept":
        return [], f"its result {operation.result.name!r} does not pass: {verdict.detail}"
    result = verdict.candidate
    said = words(f"{result.name}\n{result.description}\n{result.body}")
    for source in sources:
        share = _share(source.record.body, f"{result.description}\n{result.body}")
        if share < SOURCE_KEPT:
            return [], (f"loss: {result.name!r} keeps {share:.0%} of what {source.file} says")
    told = "\n".join(f"{s.record.name}\n{s.record.description}\n{s.record.body}" for s in sources)
    if said and support(said, told) < GROUNDED:
        return [], f"{result.name!r} says what its records do not say"
    keys = {name_key(result.name)}
    home = next(
        (s for s in sources if name_key(s.record.name) in keys or name_key(s.file[:-3]) in keys),
        sources[0] if len(sources) == 1 else None,
    )
    reason = operation.kind
    if home is None:
        record = record_of(result, created=min(_created(sources), default=day))
        file = free_file(result.name, taken)
        new = Change(file=file, before=None, after=render(record).encode(), reason=reason)
        return [new, *gone], ""
    record = merged(home.record, replace(verdict, reason="correction"), updated=day)
    after = rewrite(home.file, home.content, record)
    rest = [change for change in gone if change.file != home.file]
    if after == home.content:
        return rest, ""
    return [Change(file=home.file, before=home.content, after=after, reason=reason), *rest], ""


def _share(old: str, new: str) -> float:
    """How much of an old text a new one still says, 0 to 1; by words, or whole where it has none."""
    wanted = words(old)
    if wanted:
        return support(wanted, new)
    return 1.0 if normal(old) in normal(new) else 0.0


def _loss(held: Sequence[Held], resolved: Sequence[Resolved], limits: MemoryLimits) -> str:
    """Whether too much of what the records say would be said nowhere any more."""
    after: dict[str, bytes | None] = {h.file: h.content for h in held}
    after.update({c.file: c.after for r in resolved for c in r.changes})
    before = words("\n".join(h.record.body for h in held))
    kept = [read_record(file, text).record for file, text in after.items() if text is not None]
    left = words("\n".join(f"{r.description}\n{r.body}" for r in kept))
    lost = len(before - left) / len(before) if before else 0.0
    if lost > limits.consolidate_loss:
        return f"loss: {lost:.0%} of what the records say would vanish"
    return ""


def _twins(resolved: Sequence[Resolved], others: Existing) -> str:
    names: list[str] = []
    for change in (c for r in resolved for c in r.changes):
        if change.after is not None:
            names.append(name_key(read_record(change.file, change.after).record.name))
    for name, count in Counter(names).items():
        if count > 1 or name in others.by_name:
            return f"two records would be called {name!r}"
    return ""


def _without(existing: Existing, files: set[str]) -> Existing:
    """The memory without the records an operation uses up."""

    def outside(lookup: Mapping[str, str]) -> dict[str, str]:
        return {key: file for key, file in lookup.items() if file not in files}

    return replace(
        existing,
        by_file={f: existing.by_file[f] for f in existing.by_file if f not in files},
        by_name=outside(existing.by_name),
        by_subject=outside(existing.by_subject),
        by_description=outside(existing.by_description),
        by_body=outside(existing.by_body),
        similar={},
        tombstones=(),
    )


def _created(sources: Sequence[Held]) -> list[str]:
    return [s.record.created for s in sources if s.record.created]


class _Finder:
    """Finds the records a reply means, by file, with or without suffix, or by name."""

    def __init__(self, held: Sequence[Held]) -> None:
        self._held = {h.file: h for h in held}
        self._names: dict[str, str] = {}
        for h in held:
            self._names.setdefault(name_key(h.record.name), h.file)

    def find(self, name: object) -> str | None:
        if not isinstance(name, str) or not name.strip():
            return None
        bare = name.strip().rsplit("/", 1)[-1]
        for file in (bare, f"{bare}.md"):
            if file in self._held:
                return file
        return self._names.get(name_key(bare.removesuffix(".md")))

    def held(self, file: str) -> Held:
        return self._held[file]
