"""`bash`, `bash_output` and `bash_kill`: shell commands, at once or in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from wayfare.agent.builtin.jobs import Job, Jobs, left_behind
from wayfare.agent.builtin.notes import noted
from wayfare.agent.builtin.shell_settings import Shell
from wayfare.agent.builtin.spool import output
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Command, Tool, ToolContext, ToolOutput, failure
from wayfare.context.exit_status import one_is_an_answer

_TICK_SECONDS: Final = 1.0
"""How often a long command is looked at: its size, and its last line for the person."""
_LINE_CHARS: Final = 160
_MOST_WAIT_SECONDS: Final = 600.0
_COMMAND_BYTES: Final = 128 * 1024 - 1
"""The longest single argument Linux hands to a program (MAX_ARG_STRLEN)."""


def bash_tools(shell: Shell) -> tuple[Tool, Tool, Tool]:
    """The three tools, with these settings."""
    return _bash(shell), _bash_output(shell), _bash_kill(shell)


def _bash(shell: Shell) -> Tool:
    @tool(kind="shell", main_argument="command", timeout_seconds=None)
    async def bash(
        command: Command,
        timeout_seconds: float | None = None,
        background: bool = False,
        *,
        context: ToolContext,
    ) -> ToolOutput:
        """Run a line of bash in the workspace's root and get what it prints.

        Each call is a shell of its own: cd and variables do not last. Nothing can be typed in.
        Long output is shown by its beginning and end; all of it stands in a file that is named.

        Args:
            command: The line.
            timeout_seconds: It is ended after so long; 120 unless given.
            background: Return at once with an id, for servers and long jobs; see bash_output.
        """
        if len(command.encode("utf-8", "replace")) > _COMMAND_BYTES:
            return failure(
                f"the command is longer than {_COMMAND_BYTES:,} bytes, the most the system takes: "
                "write long texts with write_file"
            )
        jobs = context.kept.of(Jobs)
        try:
            job = await jobs.begin(
                context,
                command,
                shell.argv(command, context.workspace),
                shell.environment(),
                grace_seconds=shell.grace_seconds,
            )
        except (OSError, ValueError) as error:
            return failure(f"the command could not be started: {error}")
        if background:
            id = jobs.add(job)
            return ToolOutput(
                text=f"{id} runs in the background. Its output: bash_output id={id}, or "
                f"{job.spool.address}; bash_kill ends it.",
                brief=f"{id} in the background",
            )
        seconds = shell.timeout_seconds if timeout_seconds is None else timeout_seconds
        return await _to_its_end(
            shell, context, job, min(max(seconds, 0.1), shell.most_timeout_seconds)
        )

    return bash


def _bash_output(shell: Shell) -> Tool:
    @tool(read_only=True, main_argument="id", timeout_seconds=None)
    async def bash_output(
        id: str, wait_seconds: float = 0.0, *, context: ToolContext
    ) -> ToolOutput:
        """See whether a background command still runs, and what it printed since the last look.

        Args:
            id: As bash gave it.
            wait_seconds: Wait so long at most for it to end; 0 to look now.
        """
        jobs = context.kept.of(Jobs)
        job = jobs.get(id)
        if job is None:
            return failure(f"there is no background command {id!r}. There are: {jobs.known()}")
        with anyio.move_on_after(min(max(wait_seconds, 0.0), _MOST_WAIT_SECONDS)):
            await job.wait()
        return await _news(shell, context, job)

    return bash_output


def _bash_kill(shell: Shell) -> Tool:
    @tool(main_argument="id")
    async def bash_kill(id: str, *, context: ToolContext) -> ToolOutput:
        """End a background command and every process it started.

        Args:
            id: As bash gave it.
        """
        jobs = context.kept.of(Jobs)
        job = jobs.get(id)
        if job is None:
            return failure(f"there is no background command {id!r}. There are: {jobs.known()}")
        await job.stop("ended by bash_kill")
        return await _news(shell, context, job)

    return bash_kill


async def _to_its_end(shell: Shell, context: ToolContext, job: Job, seconds: float) -> ToolOutput:
    """Wait for a command; end it when it takes too long, prints too much or is not wanted."""
    try:
        with anyio.move_on_after(seconds) as limit:
            while job.process.returncode is None:
                with anyio.move_on_after(_TICK_SECONDS):
                    await job.process.wait()
                    break
                if job.spool.size > shell.most_output_bytes:
                    await job.stop(f"ended: more than {shell.most_output_bytes:,} bytes of output")
                    break
                context.progress(await anyio.to_thread.run_sync(_last_line, job.spool.path))
        if limit.cancelled_caught:
            await job.stop(f"timed out after {seconds:g} seconds and was ended")
    except BaseException:
        await job.stop("interrupted")
        raise
    job.left = {} if job.ended_by else await left_behind(job.process)
    await job.settle()
    return await anyio.to_thread.run_sync(_result, shell, context, job)


def _result(shell: Shell, context: ToolContext, job: Job) -> ToolOutput:
    spool = job.spool
    found = output(spool.path, spool.address, start=0, end=spool.size, most_chars=shell.shown_chars)
    job.read = spool.size
    ended_well = not job.ended_by and job.process.returncode == 0
    text = found.text if ended_well else f"{job.ending}\n{found.text}"
    answer = not job.ended_by and job.process.returncode == 1 and one_is_an_answer(job.command)
    failed = not ended_well and not answer
    notes: list[str] = []
    if job.left:
        id = context.kept.of(Jobs).add(job)
        notes.append(
            f"{len(job.left)} of its processes still run, as {id}: see bash_output and bash_kill"
        )
    if job.ended_by.startswith("timed out"):
        notes.append("give it more with timeout_seconds, or run it with background=true")
    notes += _kept_notes(shell, job, failed=failed)
    if not job.left and found.exact and not spool.failed:
        spool.discard()
    elif not found.exact and spool.address not in found.text:
        notes.append(f"its exact bytes: {spool.address}")
    return ToolOutput(text=noted(text, notes), is_error=failed, brief=_brief(job, found.text))


def _kept_notes(shell: Shell, job: Job, *, failed: bool) -> list[str]:
    notes: list[str] = []
    if job.spool.failed:
        notes.append(
            f"its output could only be kept up to {job.spool.size:,} bytes: {job.spool.failed}"
        )
    if failed and shell.sandbox is not None:
        network = shell.confinement is not None and shell.confinement.network
        notes.append(
            "it ran confined: only the workspace can be written"
            + ("" if network else ", and there is no network")
        )
    return notes


async def _news(shell: Shell, context: ToolContext, job: Job) -> ToolOutput:
    """What a background command printed since it was looked at last, and how it stands."""
    await job.settle()
    return await anyio.to_thread.run_sync(_news_text, shell, context, job)


def _news_text(shell: Shell, context: ToolContext, job: Job) -> ToolOutput:
    spool = job.spool
    start, end = job.read, spool.size
    found = output(spool.path, spool.address, start=start, end=end, most_chars=shell.shown_chars)
    job.read = end
    state = job.ending
    if job.running:
        seconds = context.clock.monotonic() - job.began
        state = f"running for {seconds:,.0f} s"
    text = f"{job.id} ({job.command.splitlines()[0][:80]}): {state}"
    notes = _kept_notes(shell, job, failed=not job.running and job.process.returncode != 0)
    body = found.text or "[nothing new was printed]"
    return ToolOutput(text=noted(f"{text}\n{body}", notes), brief=f"{job.id}: {state}")


def _brief(job: Job, text: str) -> str:
    lines = [line.strip() for line in text[-2_000:].splitlines() if line.strip()]
    last = lines[-1] if lines else "no output"
    return f"{job.ending}: {last}" if job.process.returncode != 0 or job.ended_by else last


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 4 * _LINE_CHARS, 0))
        lines = file.read().decode("utf-8", "replace").split("\n")
    line = next((line for line in reversed(lines) if line.strip()), "")
    return line.rstrip("\r").rpartition("\r")[2].strip()[:_LINE_CHARS]
