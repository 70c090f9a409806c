"""Experiment 6: a record says tabs, the present request asks for four spaces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.agent.builtin.write_file import write_file
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import body_of, first_indent, indentation, record_files
from wayfare.verify.recorder import Exchange
from wayfare.verify.trial import Trial, broken, last_words

KEY: Final = "this-once"
TITLE: Final = "remembered tabs, now asked for four spaces"

SHOWN: Final = "the request holds both the record and the wish"
OUTPUT: Final = "this request's file has four spaces"
KEPT: Final = "the record still says tabs"
NAMES: Final = (SHOWN, OUTPUT, KEPT)

_FILE: Final = "python-indentation.md"
_BODY: Final = "The user indents Python code with tabs, never with spaces."
_RECORD: Final = f"""---
name: python-indentation
description: How the user wants Python code laid out
type: user
---
{_BODY}
"""
WISH: Final = "Indent this one with four spaces, just this once."
_TASK: Final = (
    "Create a Python file called test.py with write_file: a function greet(name) that returns "
    f"a greeting. {WISH}"
)
_SPACES: Final = re.compile(r"\bspaces\b", re.IGNORECASE)


async def act(trial: Trial) -> None:
    """Put the record there by hand, as a person may, and ask against it."""
    folder = trial.workspace / ".memory"
    folder.mkdir(mode=0o700)
    (folder / _FILE).write_text(_RECORD, encoding="utf-8")
    tools = [read_file_tool(20_000), write_file]
    await trial.session(_TASK, tools=tools, memory=True, most_steps=6)


def judge(trial: Trial) -> list[Check]:
    """Look at what was sent, at the file and at the record."""
    steps = trial.exchanges("step")
    found = [_shown(steps), _output(trial, steps), _kept(trial)]
    return [failed, *found] if (failed := broken(trial)) is not None else found


def _holds(exchange: Exchange, words: str) -> bool:
    return any(words in m.text for m in exchange.request.messages if m.role == "user")


def _shown(steps: list[Exchange]) -> Check:
    if not steps:
        return checks.skipped(SHOWN, "nothing was sent")
    without = [e.label for e in steps if not _holds(e, WISH)]
    if without:
        return checks.runtime(SHOWN, "the user's own words are not in the request", *without)
    both = [e for e in steps if _holds(e, _BODY)]
    if both:
        return checks.passed(
            SHOWN, "the record as background, the wish word for word", both[0].label
        )
    said = "the record was not recalled, so nothing spoke against the wish"
    return checks.skipped(SHOWN, said, steps[0].label)


def _output(trial: Trial, steps: list[Exchange]) -> Check:
    place = trial.workspace / "test.py"
    if not place.is_file():
        if trial.outputs("write_file"):
            return checks.runtime(OUTPUT, "write_file said it wrote, and there is no test.py")
        return checks.model(OUTPUT, "it did not create test.py", *last_words(trial))
    told = f"test.py: {place.stat().st_size} bytes, indented by {first_indent(place)}"
    if indentation(place) == "four spaces":
        return checks.passed(OUTPUT, "it does as this request says", told)
    written = [str(r.input.get("content", "")) for r in trial.outputs("write_file")]
    if written and written[-1].strip() != place.read_text("utf-8", "replace").strip():
        return checks.runtime(OUTPUT, "the file is not what the model wrote", told)
    said = f"its indentation: {indentation(place)}"
    if steps and _holds(steps[0], WISH):
        return checks.model(OUTPUT, f"{said}, though {steps[0].label} held the wish", told)
    return checks.runtime(OUTPUT, f"{said}; the wish never reached the model", told)


def _kept(trial: Trial) -> Check:
    path = trial.workspace / ".memory" / _FILE
    others = [p for p in record_files(trial.workspace) if p.name != _FILE]
    against = [p for p in others if _SPACES.search(body_of(p)) and "tabs" not in body_of(p)]
    told = [f".memory/{p.name}: {body_of(p)[:80]!r}" for p in _there(path, *against)]
    if path.is_file() and body_of(path) == _BODY and not against:
        return checks.passed(KEPT, "the exception changed nothing", *told)
    called = [c for e in trial.exchanges("step") if e.reply for c in e.reply.calls]
    wrote = [c.name for c in called if c.name in ("memory_write", "memory_forget")]
    said = "an exception for once changed what is remembered"
    if not path.is_file():
        said = "the record is gone"
    if "memory_forget" in wrote and not path.is_file():
        return checks.model(KEPT, said, *told, "the model called memory_forget")
    return checks.runtime(KEPT, said, *told)


def _there(*paths: Path) -> list[Path]:
    return [path for path in paths if path.is_file()]
