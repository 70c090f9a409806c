"""Restore: after a compaction the live state comes back from its sources, never through a summary.

Sources register themselves: whoever owns a piece of state (the task list, files on disk, running
commands) says what it is now. A source with nothing to say adds nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import anyio.to_thread

from wayfare.context.facts import Ledger
from wayfare.tokens import Meter

RECENT_FILES: Final = 5
FILE_TOKENS: Final = 5_000
FILES_TOKENS: Final = 50_000
_LARGEST_FILE_BYTES: Final = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a source is told: how much room there is, the session's facts, what still stands in
    the context and need not be said again."""

    room_tokens: int
    ledger: Ledger
    meter: Meter
    shown: str = ""


class Source(Protocol):
    """Says what one piece of live state is now."""

    async def __call__(self, wanted: Wanted, /) -> str:
        """Text under `wanted.room_tokens`, or nothing. Must not raise."""
        ...


@dataclass(slots=True)
class Restorer:
    """The registry of sources, in the order they are shown."""

    sources: dict[str, Source] = field(default_factory=dict[str, Source])

    def register(self, name: str, source: Source) -> None:
        """Add a source, in place of one of the same name."""
        self.sources[name] = source

    async def restored(
        self, *, room_tokens: int, ledger: Ledger, meter: Meter, shown: str = ""
    ) -> str:
        """What all sources say now, within so many tokens; empty when they say nothing.

        What finds no room is left out whole, a line says which.
        """
        parts: list[str] = []
        left_out: list[str] = []
        for name, source in self.sources.items():
            wanted = Wanted(room_tokens=room_tokens, ledger=ledger, meter=meter, shown=shown)
            text = (await source(wanted)).strip()
            if not text:
                continue
            taken = meter.text(text)
            if taken > room_tokens:
                left_out.append(name)
                continue
            room_tokens -= taken
            parts.append(text)
        if left_out:
            parts.append(f"(no room for: {', '.join(left_out)})")
        return "\n".join(["State as it is now:", *parts]) if parts else ""


Lines: TypeAlias = Callable[[], Sequence[str] | Awaitable[Sequence[str]]]


def lines_source(title: str, lines: Lines) -> Source:
    """A source of a few lines under a title: running commands, sub-agents, the permission mode."""

    async def say(wanted: Wanted, /) -> str:
        made = lines()
        found = list(made if isinstance(made, Sequence) else await made)
        if not found:
            return ""
        if len(found) == 1:
            return f"{title} {found[0]}"
        return "\n".join([title, *(f"- {line}" for line in found)])

    return say


def todo_source(todos: Callable[[], Iterable[Mapping[str, Any]]]) -> Source:
    """The task list as it stands."""

    async def say(wanted: Wanted, /) -> str:
        lines = [
            f"- [{todo.get('status', '?')}] {todo.get('content', todo.get('text', ''))}"
            for todo in todos()
        ]
        return "\n".join(["Task list:", *lines]) if lines else ""

    return say


class RecentFiles:
    """The files the session used last, as they are on disk now.

    Args:
        workspace: Only files inside of it are read, every link followed.
        open_to: Says whether a path may be shown, such as what permissions forbid to read.
    """

    def __init__(
        self, workspace: Path, *, open_to: Callable[[Path], bool] = lambda path: True
    ) -> None:
        self._workspace = workspace.resolve()
        self._open_to = open_to

    async def __call__(self, wanted: Wanted, /) -> str:
        """Up to five files, each whole within 5,000 tokens or as its beginning."""
        room = min(FILES_TOKENS, wanted.room_tokens)
        parts: list[str] = []
        for path in reversed(wanted.ledger.files):
            if len(parts) == RECENT_FILES:
                break
            text = await anyio.to_thread.run_sync(self._read, path)
            if text is None or text.strip() in wanted.shown:
                continue
            part = _file_part(path, text, wanted.meter, min(FILE_TOKENS, room))
            taken = wanted.meter.text(part)
            if not part or taken > room:
                continue
            room -= taken
            parts.append(part)
        return "\n".join(["Files used last, as they are on disk now:", *parts]) if parts else ""

    def _read(self, path: str) -> str | None:
        try:
            whole = (self._workspace / path).resolve()
            if not whole.is_relative_to(self._workspace) or not self._open_to(whole):
                return None
            if not whole.is_file() or whole.stat().st_size > _LARGEST_FILE_BYTES:
                return None
            content = whole.read_bytes()
        except (OSError, ValueError):
            return None
        if b"\x00" in content or not content.strip():
            return None
        return content.decode("utf-8", "replace")


def _file_part(path: str, text: str, meter: Meter, most_tokens: int) -> str:
    """A file with its path, cut at a line end where it is longer."""
    head = f'<file path="{path}">'
    whole = f"{head}\n{text.rstrip(chr(10))}\n</file>"
    if meter.text(whole) <= most_tokens:
        return whole
    lines = text.splitlines()
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if meter.text("\n".join(lines[:middle])) + 60 <= most_tokens:
            low = middle
        else:
            high = middle - 1
    if not low:
        return ""
    shown = "\n".join(lines[:low])
    rest = f"[… lines {low + 1} to {len(lines)}: read {path} from there]"
    return f"{head}\n{shown}\n{rest}\n</file>"
