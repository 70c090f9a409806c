"""Who holds something: one running process, told apart from a later one with the same number."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wayfare.json_text import UNREADABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMark:
    """A process as others can find it again.

    `started` is its start as the operating system counts it, empty where that cannot be asked.
    """

    pid: int
    host: str
    started: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def note(self, since: float | None = None) -> bytes:
        """What a lock's file says about its holder; `since` in unix seconds."""
        return msgspec.json.encode(
            {"pid": self.pid, "host": self.host, "started": self.started, "since": since}
        )


def this_process() -> ProcessMark:
    """The process that asks."""
    pid = os.getpid()
    return ProcessMark(pid=pid, host=socket.gethostname(), started=_state_and_start(pid)[1])


def read_note(note: bytes) -> tuple[str, str]:
    """Who holds a lock and since when, in words, as far as the note in its file tells."""
    try:
        told = msgspec.json.decode(note, type=dict[str, str | int | float | None])
        mark = ProcessMark(pid=int(told["pid"] or 0), host=str(told["host"]))
        since = datetime.fromtimestamp(float(told["since"] or ""), UTC)
        return str(mark), since.strftime(" since %Y-%m-%d %H:%M:%S UTC")
    except (KeyError, ValueError, TypeError, OverflowError, OSError, *UNREADABLE):
        return "another process", ""


def is_gone(mark: ProcessMark) -> bool:
    """Whether the process has surely ended; of another machine's processes nothing is known."""
    if mark.host != socket.gethostname():
        return False
    if mark.pid <= 0:
        return True
    state, started = _state_and_start(mark.pid)
    if state:
        return state in "ZX" or bool(mark.started and started != mark.started)
    if sys.platform == "win32":  # asking there with a signal would end the process
        return False
    try:
        os.kill(mark.pid, 0)
    except PermissionError:
        return False
    except (ProcessLookupError, OverflowError):
        return True
    return False


def _state_and_start(pid: int) -> tuple[str, str]:
    """The state letter and the start in clock ticks from `/proc`, empty where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    # The name in brackets may hold blanks and brackets; what follows the last one is fixed.
    fields = text.rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")
