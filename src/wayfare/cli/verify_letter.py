"""What `wayfare verify` prints: the finding first, then each experiment with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from wayfare.cli.printing import counted, short
from wayfare.cli.screen.spans import Line, Span, wrapped
from wayfare.verify.checks import Check, Result, Verdict
from wayfare.verify.experiments import EXPERIMENTS
from wayfare.verify.mutants import Caught

_MARKS: Final[Mapping[Verdict, Span]] = {
    "passed": ("good", "✓"),
    "failed-runtime": ("bad", "✗"),
    "failed-model": ("warn", "✗"),
    "skipped": ("dim", "·"),
}
_WORDS: Final[Mapping[Verdict, str]] = {
    "passed": "passed",
    "failed-runtime": "failed: wayfare",
    "failed-model": "failed: the model",
    "skipped": "nothing to judge",
}
_LETTER_COLUMNS: Final = 80
_BLANK: Final[Line] = (("", ""),)
_NUMBERS: Final = {experiment.key: number for number, experiment in enumerate(EXPERIMENTS, 1)}


def width_for(columns: int | None) -> int:
    """How wide a letter is: narrow enough to be read."""
    return min(columns or _LETTER_COLUMNS, _LETTER_COLUMNS)


def progress(number: int, of: int, result: Result) -> str:
    """One line about an experiment that is done."""
    words = _WORDS[result.verdict]
    amount = counted(result.requests, "request")
    return f"{number}/{of} {result.key}: {words} ({amount}, {result.seconds:.0f} s)"


def letter(results: Sequence[Result], *, model: str, window_tokens: int, width: int) -> list[Line]:
    """The whole report.

    Args:
        results: In the order they were run.
        model: Name of the model.
        window_tokens: The window the experiments worked in.
        width: Columns.
    """
    amount = counted(sum(r.requests for r in results), "request")
    sent = short(sum(r.sent_tokens for r in results))
    head = f"wayfare verify: {model}, window {window_tokens:,} tokens, {amount}, {sent} tokens sent"
    lines = wrapped(head, width, style="bold")
    lines += [_BLANK, *wrapped(finding(results), width)]
    for result in results:
        lines += [_BLANK, *_experiment(result, width)]
    if any(check.stand_in for result in results for check in result.checks):
        said = (
            "(stand-in): where the model did not do its part, the experiment was run once more "
            "with a model that does, in the same window, so that wayfare's part could be judged."
        )
        lines += [_BLANK, *wrapped(said, width, style="dim")]
    return lines


def finding(results: Sequence[Result]) -> str:
    """What it comes to, in a sentence or two."""
    total = len(results)
    whose = {verdict: [r.key for r in results if r.verdict == verdict] for verdict in _WORDS}
    good = len(whose["passed"])
    if good == total:
        return f"Finding: {'all' if total > 1 else 'the'} {_experiments(total)} passed."
    said = [f"Finding: {good} of {_experiments(total)} passed."]
    if ours := whose["failed-runtime"]:
        said.append(f"wayfare failed in {', '.join(ours)}.")
    else:
        said.append("Nothing speaks against wayfare.")
    if theirs := whose["failed-model"]:
        said.append(f"The model did not do its part in {', '.join(theirs)}.")
    return " ".join(said)


def _experiments(number: int) -> str:
    return counted(number, "experiment")


def _experiment(result: Result, width: int) -> Iterator[Line]:
    style, _ = _MARKS[result.verdict]
    amount = f"{counted(result.requests, 'request')}, {result.seconds:.0f} s"
    yield from wrapped(f"{_NUMBERS[result.key]} {result.title}", width, style="bold")
    yield (("", "  "), (style, _WORDS[result.verdict]), ("dim", f" · {amount}"))
    for check in result.checks:
        if check.verdict != "skipped" or not _judged_later(check, result):
            yield from _check(check, width)


def _judged_later(check: Check, result: Result) -> bool:
    """Whether the second run has the answer that the first one could not give."""
    return any(other.stand_in and other.name == check.name for other in result.checks)


def _check(check: Check, width: int) -> Iterator[Line]:
    style, mark = _MARKS[check.verdict]
    whose = " (stand-in)" if check.stand_in else ""
    first, *rest = wrapped(f"{check.name}{whose}: {check.said}", width - 4)
    yield (("", "  "), (style, f"{mark} "), *first)
    for line in rest:
        yield (("", "    "), *line)
    for evidence in check.evidence:
        first, *rest = wrapped(evidence, width - 8, style="dim")
        yield (("dim", "      - "), *first)
        for line in rest:
            yield (("", "        "), *line)


def as_json(results: Sequence[Result], *, model: str, window_tokens: int) -> dict[str, Any]:
    """The report as one JSON object."""
    return {
        "model": model,
        "window_tokens": window_tokens,
        "finding": finding(results),
        "passed": all(result.verdict == "passed" for result in results),
        "experiments": [_result_json(result) for result in results],
    }


def _result_json(result: Result) -> dict[str, Any]:
    return {
        "key": result.key,
        "title": result.title,
        "verdict": result.verdict,
        "folder": result.folder,
        "requests": result.requests,
        "sent_tokens": result.sent_tokens,
        "seconds": round(result.seconds, 1),
        "checks": [asdict(check) for check in result.checks],
    }


def mutant_line(caught: Caught, width: int) -> list[Line]:
    """One mutant: what was switched off, the experiment, what turned red."""
    mutant = caught.mutant
    mark: Span = ("good", "✓ ") if caught.caught else ("bad", "✗ ")
    wanted = [check for check in caught.red if check.name in mutant.turns_red]
    lines: list[Line] = [(mark, ("bold", mutant.name), ("dim", f" → {mutant.key}"))]
    for check in wanted:
        whose = "" if check.verdict == "failed-runtime" else " (the model's fault)"
        lines += wrapped(f"red: {check.name}{whose}", width, lead="    ")
        lines += wrapped(check.said, width, lead="      ", style="dim")
    for name in caught.missed:
        lines += wrapped(f"STILL GREEN: {name}", width, lead="    ", style="bad")
    return lines


def mutant_json(caught: Caught) -> dict[str, Any]:
    """One mutant as JSON."""
    return {
        "mutant": caught.mutant.name,
        "experiment": caught.mutant.key,
        "caught": caught.caught,
        "must_turn_red": list(caught.mutant.turns_red),
        "red": [asdict(check) for check in caught.red],
        "missed": list(caught.missed),
    }
