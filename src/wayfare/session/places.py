"""Places: where a workspace keeps its sessions, and how an address of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

TRANSCRIPTS: Final = ".transcripts"
RESULTS: Final = ".task_outputs/tool-results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a workspace keeps its sessions; relative to its root.

    Args:
        workspace: The root every printed address is relative to.
        transcripts: Folder of the logs, one folder a session.
        results: Folder of the full tool results, one folder a session.
    """

    workspace: Path
    transcripts: str = TRANSCRIPTS
    results: str = RESULTS

    def log(self, session: str) -> Path:
        """The transcript of a session."""
        return self.workspace / self.transcripts / session / "transcript.jsonl"

    def folder(self, session: str) -> Path:
        """Where a session keeps its log and its notes."""
        return self.log(session).parent

    def results_of(self, session: str) -> Path:
        """Where the full tool results of a session stand."""
        return self.workspace / self.results / session

    def session_of(self, path: str) -> str:
        """The session that an address's path belongs to; empty for none of this workspace.

        The session of a sub-agent is `<session>/agents/<number>`.
        """
        parts = Path(path).parts
        for root in (Path(self.transcripts).parts, Path(self.results).parts):
            if parts[: len(root)] == root and len(parts) > len(root) + 1:
                return "/".join(parts[len(root) : -1])
        return ""


def session_names(places: Places) -> list[str]:
    """The sessions of a workspace, the one written last at the end."""
    root = places.workspace / places.transcripts
    logs = [log for log in root.glob("*/transcript.jsonl") if log.is_file()]
    return [log.parent.name for log in sorted(logs, key=lambda log: log.stat().st_mtime)]
