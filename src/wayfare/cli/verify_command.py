"""`wayfare verify`: the six experiments on the model that is set."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from wayfare.cli.model_choice import chosen_model, open_model
from wayfare.cli.printing import columns, put, put_json, say, write
from wayfare.cli.screen.spans import Line, joined
from wayfare.cli.screen.terminal import shows_color
from wayfare.cli.session_setup import budget_of, limits_of
from wayfare.cli.settings_files import Read, left_out_line, read_settings
from wayfare.cli.verify_letter import (
    as_json,
    letter,
    mutant_json,
    mutant_line,
    progress,
    width_for,
)
from wayfare.clock import SystemClock
from wayfare.errors import ConfigError
from wayfare.events import Event
from wayfare.model import Model
from wayfare.session import run_sync
from wayfare.settings import Flag
from wayfare.verify import experiments, mutants
from wayfare.verify.checks import Result
from wayfare.verify.experiments import Experiment
from wayfare.verify.stand_in import stand_in
from wayfare.verify.subject import REPLY_TOKENS, WINDOW_TOKENS, Subject

PASSED: Final = 0
FAILED: Final = 1
STOPPED: Final = 130
_PACKAGED_REPLY_TOKENS: Final = 128
"""The packaged model hardly ever finds an end by itself: what it says then is longer, not better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be verified.

    Args:
        only: Experiments by name or number; none: all six.
        out: Folder for workspaces and requests, kept; None: one of its own, kept on failure.
        keep: Keep the folder in any case.
        json: Print one JSON object in place of the letter.
        window_tokens: The window the experiments work in.
        stand_in: Use the stand-in in place of a model.
        mutants: Run the mutants instead.
    """

    only: Sequence[str] = ()
    out: Path | None = None
    keep: bool = False
    json: bool = False
    window_tokens: int = WINDOW_TOKENS
    stand_in: bool = False
    mutants: bool = False


def run(root: Path, wanted: Wanted, flags: list[Flag]) -> int:
    """Run the experiments; returns the exit status: 0 all passed, 1 some failed.

    Raises:
        ConfigError: a setting or an argument that is not valid.
        ModelAuthError: there is no model to verify.
    """
    chosen = experiments.chosen(wanted.only)
    folder = _folder(wanted.out)
    status = FAILED
    try:
        if wanted.mutants:
            status = _mutants(folder, wanted, chosen)
        else:
            status = _verify(root, folder, wanted, flags, chosen)
    except KeyboardInterrupt:
        say("wayfare: stopped")
        status = STOPPED
    finally:
        _leave(folder, wanted, failed=status != PASSED)
    return status


def _folder(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="wayfare-verify-")).resolve()
    try:
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        empty = not any(out.iterdir())
    except OSError as error:
        text = f"--out {out}: {(error.strerror or str(error)).lower()}"
        raise ConfigError(text, setting="--out", value=str(out)) from error
    if not empty:
        text = f"--out {out} is not empty: every experiment wants a fresh workspace"
        raise ConfigError(text, setting="--out", value=str(out))
    return out.resolve()


def _leave(folder: Path, wanted: Wanted, *, failed: bool) -> None:
    """Keep the folder where there is something to look at, and never remove one that was named."""
    used = any(folder.iterdir())
    if used and (failed or wanted.keep or wanted.out is not None):
        say(f"wayfare: kept {folder}: the workspaces, and beside each its requests.jsonl")
    elif wanted.out is None:
        shutil.rmtree(folder, ignore_errors=True)


def _verify(
    root: Path, folder: Path, wanted: Wanted, flags: list[Flag], chosen: Sequence[Experiment]
) -> int:
    read = read_settings(root, flags)
    if line := left_out_line(read):
        say(f"wayfare: {line}")
    model = stand_in(wanted.window_tokens) if wanted.stand_in else _model(read)
    subject = _subject(read, model, wanted)
    window_tokens = subject.budget.window_tokens
    results = run_sync(_run, subject, folder, chosen)
    if wanted.json:
        put_json(as_json(results, model=model.name, window_tokens=window_tokens))
    else:
        width = width_for(columns(sys.stdout))
        _put(letter(results, model=model.name, window_tokens=window_tokens, width=width))
    return PASSED if all(result.verdict == "passed" for result in results) else FAILED


async def _run(subject: Subject, folder: Path, chosen: Sequence[Experiment]) -> Sequence[Result]:
    results: list[Result] = []
    say(f"wayfare: verifying {subject.model.name}, {len(chosen)} experiments")
    try:
        async for result in experiments.run(subject, folder, experiments=chosen):
            results.append(result)
            say(progress(len(results), len(chosen), result))
    finally:
        for model in (subject.model, subject.side_model):
            close = getattr(model, "close", None)
            if close is not None:
                await close()
    return results


def _model(read: Read) -> Model:
    return open_model(read.settings, clock=SystemClock(), watch=_tell)


def _tell(event: Event) -> None:
    """Waits for a busy server are worth a line."""
    if event.name in ("model.retry", "model.gave_up"):
        say(f"wayfare: {event.text}")


def _subject(read: Read, model: Model, wanted: Wanted) -> Subject:
    """The model with the settings a session of it would have."""
    settings = read.settings
    clock = SystemClock()
    own_side = bool(settings.side_model.name) and not wanted.stand_in
    side = open_model(settings, clock=clock, watch=_tell, side=True) if own_side else None
    packaged = not wanted.stand_in and chosen_model(settings) == "local"
    subject = Subject(
        model=model,
        side_model=side,
        window_tokens=wanted.window_tokens,
        reply_tokens=_PACKAGED_REPLY_TOKENS if packaged else REPLY_TOKENS,
        preset=budget_of(settings, model).name,
        numbers=settings.context.numbers(),
        summaries=settings.context.summaries,
        memory=settings.memory,
        limits=limits_of(settings),
        clock=clock,
    )
    changes = replace(subject.changes, has_memory=settings.memory.enabled)
    return replace(subject, changes=changes)


def _mutants(folder: Path, wanted: Wanted, chosen: Sequence[Experiment]) -> int:
    keys = {experiment.key for experiment in chosen}
    some = [mutant for mutant in mutants.MUTANTS if mutant.key in keys]
    found = run_sync(_run_mutants, folder, some)
    blind = [text for text in mutants.unwatched() if text.partition(":")[0] in keys]
    if wanted.json:
        put_json({"mutants": [mutant_json(one) for one in found], "unwatched": blind})
    else:
        width = width_for(columns(sys.stdout))
        _put([line for one in found for line in mutant_line(one, width)])
        caught = sum(one.caught for one in found)
        put(f"\n{caught} of {len(found)} mutants caught")
        put(f"; no mutant for {', '.join(blind)}\n" if blind else "; every check has one\n")
    return PASSED if not blind and all(one.caught for one in found) else FAILED


async def _run_mutants(folder: Path, some: Sequence[mutants.Mutant]) -> Sequence[mutants.Caught]:
    found: list[mutants.Caught] = []
    async for caught in mutants.run_mutants(folder, some):
        found.append(caught)
        mark = "caught" if caught.caught else "MISSED"
        say(f"{len(found)}/{len(some)} {mark}: {caught.mutant.name} ({caught.mutant.key})")
    return found


def _put(lines: Sequence[Line]) -> None:
    write(joined(lines, color=shows_color(sys.stdout)), sys.stdout)
