"""Mutants: each switches one mechanism off, and the experiment that watches it must turn red.

They run with the stand-in, so a check that stays green is blind and not lucky. Nothing is patched:
a mutant is a value handed in, such as numbers of a budget, a gate, a hook, a wrapped model, or what
befalls the files between two sessions. Mutants of the model show that its faults are told apart
from the runtime's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wayfare.agent.hooks import Hook
from wayfare.model import Request
from wayfare.providers.script import Line
from wayfare.providers.scripted import ScriptedModel
from wayfare.verify import (
    documents,
    large_output,
    preference,
    session_only,
    stage,
    switches,
    this_once,
)
from wayfare.verify.checks import MODEL_DONE, Check, Result
from wayfare.verify.experiments import chosen, run_one
from wayfare.verify.stand_in import answer, stand_in
from wayfare.verify.subject import Changes, Subject

_ENDLESS: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mechanism switched off.

    Attributes:
        name: What is switched off.
        key: The experiment that must notice.
        turns_red: The checks of it that must fail.
        changes: How it is switched off.
        replies: The model; where nothing is switched off, the fault is its own.
    """

    name: str
    key: str
    turns_red: tuple[str, ...]
    changes: Changes = field(default_factory=Changes)
    replies: Callable[[Request], Line] = answer

    @property
    def expected(self) -> str:
        """The verdict its checks must come to."""
        by_model = self.replies is not answer and self.changes == Changes()
        return "failed-model" if by_model else "failed-runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """What a mutant came to: the checks that turned red as they must, and those that did not."""

    mutant: Mutant
    red: tuple[Check, ...]
    missed: tuple[str, ...]

    @property
    def caught(self) -> bool:
        """Whether every check that must turn red did, with the right one to blame."""
        return not self.missed


async def run_mutants(folder: Path, mutants: Sequence[Mutant] = ()) -> AsyncIterator[Caught]:
    """Run mutants, each in a folder of its own below `folder`; all by default."""
    for number, mutant in enumerate(mutants or MUTANTS, 1):
        yield await run_mutant(mutant, folder / f"{number:02}-{mutant.key}")


async def run_mutant(mutant: Mutant, folder: Path) -> Caught:
    """Run the experiment a mutant must turn red."""
    (experiment,) = chosen([mutant.key])
    result = await run_one(subject_of(mutant), folder, experiment, again=False)
    return judged(mutant, result)


def judged(mutant: Mutant, result: Result) -> Caught:
    """Compare what turned red with what must."""
    red = tuple(c for c in result.checks if c.verdict == mutant.expected)
    names = {check.name for check in red}
    missed = tuple(name for name in mutant.turns_red if name not in names)
    return Caught(mutant=mutant, red=red, missed=missed)


def subject_of(mutant: Mutant) -> Subject:
    """The stand-in, or a faulty model like it, with what the mutant changes."""
    model = stand_in()
    if mutant.replies is not answer:
        model = ScriptedModel(
            always=mutant.replies,
            name="faulty",
            window_tokens=model.window_tokens,
            max_output_tokens=model.max_output_tokens,
        )
    return Subject(model=model, changes=mutant.changes)


def unwatched(mutants: Sequence[Mutant] = ()) -> list[str]:
    """Checks of the experiments that no mutant must turn red, as `experiment: check`."""
    watched = {(m.key, name) for m in mutants or MUTANTS for name in m.turns_red}
    return [
        f"{experiment.key}: {name}"
        for experiment in chosen([])
        for name in experiment.names
        if (experiment.key, name) not in watched
    ]


MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        name="stubs off (microcompact)",
        key=documents.KEY,
        turns_red=(documents.STUBS,),
        changes=Changes(budget={"shorten_over_chars": _ENDLESS}),
    ),
    Mutant(
        name="summaries in place of stubs",
        key=documents.KEY,
        turns_red=(documents.NO_SUMMARY,),
        changes=Changes(budget={"shorten_over_chars": _ENDLESS, "fit_preview_chars": _ENDLESS}),
    ),
    Mutant(
        name="archive truncated",
        key=documents.KEY,
        turns_red=(documents.BYTES, documents.LEFT),
        changes=Changes(after_session=switches.truncate_archive),
    ),
    Mutant(
        name="results blanked before they were read",
        key=documents.KEY,
        turns_red=(documents.SEEN,),
        changes=Changes(request=switches.blanked),
    ),
    Mutant(
        name="stubs although there is room",
        key=documents.KEY,
        turns_red=(documents.SMALL,),
        changes=Changes(
            budget={
                "limit_chars": 1_000,
                "at_once": True,
                "keep_results": 0,
                "keep_steps": 0,
                "shorten_over_chars": 20,
                "shorten_over_tokens": 0,
            }
        ),
    ),
    Mutant(
        name="offload off",
        key=large_output.KEY,
        turns_red=(large_output.PREVIEW,),
        changes=Changes(
            budget={
                "single_chars": _ENDLESS,
                "single_window_share": 1.0,
                "batch_chars": _ENDLESS,
                "batch_window_share": 1.0,
            }
        ),
    ),
    Mutant(
        name="an address without a preview",
        key=large_output.KEY,
        turns_red=(large_output.PREVIEW,),
        changes=Changes(budget={"preview_chars": 0}),
    ),
    Mutant(
        name="archive truncated",
        key=large_output.KEY,
        turns_red=(large_output.WHOLE,),
        changes=Changes(after_session=switches.truncate_archive),
    ),
    Mutant(
        name="receipts dropped",
        key=stage.KEY,
        turns_red=(stage.PAIRED,),
        changes=Changes(request=switches.without_results),
    ),
    Mutant(
        name="compaction off",
        key=stage.KEY,
        turns_red=(stage.GOAL,),
        changes=Changes(hooks=(Hook(event="PreCompact", run=switches.stop, name="off"),)),
    ),
    Mutant(
        name="summary without the goal",
        key=stage.KEY,
        turns_red=(stage.GOAL,),
        changes=Changes(request=switches.aimless),
    ),
    Mutant(
        name="nothing in place of the history",
        key=stage.KEY,
        turns_red=(stage.GOAL, stage.HISTORY, stage.WENT_ON),
        changes=Changes(request=switches.speechless),
    ),
    Mutant(
        name="archive truncated",
        key=stage.KEY,
        turns_red=(stage.HISTORY,),
        changes=Changes(after_session=switches.truncate_archive),
    ),
    Mutant(
        name="transcripts filed as memories",
        key=stage.KEY,
        turns_red=(stage.NO_MEMORY,),
        changes=Changes(after_session=switches.file_sessions),
    ),
    Mutant(
        name="extraction off",
        key=preference.KEY,
        turns_red=(preference.RECORD,),
        changes=Changes(asks_model=False),
    ),
    Mutant(
        name="memory off",
        key=preference.KEY,
        turns_red=(preference.RECORD,),
        changes=Changes(has_memory=False),
    ),
    Mutant(
        name="index not written",
        key=preference.KEY,
        turns_red=(preference.INDEX,),
        changes=Changes(after_session=switches.drop_index),
    ),
    Mutant(
        name="recall off",
        key=preference.KEY,
        turns_red=(preference.RECALLED, preference.ANSWER, preference.FILE, preference.AGAIN),
        changes=Changes(memory={"recall_records": 0}),
    ),
    Mutant(
        name="written files lost",
        key=preference.KEY,
        turns_red=(preference.AGAIN,),
        changes=Changes(after_session=switches.lose_files),
    ),
    Mutant(
        name="extraction off",
        key=session_only.KEY,
        turns_red=(session_only.LOOKED,),
        changes=Changes(asks_model=False),
    ),
    Mutant(
        name="gate off",
        key=session_only.KEY,
        turns_red=(session_only.NOTHING,),
        changes=Changes(gate=switches.open_gate),
    ),
    Mutant(
        name="gate off: a sentence that nobody said",
        key=session_only.KEY,
        turns_red=(session_only.NOTHING,),
        changes=Changes(gate=switches.open_gate),
        replies=switches.inventive,
    ),
    Mutant(
        name="gate off: records from one-off requests",
        key=this_once.KEY,
        turns_red=(this_once.KEPT,),
        changes=Changes(gate=switches.open_gate),
    ),
    Mutant(
        name="memory over the current request",
        key=this_once.KEY,
        turns_red=(this_once.SHOWN, this_once.OUTPUT),
        changes=Changes(request=switches.overruled),
    ),
    Mutant(
        name="model: reads nothing",
        key=documents.KEY,
        turns_red=(MODEL_DONE,),
        replies=switches.lazy,
    ),
    Mutant(
        name="model: never asks for the compaction",
        key=stage.KEY,
        turns_red=(MODEL_DONE,),
        replies=switches.lazy,
    ),
    Mutant(
        name='model: "I will remember", and no record',
        key=preference.KEY,
        turns_red=(preference.RECORD,),
        replies=switches.forgetful,
    ),
    Mutant(
        name="model: chooses no record",
        key=preference.KEY,
        turns_red=(preference.RECALLED,),
        replies=switches.incurious,
    ),
    Mutant(
        name="model: calls a passing wish a lasting one",
        key=session_only.KEY,
        turns_red=(session_only.NOTHING,),
        replies=switches.paraphrasing,
    ),
    Mutant(
        name="model: writes tabs all the same",
        key=this_once.KEY,
        turns_red=(this_once.OUTPUT,),
        replies=switches.headstrong,
    ),
)
"""All of them, by experiment; those of the model last."""
