"""The commands of a session that outlive their call, and how any command is started and ended."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import Process

from wayfare.agent.builtin.process_groups import any_lives, end, members, start
from wayfare.agent.builtin.results_folder import kept_path
from wayfare.agent.builtin.spool import Spool
from wayfare.agent.tools import ToolContext

SPOOLED = "bash"
"""Files with the whole output of commands begin so."""
_LINGER_SECONDS = 0.05
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What is worth knowing of a process that has ended: nothing of it needs pipes and watchers."""

    pid: int
    returncode: int

    async def wait(self) -> int:
        return self.returncode


@dataclass(slots=True, kw_only=True)
class Job:
    """A command that was started.

    Attributes:
        id: How the model calls it; empty for one that nobody can ask about.
        began: Seconds on the session's clock.
        read: Bytes of its output that were shown already.
        left: Processes that lived on when its shell had ended, each with its start.
    """

    id: str
    command: str
    process: Process | Gone
    spool: Spool
    began: float
    grace_seconds: float
    read: int = 0
    ended_by: str = ""
    left: Mapping[int, str] = field(default_factory=dict[int, str])

    @property
    def running(self) -> bool:
        """Whether its shell, or something it left behind, still runs."""
        return self.process.returncode is None or any_lives(self.left)

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        code = self.process.returncode
        if self.ended_by:
            return self.ended_by
        if code is None:
            return "running"
        if code < 0:
            with suppress(ValueError):
                return f"ended by {signal.Signals(-code).name}"
        return f"exit code {code}"

    async def wait(self) -> None:
        """Return when nothing of it runs any more."""
        await self.process.wait()
        while self.running:
            await anyio.sleep(_LOOK_SECONDS)

    async def stop(self, why: str) -> None:
        """End it and all it started; `why` is said where its end is reported."""
        with anyio.CancelScope(shield=True):
            if self.running and isinstance(self.process, Process):
                self.ended_by = why
                await end(self.process.pid, self.process, grace_seconds=self.grace_seconds)
            await self.settle()

    def let_go(self) -> None:
        """Hold the process no longer once nothing of it runs; its output stays in the file."""
        code = self.process.returncode
        if code is not None and not self.running:
            self.process, self.left = Gone(pid=self.process.pid, returncode=code), {}

    async def settle(self) -> None:
        """Take in what was printed until now; let go of the output when nobody prints any more."""
        await anyio.to_thread.run_sync(self.spool.drain)
        if self.process.returncode is not None and not any_lives(self.left):
            self.spool.close()


class Jobs:
    """The session's commands; `context.kept.of(Jobs)`. Those that run are ended when it closes."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._temporary: Path | None = None

    def get(self, id: str) -> Job | None:
        """The command called so."""
        return self._jobs.get(id)

    def add(self, job: Job) -> str:
        """Let a command outlive its call; returns its id."""
        for earlier in self._jobs.values():
            earlier.let_go()
        job.id = f"b{len(self._jobs) + 1}"
        self._jobs[job.id] = job
        return job.id

    def running(self) -> Sequence[Job]:
        """Those that run, the oldest first."""
        return [job for job in self._jobs.values() if job.running]

    def known(self) -> str:
        """All ids, for messages."""
        return ", ".join(self._jobs) or "none"

    async def begin(
        self,
        context: ToolContext,
        command: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        grace_seconds: float,
    ) -> Job:
        """Start a command.

        Raises:
            OSError: it cannot be started, or nothing can take its output.
            ValueError: a zero byte in it.
        """
        spool = self._spool(context)
        try:
            process = await start(
                argv, cwd=context.workspace, environment=environment, output=spool.input
            )
        except BaseException:
            spool.abandon()
            raise
        spool.begin()
        return Job(
            id="",
            command=command,
            process=process,
            spool=spool,
            began=context.clock.monotonic(),
            grace_seconds=grace_seconds,
        )

    def _spool(self, context: ToolContext) -> Spool:
        """A file for output among the session's results; a temporary one where those cannot be."""
        try:
            return Spool(*kept_path(context, SPOOLED, ".txt"))
        except OSError:
            if self._temporary is None:
                self._temporary = Path(tempfile.mkdtemp(prefix="wayfare-"))
            path = self._temporary / f"{SPOOLED}_{context.clock.token()}.txt"
            return Spool(path, str(path))

    async def aclose(self) -> None:
        """End every command that runs, all at once, and let go of their outputs."""
        async with anyio.create_task_group() as tasks:
            for job in self._jobs.values():
                tasks.start_soon(job.stop, "ended with the session")
        for job in self._jobs.values():
            job.spool.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


async def left_behind(process: Process | Gone) -> Mapping[int, str]:
    """What still runs of a command whose shell has ended."""
    if not members(process.pid):
        return {}
    # The last parts of a pipe or a substitution may be about to end by themselves.
    await anyio.sleep(_LINGER_SECONDS)
    return members(process.pid)
