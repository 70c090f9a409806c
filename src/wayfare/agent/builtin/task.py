"""`task`: work handed to a sub-agent, which comes back with a report."""

from __future__ import annotations

from wayfare.agent.builtin.notes import noted
from wayfare.agent.tool_function import tool
from wayfare.agent.tools import ToolContext, ToolOutput, failure


@tool(main_argument="description", timeout_seconds=None)
async def task(
    task: str,
    description: str,
    tools: list[str] | None = None,
    *,
    context: ToolContext,
) -> ToolOutput:
    """Hand a task to a sub-agent with a context of its own; you get only its final report.

    For work that would fill your context and of which you need the outcome alone: searching far
    and wide, trying things out, reading much. It knows nothing of this conversation.

    Args:
        task: Everything it must know: what to do, where, what to report.
        description: The task in three to six words, for people.
        tools: Names of the tools it may use; all of yours when left out.
    """
    if not task.strip():
        return failure("task is empty: say what the sub-agent is to do and to report")
    report = await context.subagents.run(task, description=description, tools=tools)
    steps = f"{report.steps} step" + ("s" if report.steps != 1 else "")
    notes = [f"{steps}; its transcript: {report.transcript}" if report.transcript else steps]
    if report.ended != "done":
        notes.insert(0, f"it stopped before it was done: {report.ended}")
    text = report.text or "The sub-agent said nothing."
    return ToolOutput(
        text=noted(text, notes),
        is_error=report.ended != "done",
        brief=f"{description}: {report.ended}, {steps}",
    )
