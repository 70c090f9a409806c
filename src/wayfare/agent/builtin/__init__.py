"""wayfare's own tools: shell, files, search, task list, sub-agents, history."""

from wayfare.agent.builtin.registry import builtin_tools, result_chars
from wayfare.agent.builtin.shell_settings import Shell

__all__ = ["Shell", "builtin_tools", "result_chars"]
