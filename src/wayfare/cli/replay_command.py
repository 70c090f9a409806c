"""`wayfare replay`: live progress, a table, JSON, the HTML report."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from wayfare import json_text
from wayfare.context.budget import Budget
from wayfare.errors import ConfigError, RecordingError
from wayfare.replay.recording import Recording, read_recordings
from wayfare.replay.replay import Progress as Step
from wayfare.replay.replay import Replay, Result
from wayfare.replay.rows import row
from wayfare.session import RESULTS, TRANSCRIPTS, run_sync


def run(
    files: Sequence[Path],
    *,
    window_tokens: int,
    budgets: Sequence[str],
    out: Path | None,
    html: Path | None,
    json: bool,
) -> None:
    """Replay every session of `files` under every budget.

    Raises:
        RecordingError: a file is no recording; names the known formats.
        ConfigError: no such budget, or a window too small to govern.
    """
    presets = [Budget.named(name, window_tokens) for name in budgets]
    recordings = list(_recordings(files))
    console = Console(stderr=True)
    with _workspace(out) as root:
        results = _replay(recordings, presets, root, console)
        if html is not None:
            from wayfare.replay.report import report

            html.write_text(report(results), encoding="utf-8")
            console.print(f"report: {html}", highlight=False)
    if json:
        value = {"sessions": [row(result) for result in results]}
        sys.stdout.write(json_text.dumps(value).decode("utf-8") + "\n")
    else:
        _print(results)
        if out is not None:
            typer.echo(f"transcripts and archives: {out} (wayfare context --root {out})")


def _recordings(files: Sequence[Path]) -> Iterator[Recording]:
    for given in files:
        if not given.is_dir():
            yield from read_recordings(given)
            continue
        found = 0
        for file in sorted(f for f in given.rglob("*") if f.suffix in (".json", ".jsonl", ".traj")):
            try:
                yield from read_recordings(file)
                found += 1
            except RecordingError as error:
                typer.echo(f"left out: {error}", err=True)
        if not found:
            raise ConfigError(f"no recorded session in {given}", setting="files", value=str(given))


@contextmanager
def _workspace(out: Path | None) -> Generator[Path]:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        yield out.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="wayfare-replay-") as root:
        yield Path(root).resolve()


def _replay(
    recordings: Sequence[Recording], budgets: Sequence[Budget], root: Path, console: Console
) -> list[Result]:
    results: list[Result] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:>5}/{task.total} steps"),
        TextColumn("{task.fields[tokens]:>9,} tokens"),
        TextColumn("{task.fields[edits]:>4} edits"),
    )
    with Progress(*columns, console=console) as bars:
        for recording in recordings:
            for budget in budgets:
                name = f"{recording.name[:40]} · {budget.name}"
                task = bars.add_task(name, total=None, tokens=0, edits=0)

                def tell(step: Step, task: object = task) -> None:
                    bars.update(
                        task,  # pyright: ignore[reportArgumentType]
                        completed=step.step,
                        total=step.steps,
                        tokens=step.tokens,
                        edits=step.edits,
                    )

                session = _free_name(root, budget)
                replay = Replay(recording, budget, root, session=session, watch=tell)
                results.append(run_sync(replay.run))
    return results


def _free_name(root: Path, budget: Budget) -> str:
    """A session name that is not taken; short, because every address carries it."""
    number = 1
    while True:
        name = f"{number}-{budget.name}"
        if not (root / TRANSCRIPTS / name).exists() and not (root / RESULTS / name).exists():
            return name
        number += 1


def _print(results: Sequence[Result]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("session", overflow="fold", max_width=32)
    for title in (
        "budget", "requests", "tokens sent", "cost", "ungoverned", "edits", "files",
        "identifiers", "content", "recoverable", "invalid", "refused", "ms",
    ):  # fmt: skip
        table.add_column(title, justify="right" if title != "budget" else "left")
    for result in results:
        edits = ", ".join(f"{name} {count}" for name, count in result.edits.items())
        table.add_row(
            result.file,
            result.budget,
            str(result.requests),
            f"{result.tokens_sent:,}",
            f"{result.cost / 1000:,.0f}k",
            f"{result.cost / max(result.cost_ungoverned, 1):.2f}×",
            edits or "none",
            f"{result.needed_files:.0%}",
            f"{result.needed_identifiers:.0%}",
            f"{result.needed_content:.0%}",
            f"{result.recoverable:.0%}" if result.recoverable == 1 else f"{result.recoverable:.2%}",
            str(result.invalid),
            str(result.refused),
            f"{result.governance_ms['median']:.1f}",
        )
    width = None if sys.stdout.isatty() else 160
    Console(width=width, highlight=False).print(table)
    for result in results:
        if result.stopped:
            typer.echo(f"{result.file} ({result.budget}) stopped: {result.stopped}")
