"""What running a case left behind, for the checks to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class NotYet(Exception):
    """The runtime has no such operation yet; the case is listed, not failed."""


@dataclass(kw_only=True)
class Outcome:
    """What a case's operation came to. Fields an operation has nothing for stay empty."""

    root: Path
    format: str = "anthropic"
    input_messages: list[Any] = field(default_factory=list)
    request: list[dict[str, Any]] | None = None
    system: str = ""
    summary_requests: list[list[dict[str, Any]]] = field(default_factory=list)
    side_requests: list[str] = field(default_factory=list)
    summary: str = ""
    events: list[str] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    crash: str = ""
    outcome: str = "ok"
    reaction: str = ""
    limit_read: int | None = None
    wait_seconds: float | None = None
    estimates: dict[str, float] = field(default_factory=dict)
    read: Any = None
    """Reads the text behind an address, with the runtime's own reader."""
    entries: int = 0
    """Message entries of the session's log."""
    texts: dict[str, str] = field(default_factory=dict)
    """Named texts beside the files: index, manifest, recall, memory, memory_or_archive."""
    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    recalled: dict[str, list[str]] = field(default_factory=dict)
    gates: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0
    before: Mapping[str, bytes] = field(default_factory=dict)
    """Files before the operation, by path from the root."""
    variants: dict[str, Outcome] = field(default_factory=dict)
    processes: dict[str, Outcome] = field(default_factory=dict)
    again: Outcome | None = None
    """The same session opened a second time, where a case asks for that."""
    extra: dict[str, Any] = field(default_factory=dict)


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file under `root` that is no link, by path from there."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
