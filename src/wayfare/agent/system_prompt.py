"""The system prompt, put together from sections in a fixed order, static ones first.

What never changes stands in front, so that the provider's cache keeps it: role and rules, guidance
on tools, facts of the workspace, instruction files, then what memory adds.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Final

from wayfare.settings.plain_file import read_plain

INSTRUCTION_FILES: Final = ("AGENTS.md", "CLAUDE.md")
INSTRUCTIONS_CHARS: Final = 40_000
"""Room for instruction files together: about 10,000 tokens, a twentieth of a common window."""
_LOOKED_AT: Final = 20_000
"""Entries of the workspace looked at for nested instruction files; more would hold up the start."""
_NESTED: Final = 40
_MOST_BYTES: Final = 1 << 20
"""Of one instruction file; far more than is shown."""
_HEAD_BYTES: Final = 1_024
_PASSED_OVER: Final = frozenset(
    {"node_modules", "vendor", "target", "build", "dist", "venv", "site-packages", "__pycache__"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """An instruction file: its path from the workspace, and its text (None: only listed)."""

    path: str
    text: str | None


def prompt_text(name: str) -> str:
    """A prompt that ships with wayfare, by the name of its file."""
    return (files("wayfare") / "prompts" / name).read_text("utf-8").strip()


def system_prompt(
    *,
    facts: str = "",
    instructions: Sequence[Instructions] = (),
    has_tools: bool = True,
    has_task_list: bool = True,
    role: str = "",
    extra: Sequence[str] = (),
) -> str:
    """The whole prompt.

    Args:
        facts: What is true of the workspace, from `workspace_facts`.
        instructions: From `find_instructions`.
        has_tools: Whether there are tools to give guidance on.
        has_task_list: Whether one of them keeps the task list.
        role: Stands in place of wayfare's own role and rules.
        extra: Sections that come last, such as the rules and the index of memory.
    """
    guidance = ["system_tools.md"] if has_tools else []
    guidance += ["system_tasks.md"] if has_tools and has_task_list else []
    sections = [
        role or prompt_text("system_role.md"),
        "\n".join(prompt_text(name) for name in guidance),
        facts,
        _instructions(instructions),
        *extra,
    ]
    return "\n\n".join(section.strip() for section in sections if section.strip())


def workspace_facts(workspace: Path, *, now: float) -> str:
    """What is true of the workspace when the session opens.

    Args:
        now: Unix seconds; only the day is said, so that the prompt stays the same within one.
    """
    lines = [
        "# Workspace",
        "",
        f"- Folder: {_name(workspace)}",
        f"- System: {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        f"- Today: {datetime.fromtimestamp(now, UTC).strftime('%Y-%m-%d')}",
    ]
    branch = _branch(workspace)
    if branch:
        lines.append(f"- git branch when the session opened: {branch}")
    return "\n".join(lines)


def _name(path: Path) -> str:
    """A path on one line: what is called otherwise must not add lines to the prompt."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _branch(workspace: Path) -> str:
    root = _repository(workspace)
    if root is None:
        return ""
    try:
        head = read_plain(root / ".git" / "HEAD", _HEAD_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    branch = head.removeprefix("ref: refs/heads/")[:100]
    return branch if branch.isprintable() else ""


def _repository(workspace: Path) -> Path | None:
    return next((p for p in (workspace, *workspace.parents) if (p / ".git").exists()), None)


def find_instructions(
    workspace: Path, *, most_chars: int = INSTRUCTIONS_CHARS
) -> tuple[Instructions, ...]:
    """The instruction files that hold for the workspace, outermost first, nested ones listed.

    Those of the workspace and of the folders above it, up to the repository's root, come with
    their text, up to `most_chars` together. A file that leads out of that root is left out.
    """
    root = _repository(workspace) or workspace
    above = [p for p in (*reversed(workspace.parents), workspace) if p.is_relative_to(root)]
    found: list[Instructions] = []
    seen: set[str] = set()
    for path in (folder / name for folder in above for name in INSTRUCTION_FILES):
        text = _text(path, root)
        if text is None or text in seen:
            continue
        seen.add(text)
        shown = text[:most_chars]
        most_chars -= len(shown)
        if len(shown) < len(text):
            shown += f"\n[… cut; all of it: {_from(path, workspace)}]"
        found.append(Instructions(path=_from(path, workspace), text=shown))
    found += [Instructions(path=_from(path, workspace), text=None) for path in _nested(workspace)]
    return tuple(found)


def _from(path: Path, workspace: Path) -> str:
    return os.path.relpath(path, workspace)


def _text(path: Path, root: Path) -> str | None:
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            return None
        return read_plain(path, _MOST_BYTES).decode("utf-8", "replace").strip() or None
    except OSError:
        return None


def _nested(workspace: Path) -> Iterator[Path]:
    looked_at = listed = 0
    for folder, folders, names in os.walk(workspace):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _PASSED_OVER)
        looked_at += len(names) + len(folders)
        if looked_at > _LOOKED_AT or listed >= _NESTED:
            return
        if Path(folder) == workspace:
            continue
        for name in INSTRUCTION_FILES:
            if name in names and os.path.relpath(folder, workspace).isprintable():
                listed += 1
                yield Path(folder, name)


def _instructions(found: Iterable[Instructions]) -> str:
    parts: list[str] = []
    listed: list[str] = []
    for one in found:
        if one.text is None:
            listed.append(f"- {one.path}")
        else:
            parts.append(f"## {one.path}\n\n{one.text}")
    if listed:
        parts.append(
            "## Deeper in the workspace\n\nRead before working there:\n" + "\n".join(listed)
        )
    if not parts:
        return ""
    lead = "# Instructions of the project\n\nThey hold where they do not contradict the request."
    return "\n\n".join([lead, *parts])
