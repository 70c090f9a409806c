"""The six experiments, run one after the other, each in a fresh workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Final

from wayfare.errors import ConfigError
from wayfare.verify import (
    documents,
    large_output,
    preference,
    session_only,
    stage,
    this_once,
)
from wayfare.verify.checks import MODEL_DONE, Check, Result
from wayfare.verify.stand_in import stand_in
from wayfare.verify.subject import Subject
from wayfare.verify.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        key: Short name.
        title: What is tried, in a line.
        names: What it checks, beside whether the model did its part.
        act: Drives the sessions.
        judge: Looks at what they left, with code of its own.
    """

    key: str
    title: str
    names: tuple[str, ...]
    act: Callable[[Trial], Awaitable[None]]
    judge: Callable[[Trial], list[Check]]


def _of(module: ModuleType) -> Experiment:
    return Experiment(
        key=module.KEY,
        title=module.TITLE,
        names=module.NAMES,
        act=module.act,
        judge=module.judge,
    )


EXPERIMENTS: Final[tuple[Experiment, ...]] = tuple(
    _of(module) for module in (documents, large_output, stage, preference, session_only, this_once)
)


def chosen(keys: Sequence[str]) -> tuple[Experiment, ...]:
    """The experiments of these names or numbers (from 1); all for none.

    Raises:
        ConfigError: there is no such experiment; names those there are.
    """
    known = {one.key: one for one in EXPERIMENTS}
    known |= {str(number): one for number, one in enumerate(EXPERIMENTS, 1)}
    for key in keys:
        if key not in known:
            names = ", ".join(one.key for one in EXPERIMENTS)
            text = f"there is no experiment {key!r}; there are {names}, or 1 to {len(EXPERIMENTS)}"
            raise ConfigError(text, setting="only", value=key)
    wanted = {known[key].key for key in keys}
    return tuple(one for one in EXPERIMENTS if not wanted or one.key in wanted)


async def run(
    subject: Subject, folder: Path, *, experiments: Sequence[Experiment] = EXPERIMENTS
) -> AsyncIterator[Result]:
    """Run experiments, each in a fresh folder below `folder`; gives each result as it is there.

    Where the model does not do its part there is nothing to judge the runtime by: the experiment
    is then run once more with the stand-in in the model's place, in the same window.
    """
    for experiment in experiments:
        yield await run_one(subject, folder / experiment.key, experiment)


async def run_one(
    subject: Subject, folder: Path, experiment: Experiment, *, again: bool = True
) -> Result:
    """One experiment.

    Args:
        subject: Who and what is verified.
        folder: A fresh folder for it.
        experiment: Which.
        again: Whether it is run once more with the stand-in where the model left something open.
    """
    clock = subject.clock
    began = clock.monotonic()
    trial = Trial(subject=subject, folder=folder)
    await experiment.act(trial)
    found = experiment.judge(trial)
    requests = len(trial.record.exchanges)
    open_names = [c.name for c in found if c.verdict in ("failed-model", "skipped")]
    if again and any(c.verdict == "failed-model" for c in found):
        second = Trial(subject=_with_stand_in(subject), folder=folder / "stand-in")
        await experiment.act(second)
        requests += len(second.record.exchanges)
        wanted = {*open_names, *(c.name for c in found if c.verdict == "failed-runtime")}
        found += [
            replace(check, stand_in=True)
            for check in experiment.judge(second)
            if check.name in wanted and check.name != MODEL_DONE
        ]
    return Result(
        key=experiment.key,
        title=experiment.title,
        checks=tuple(found),
        folder=str(folder),
        requests=requests,
        sent_tokens=sum(
            e.reply.usage.prompt_tokens for e in trial.record.exchanges if e.reply is not None
        ),
        seconds=clock.monotonic() - began,
    )


def _with_stand_in(subject: Subject) -> Subject:
    window = min(subject.window_tokens, subject.model.window_tokens)
    return replace(subject, model=stand_in(window), side_model=None, window_tokens=window)
