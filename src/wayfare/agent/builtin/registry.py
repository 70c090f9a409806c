"""The default registry."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from wayfare.agent.builtin.bash import bash_tools
from wayfare.agent.builtin.compact import compact
from wayfare.agent.builtin.edit_file import edit_file
from wayfare.agent.builtin.glob import glob_tool
from wayfare.agent.builtin.grep import grep_tool
from wayfare.agent.builtin.read_file import read_file_tool
from wayfare.agent.builtin.search_history import search_history_tool
from wayfare.agent.builtin.shell_settings import Shell
from wayfare.agent.builtin.task import task
from wayfare.agent.builtin.todo_write import todo_write
from wayfare.agent.builtin.write_file import write_file
from wayfare.agent.registry import Registry
from wayfare.context.budget import Budget

RESULT_CHARS: Final = 40_000
"""The longest result unless the window asks for less: a page of some 800 lines of code, in the
default budget well under what is offloaded at once (50,000)."""
_SMALLEST_CHARS: Final = 1_000
_CHARS_A_TOKEN: Final = 2.0
"""Fewest characters a token that logs, the densest common text, have."""
_ROOM_SHARE: Final = 0.9
"""The rest is for the notes a tool adds."""


def builtin_tools(*, result_chars: int = RESULT_CHARS, shell: Shell | None = None) -> Registry:
    """wayfare's own tools, in the order the model sees them.

    Args:
        result_chars: No result is longer, about: files come in pages, output by its beginning and
            end, lists are cut and say so. See `result_chars` for what fits a budget.
        shell: Settings of the shell tools; None: the defaults, not confined.
    """
    shell = shell or Shell()
    if shell.shown_chars > result_chars:
        shell = replace(shell, shown_chars=result_chars)
    return Registry(
        (
            *bash_tools(shell),
            read_file_tool(result_chars),
            write_file,
            edit_file,
            glob_tool(result_chars),
            grep_tool(result_chars),
            todo_write,
            task,
            compact,
            search_history_tool(result_chars),
        )
    )


def result_chars(budget: Budget) -> int:
    """How long results may be so that a budget shows them whole: what is over its limit for a
    single result would stand in the context as a preview at once."""
    tokens = budget.window_tokens * min(budget.single_window_share, 0.1)
    most = min(budget.single_chars, tokens * _CHARS_A_TOKEN) * _ROOM_SHARE
    return max(min(RESULT_CHARS, int(most)), _SMALLEST_CHARS)
