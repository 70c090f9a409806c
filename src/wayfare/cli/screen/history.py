"""What was typed before: a file of one JSON text a line, readable by its owner alone."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

from wayfare import json_text


def history_file() -> Path:
    """Where it is kept for this person on this machine."""
    import platformdirs

    return Path(platformdirs.user_state_dir("wayfare")) / "typed.jsonl"


class TypedHistory(History):
    """Recalls what was typed. A file that cannot be read or written is done without.

    Args:
        path: The file.
        most_lines: How many texts are kept; older ones go when it is read.
    """

    def __init__(self, path: Path, most_lines: int) -> None:
        super().__init__()
        self._path = path
        self._most_lines = most_lines

    def load_history_strings(self) -> Iterable[str]:
        """The newest first."""
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return
        if len(lines) > 2 * self._most_lines:
            lines = lines[-self._most_lines :]
            self._rewrite(lines)
        for line in reversed(lines[-self._most_lines :]):
            try:
                text = json_text.loads(line)
            except ValueError:
                continue  # a line cut by a crash
            if isinstance(text, str):
                yield text

    def store_string(self, string: str) -> None:
        """Keep one more."""
        line = json.dumps(string) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            handle = os.open(self._path, flags, 0o600)
            try:
                os.write(handle, line.encode("ascii"))
            finally:
                os.close(handle)
        except OSError:
            return

    def _rewrite(self, lines: list[str]) -> None:
        try:
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".typed-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path)
        except OSError:
            return
