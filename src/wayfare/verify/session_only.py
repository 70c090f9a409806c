"""Experiment 5: a wish for this session only leaves nothing in memory."""

from __future__ import annotations

import re
from typing import Final

from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.agent.builtin.write_file import write_file
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import record_files
from wayfare.verify.trial import Trial, broken, stopped

KEY: Final = "session-only"
TITLE: Final = '"in this session do not create files"'

LOOKED: Final = "memory was asked what to keep"
NOTHING: Final = "nothing of it is in .memory"
NAMES: Final = (LOOKED, NOTHING)

_WISH: Final = "In this session do not create files."
_ASKED: Final = f"{_WISH} What is 2 + 3? Answer in one word."
_OF_IT: Final = re.compile(r"\b(creat\w*|files?)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]{3,}")
_TEMPORARY: Final = re.compile(r"\b(this|current) (session|conversation|task)\b", re.IGNORECASE)


async def act(trial: Trial) -> None:
    """Say it, ask for something else, and quit."""
    tools = [read_file_tool(20_000), write_file]
    await trial.session(_ASKED, tools=tools, memory=True, most_steps=4)


def judge(trial: Trial) -> list[Check]:
    """Look into the memory, and whether anybody looked for something to keep."""
    found = [_looked(trial), _nothing(trial)]
    return [failed, *found] if (failed := broken(trial)) is not None else found


def _looked(trial: Trial) -> Check:
    asked = [
        e for e in trial.exchanges("extraction") if any(_WISH in m.text for m in e.request.messages)
    ]
    if asked:
        told = f"{asked[0].label} replied {asked[0].said[:80]!r}"
        return checks.passed(
            LOOKED, "the wish was read, so that an empty memory says something", told
        )
    turn = stopped(trial.turns)
    if turn is not None:
        # A turn that did not end by itself is read with the next.
        return checks.model(LOOKED, f"its turn ended as {turn.how!r}", turn.text[:120])
    said = "nobody was asked what to keep: an empty memory then says nothing"
    return checks.runtime(LOOKED, said)


def _nothing(trial: Trial) -> Check:
    records = record_files(trial.workspace)
    texts = {path.name: path.read_text("utf-8", "replace") for path in records}
    wrong = [name for name, text in texts.items() if _OF_IT.search(text)]
    if not records:
        return checks.passed(NOTHING, "there is no record", ".memory: 0 records")
    if unsaid := [name for name, text in texts.items() if not _was_said(text)]:
        told = [f".memory/{name}: {texts[name][-80:].strip()!r}" for name in unsaid]
        return checks.runtime(NOTHING, "a record says what nobody said", *told)
    if not wrong:
        return checks.passed(NOTHING, "the records there are say nothing of it", *texts)
    told = [f".memory/{name}: {texts[name][-80:].strip()!r}" for name in wrong]
    replies = [e.said for e in trial.exchanges("extraction")]
    hid = not any(_TEMPORARY.search(text) for text in (*replies, *texts.values()))
    if replies and hid:
        said = "the model offered it as lasting, without a word that it was for this session"
        return checks.model(NOTHING, said, *told)
    return checks.runtime(NOTHING, "a wish for this session became a record", *told)


def _was_said(record: str) -> bool:
    """Whether a record's text has at least a fifth of its words from what the user typed."""
    _, _, body = record.removeprefix("---").rpartition("\n---\n")
    found = set(_WORD.findall(body.casefold()))
    return not found or len(found & set(_WORD.findall(_ASKED.casefold()))) * 5 >= len(found)
