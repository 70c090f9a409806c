"""Experiment 4: a lasting preference, quit, start anew, ask, and let a file be created by it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.agent.builtin.write_file import write_file
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import body_of, first_indent, indentation, record_files
from wayfare.verify.recorder import CUT_OFF, Exchange
from wayfare.verify.trial import Trial, broken, last_words

KEY: Final = "preference"
TITLE: Final = "a lasting preference, quit, start anew, ask, create test.py"

RECORD: Final = "the preference is a record on disk"
INDEX: Final = "the index names the record"
RECALLED: Final = "the new session's request holds the record"
ANSWER: Final = "the new session's answer agrees"
FILE: Final = "test.py follows the preference"
AGAIN: Final = "after one more restart as well"
NAMES: Final = (RECORD, INDEX, RECALLED, ANSWER, FILE, AGAIN)

_SAID: Final = (
    "In all my projects I indent Python code with tabs, never with spaces. "
    "Keep that in mind for later."
)
_ASKED: Final = "How do I want Python code indented? Answer in one sentence."
_CREATE: Final = (
    "Create a Python file called {name} with write_file: a function greet(name) that returns "
    "a greeting."
)
_FILES: Final = ("test.py", "again.py")
_TABS: Final = re.compile(r"\btabs?\b", re.IGNORECASE)


async def act(trial: Trial) -> None:
    """Say it in one session, ask in the next, create files in it and in one more."""
    tools = [read_file_tool(20_000), write_file]
    await trial.session(_SAID, tools=tools, memory=True, most_steps=6)
    late = any(e.error == CUT_OFF for e in trial.exchanges("extraction"))
    if not record_files(trial.workspace) and not late:
        # Without a record the sessions that follow have nothing to go by; what an extraction that
        # was cut off left, they pick up.
        return
    tasks = (_ASKED, _CREATE.format(name=_FILES[0]))
    await trial.session(*tasks, tools=tools, memory=True, most_steps=6)
    await trial.session(_CREATE.format(name=_FILES[1]), tools=tools, memory=True, most_steps=6)


def judge(trial: Trial) -> list[Check]:
    """Compare records, index, requests, answer and files."""
    records = [p for p in record_files(trial.workspace) if _TABS.search(body_of(p))]
    found = [_record(trial, records), _index(trial, records), _recalled(trial, records)]
    if (failed := broken(trial)) is not None:
        found.insert(0, failed)
    found.append(_answer(trial, records))
    found += [
        _file(trial, records, name=FILE, path=_FILES[0], session=2),
        _file(trial, records, name=AGAIN, path=_FILES[1], session=3),
    ]
    return found


def _record(trial: Trial, records: list[Path]) -> Check:
    if records:
        body = body_of(records[0])
        told = f".memory/{records[0].name}: {len(body.encode()):,} bytes, {body[:80]!r}"
        return checks.passed(RECORD, "it is on disk", told)
    said_so = next((t.text for t in trial.turns if t.session == 1), "")
    told = f"session 1 answered {said_so[:60]!r}; .memory holds no record with it"
    asked = trial.exchanges("extraction")
    offered = [e for e in asked if _TABS.search(e.said)]
    wrote = [
        e.label
        for e in trial.exchanges("step", session=1)
        if e.reply is not None and any(c.name == "memory_write" for c in e.reply.calls)
    ]
    if offered or wrote:
        said = "the model offered it and it was not kept"
        labels = [e.label for e in offered] + wrote
        usable = wrote or any('"scope"' in e.said and '"persistent"' in e.said for e in offered)
        if not usable:
            said = "the model's reply about it could not be used"
            return checks.model(RECORD, said, told, f"{offered[0].said[:100]!r}")
        return checks.runtime(RECORD, said, told, *labels)
    if not asked:
        return checks.runtime(RECORD, "nobody was asked what to keep", told)
    said = "asked what to keep, the model did not name it"
    return checks.model(RECORD, said, told, *(_words(e) for e in asked[:2]))


def _words(exchange: Exchange) -> str:
    """What came back, and when, for people."""
    seconds = exchange.ended - exchange.began
    text = exchange.error or repr(exchange.said[:80])
    return f"{exchange.label}: {text}, after {seconds:.1f} s"


def _index(trial: Trial, records: list[Path]) -> Check:
    if not records:
        return checks.skipped(INDEX, "there is no record")
    path = trial.workspace / ".memory" / "MEMORY.md"
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    line = next((line for line in lines if f"({records[0].name})" in line), "")
    if line:
        return checks.passed(INDEX, "it is listed", f".memory/MEMORY.md: {line[:100]}")
    told = f".memory/MEMORY.md has {len(lines)} lines and not {records[0].name}"
    return checks.runtime(INDEX, "the record is on disk and not in the index", told)


def _holding(trial: Trial, records: list[Path], session: int) -> list[Exchange]:
    """The steps of a session whose request holds what a record says, outside of the index."""
    bodies = [body_of(record) for record in records]
    return [
        e
        for e in trial.exchanges("step", session=session)
        if any(body in m.text for m in e.request.messages for body in bodies)
    ]


def _recalled(trial: Trial, records: list[Path]) -> Check:
    if not records:
        return checks.skipped(RECALLED, "there is no record")
    for session in (2, 3):
        if not trial.exchanges("step", session=session):
            return checks.skipped(RECALLED, f"session {session} sent nothing")
        if not _holding(trial, records, session):
            return _not_recalled(trial, session)
    labels = [_holding(trial, records, session)[0].label for session in (2, 3)]
    return checks.passed(RECALLED, "both new sessions were shown it", *labels)


def _not_recalled(trial: Trial, session: int) -> Check:
    asked = trial.exchanges("selection", session=session)
    steps = trial.exchanges("step", session=session)
    said = f"session {session} was not shown the record, though it is on disk"
    if not asked:
        return checks.runtime(RECALLED, said, "nobody was asked what to recall")
    late = asked[0].ended > steps[0].began and asked[0].ended - asked[0].began > 1
    told = f"{asked[0].label}: {asked[0].said[:60]!r}"
    if late:
        seconds = asked[0].ended - asked[0].began
        told += f" after {seconds:.1f} s; a turn waits memory.recall_wait_seconds"
        return checks.model(RECALLED, f"{said}: the choice came too late", told)
    if re.search(r"\[\s*\]", asked[0].said):
        return checks.model(RECALLED, f"{said}: the model chose none", told)
    return checks.runtime(RECALLED, said, told)


def _answer(trial: Trial, records: list[Path]) -> Check:
    if not records:
        return checks.skipped(ANSWER, "there is no record to agree with")
    turn = next((t for t in trial.turns if t.session == 2 and t.asked == _ASKED), None)
    if turn is None or turn.how == "error":
        return checks.skipped(ANSWER, "session 2 gave no answer")
    told = f"session 2 answered {turn.text[:100]!r}"
    if _TABS.search(turn.text):
        return checks.passed(ANSWER, "it says tabs, as the record does", told)
    return _blame(trial, records, 2, ANSWER, "it does not say tabs", told)


def _blame(
    trial: Trial, records: list[Path], session: int, name: str, said: str, told: str
) -> Check:
    """What came out is wrong: the model's fault if it was shown the record."""
    holding = _holding(trial, records, session)
    if holding:
        said = f"{said}, though {holding[0].label} held the record"
        return checks.model(name, said, told)
    if _not_recalled(trial, session).verdict == "failed-model":
        return checks.skipped(name, "the record was not recalled", told)
    return checks.runtime(name, f"{said}; the record was not recalled", told)


def _file(trial: Trial, records: list[Path], *, name: str, path: str, session: int) -> Check:
    if not records:
        return checks.skipped(name, "there is no record to follow")
    place = trial.workspace / path
    written = trial.outputs("write_file", session=session)
    contents = [str(r.input.get("content", "")) for r in written if r.input.get("path") == path]
    if not place.is_file():
        if contents:
            return checks.runtime(name, f"write_file said it wrote, and there is no {path}")
        return checks.model(name, f"it did not create {path}", *last_words(trial, session=session))
    told = f"{path}: {place.stat().st_size} bytes, indented by {first_indent(place)}"
    if indentation(place) == "tabs":
        return checks.passed(name, "it is indented with tabs", told)
    if contents and contents[-1].strip() != place.read_text("utf-8", "replace").strip():
        return checks.runtime(name, "the file is not what the model wrote", told)
    return _blame(trial, records, session, name, f"its indentation: {indentation(place)}", told)
