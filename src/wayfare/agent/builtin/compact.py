"""`compact`: the model asks for its context to be made smaller."""

from __future__ import annotations

from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ToolContext, ToolOutput


@tool(main_argument="focus")
def compact(focus: str = "", *, context: ToolContext) -> ToolOutput:
    """Ask for older parts of this conversation to be summed up, such as at the end of a stage.

    It happens once the results of this reply are in. The current request, the task list and the
    addresses of everything that leaves stay; nothing is lost.

    Args:
        focus: What matters for what comes next and must be in the summary.
    """
    context.compaction.ask(focus)
    return ToolOutput(
        text="The context will be compacted once the results of this reply are in; then go on.",
        brief="compaction asked for",
    )
