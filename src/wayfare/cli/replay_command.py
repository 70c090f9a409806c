"""`wayfare replay`: live progress, a table, JSON, the HTML report."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from wayfare.cli.printing import columns, counted, note, put_json, write
from wayfare.cli.replay_progress import ReplayProgress, replay_progress
from wayfare.clock import SystemClock
from wayfare.context.budget import Budget
from wayfare.errors import ConfigError, LeaseHeld, RecordingError, WayfareError, WriteFailed
from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Problem, Recording
from wayfare.replay.replay import Replay, Result
from wayfare.session import RESULTS, TRANSCRIPTS, run_sync

_SUFFIXES = (".json", ".jsonl", ".traj")
"""What a folder is searched for; a file that is named may be called anything."""
_STOPPED = 130
"""Exit status of a command that was interrupted (128 and the number of SIGINT)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be replayed, and where the results go.

    Args:
        files: Recordings, or folders of them.
        budgets: Each session runs under each of these.
        out: Workspace for transcripts and archives; None: they are thrown away.
        html: Where the report goes.
        json: Print one JSON object in place of the table.
        side_chains: Replay the sessions of sub-agents too.
    """

    files: Sequence[Path]
    budgets: Sequence[Budget]
    out: Path | None = None
    html: Path | None = None
    json: bool = False
    side_chains: bool = False


@dataclass(slots=True, kw_only=True)
class _Done:
    """What came of it so far."""

    results: list[Result] = field(default_factory=list[Result])
    left_out: int = 0
    status: int = 0


def presets(names: str, window_tokens: int) -> list[Budget]:
    """The budgets named in a comma-separated list, each once.

    Raises:
        ConfigError: no budget named, an unknown one, or a window too small to govern.
    """
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise ConfigError("no budget named; known: window, classic", setting="budget", value=names)
    return [Budget.named(name, window_tokens) for name in found]


def run(wanted: Wanted) -> int:
    """Replay, report, and return the exit status: 0, 1 if something could not be replayed.

    Raises:
        ConfigError: `out` or `html` cannot be written; nothing was replayed.
    """
    if wanted.html is not None:
        _check_target(wanted.html)
    done = _Done()
    with _workspace(wanted.out) as root, _interruptible(), replay_progress() as progress:
        try:
            for recording in _recordings(wanted, done, progress):
                _replay_all(recording, wanted, root, done, progress)
        except KeyboardInterrupt:
            done.status = _STOPPED
            progress.say(f"wayfare: stopped after {counted(len(done.results), 'session')}")
        except WriteFailed as error:
            done.status = 1
            progress.say(f"wayfare: {error}")
    if done.results:
        _report(wanted, done)
    return done.status


def _recordings(wanted: Wanted, done: _Done, progress: ReplayProgress) -> Iterator[Recording]:
    """Every session asked for; a file that cannot be read is told and passed over."""
    for given in wanted.files:
        searched = given.is_dir()
        found = 0
        for file in _files(given) if searched else (given,):
            try:
                recordings = read_recordings(file)
            except RecordingError as error:
                stranger = searched and "unknown format" in error.reason
                done.status = done.status if stranger else 1
                progress.say(f"wayfare: left out {error}" if searched else f"wayfare: {error}")
                continue
            found += len(recordings)
            for recording in recordings:
                yield from _with_side_chains(recording, wanted, done)
        if searched and not found:
            done.status = 1
            kinds = ", ".join(_SUFFIXES)
            progress.say(f"wayfare: no recorded session in {given} (looked for {kinds})")


def _files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.suffix in _SUFFIXES and f.is_file())


def _with_side_chains(recording: Recording, wanted: Wanted, done: _Done) -> Iterator[Recording]:
    if recording.messages:
        yield recording
    for chain in recording.side_chains:
        if wanted.side_chains:
            yield from _with_side_chains(chain, wanted, done)
        else:
            done.left_out += 1


def _replay_all(
    recording: Recording, wanted: Wanted, root: Path, done: _Done, progress: ReplayProgress
) -> None:
    """One session under every budget. One that fails is told, the others go on."""
    if recording.problems:
        progress.say(f"{recording.name}: {_problems(recording.problems)}")
    clock = SystemClock()
    for budget in wanted.budgets:
        began = clock.monotonic()
        try:
            with progress.session(recording.name, budget.name) as watch:
                result = _replayed(recording, budget, root, watch)
        except WriteFailed:
            raise
        except WayfareError as error:
            done.status = 1
            progress.say(f"wayfare: {recording.name} ({budget.name}): {error}")
            continue
        if wanted.html is None:
            result = replace(result, points=())
        done.results.append(result)
        progress.finished(result, clock.monotonic() - began)


def _problems(problems: Sequence[Problem]) -> str:
    first = problems[0]
    where = f"line {first.line}: " if first.line else ""
    rest = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
    return f"not all of it could be read; {where}{first.reason}{rest}"


def _replayed(recording: Recording, budget: Budget, root: Path, watch: object) -> Result:
    """Replay into folders of their own; another process may take a free name at the same time."""
    while True:
        name = _free_name(root, budget)
        replay = Replay(recording, budget, root, session=name, watch=watch)  # pyright: ignore[reportArgumentType]
        try:
            return run_sync(replay.run)
        except LeaseHeld:
            continue


def _free_name(root: Path, budget: Budget) -> str:
    """A session name that is not taken; short, because every address carries it."""
    number = 1
    while True:
        name = f"{number}-{budget.name}"
        if not (root / TRANSCRIPTS / name).exists() and not (root / RESULTS / name).exists():
            return name
        number += 1


@contextmanager
def _workspace(out: Path | None) -> Generator[Path]:
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable("--out", out, error) from error
        if not os.access(out, os.W_OK | os.X_OK):
            raise _unwritable("--out", out, PermissionError(13, "permission denied"))
        yield out.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="wayfare-replay-") as root:
        yield Path(root).resolve()


def _check_target(html: Path) -> None:
    """Find out before the work whether the report can be written after it."""
    if html.is_dir():
        raise _unwritable("--html", html, IsADirectoryError(21, "it is a folder"))
    folder = html.parent
    if not folder.is_dir():
        raise _unwritable("--html", html, FileNotFoundError(2, f"there is no folder {folder}"))
    if not os.access(html if html.exists() else folder, os.W_OK):
        raise _unwritable("--html", html, PermissionError(13, "permission denied"))


def _unwritable(option: str, path: Path, error: OSError) -> ConfigError:
    reason = error.strerror or str(error)
    text = f"{option} {path} cannot be written: {reason[:1].lower()}{reason[1:]}"
    return ConfigError(text, setting=option.lstrip("-"), value=str(path))


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C and a plain kill stop the work at once, wherever it is, and clean up behind it.

    An event loop of its own would only note the first Ctrl-C and wait for a pause, which a replay
    that computes does not make.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report(wanted: Wanted, done: _Done) -> None:
    from wayfare.cli.replay_table import LEGEND, side_chains_line, table
    from wayfare.replay.rows import row, totals

    rows = [row(result) for result in done.results]
    notes: list[str] = []
    if wanted.json:
        put_json({"sessions": rows})
    else:
        width = columns(sys.stdout)
        lines = table(rows, totals(done.results), width)
        write("\n".join((_bold(lines[0]), *lines[1:], "")), sys.stdout)
        notes.append(f"window: {done.results[0].window:,} tokens; {LEGEND}")
    for result in done.results:
        if result.stopped:
            notes.append(f"{result.file} ({result.budget}) stopped: {result.stopped}")
        if result.problems:
            notes.append(f"{result.file} ({result.budget}) invalid: {result.problems[0]}")
    if done.left_out:
        notes.append(side_chains_line(done.left_out))
    if wanted.html is not None:
        notes.append(_write_report(wanted.html, done))
    if wanted.out is not None:
        notes.append(f"transcripts: {wanted.out}; see wayfare context --root {wanted.out}")
    for text in notes:
        note(text, sys.stderr if wanted.json else sys.stdout)


def _bold(text: str) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[1m{text}\x1b[0m"


def _write_report(html: Path, done: _Done) -> str:
    from wayfare.replay.report import report

    try:
        html.write_text(report(done.results), encoding="utf-8")
    except OSError as error:
        done.status = done.status or 1
        return f"wayfare: {_unwritable('--html', html, error)}"
    return f"report: {html}"
