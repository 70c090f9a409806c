"""How far a replay is: one live line on a terminal, else a line for each session that is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from wayfare.cli.printing import counted, is_live, plain, say, short
from wayfare.replay.replay import Progress, Result

Watch = Callable[[Progress], None]


class ReplayProgress:
    """Tells on stderr what is going on. Open it with `replay_progress()`."""

    def say(self, text: str) -> None:
        """A line that stays."""
        say(text)

    @contextmanager
    def session(self, name: str, budget: str) -> Generator[Watch]:
        """Show one session while it runs."""
        del name, budget
        yield lambda step: None

    def finished(self, result: Result, seconds: float) -> None:
        """A session is done."""
        self.say(_done(result, seconds))


class _LiveProgress(ReplayProgress):
    """One line that is drawn anew and gone at the end; the table then says what there is to say."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        name = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        fixed = Column(no_wrap=True, justify="right")
        self._done = 0
        self._console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self._bars = Progress(
            TextColumn("{task.fields[done]}", table_column=fixed, markup=False),
            TextColumn("{task.description}", table_column=name, markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[steps]}", table_column=fixed, markup=False),
            TextColumn("{task.fields[tokens]}", table_column=fixed, markup=False),
            TextColumn("{task.fields[edits]}", table_column=fixed, markup=False),
            console=self._console,
            transient=True,
            expand=True,
        )

    def __enter__(self) -> _LiveProgress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def say(self, text: str) -> None:
        self._console.print(plain(text))

    @contextmanager
    def session(self, name: str, budget: str) -> Generator[Watch]:
        shown = plain(f"{name} · {budget}")
        done = f"{self._done} done" if self._done else ""
        task = self._bars.add_task(shown, total=None, done=done, steps="", tokens="", edits="")

        def tell(step: Progress) -> None:
            self._bars.update(
                task,
                completed=step.step,
                total=step.steps,
                steps=f"{step.step}/{step.steps}",
                tokens=f"{short(step.tokens)} tokens",
                edits=counted(step.edits, "edit"),
            )

        try:
            yield tell
        finally:
            self._bars.remove_task(task)

    def finished(self, result: Result, seconds: float) -> None:
        del result, seconds
        self._done += 1


@contextmanager
def replay_progress() -> Generator[ReplayProgress]:
    """Progress as the stream allows it."""
    if not is_live(sys.stderr):
        yield ReplayProgress()
        return
    with _LiveProgress() as live:
        yield live


def _done(result: Result, seconds: float) -> str:
    made = sum(result.edits.values())
    text = (
        f"{result.file} · {result.budget}: {counted(result.requests, 'request')}, "
        f"{short(result.tokens_sent)} tokens sent, {counted(made, 'edit')}, {seconds:.1f} s"
    )
    return f"{text}; stopped: {result.stopped}" if result.stopped else text
