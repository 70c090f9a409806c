"""Tools on a real folder: their context with an in-memory history, and a way to call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayfare.agent.builtin import Shell, builtin_tools
from wayfare.agent.ports import SubagentReport
from wayfare.agent.tools import ToolContext, ToolOutput, for_call
from wayfare.clock import MovableClock
from wayfare.events import ignore
from wayfare.session.opening import memory_transcript
from wayfare.transcript import Transcript


class Sight:
    """What the model still sees: what a test says; and the task list it wrote before."""

    def __init__(self) -> None:
        self.visible: set[str] = set()
        self.list: Sequence[Mapping[str, Any]] = ()

    def shows(self, call_id: str) -> bool:
        return call_id in self.visible

    def todos(self) -> Sequence[Mapping[str, Any]]:
        return self.list


class Reporting:
    """Sub-agents that answer with one report and remember what they were asked."""

    def __init__(self, report: SubagentReport) -> None:
        self.report = report
        self.asked: list[tuple[str, str, Sequence[str] | None]] = []

    async def run(
        self, task: str, *, description: str = "", tools: Sequence[str] | None = None
    ) -> SubagentReport:
        self.asked.append((task, description, tools))
        return self.report

    def running(self) -> Sequence[str]:
        return ()


class Workbench:
    """The tools in a workspace; calls are named c1, c2, …"""

    def __init__(self, workspace: Path, *, shell: Shell | None = None, result_chars: int = 40_000):
        self.workspace = workspace
        self.sight = Sight()
        self.transcript: Transcript = memory_transcript("s", clock=MovableClock(), watch=ignore)
        self.subagents = Reporting(SubagentReport(text="found it", steps=3))
        self.tools = builtin_tools(result_chars=result_chars, shell=shell or Shell(grace_seconds=1))
        self.progress: list[str] = []
        self.hidden: set[str] = set()
        self.calls = 0
        self.context = ToolContext(
            workspace=workspace,
            session="s",
            session_folder=workspace / ".transcripts/s",
            results_folder=workspace / ".task_outputs/tool-results/s",
            clock=MovableClock(),
            history=self.transcript,
            sight=self.sight,
            subagents=self.subagents,
        )

    async def call(
        self, name: str, *, judged: Mapping[str, str] | None = None, **given: Any
    ) -> ToolOutput:
        """Call a tool as the loop does, once it is allowed."""
        self.calls += 1
        tool = self.tools[name]
        context = for_call(
            self.context,
            f"c{self.calls}",
            self.progress.append,
            judged=judged or {},
            may_read=lambda path: path not in self.hidden,
        )
        return await tool.run(tool.parse(given), context)

    def write(self, path: str, content: str | bytes) -> Path:
        """A file of the workspace."""
        place = self.workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def results(self) -> list[Path]:
        """What tools kept among the results."""
        folder = self.context.results_folder
        return sorted(folder.iterdir()) if folder.exists() else []


def lines(numbers: Iterable[int]) -> str:
    """Lines that say their numbers."""
    return "".join(f"line {n}\n" for n in numbers)
